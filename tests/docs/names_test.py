#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Source files that documents name in `backticks` exist, also where a document gives the name without its folder.

    names_test.py SOURCE_DIR

So a file that is renamed is renamed in the documents, too. The notebook, the changes and the specifications also name files that are
gone or were never ours, and are left out.
"""
import pathlib
import re
import sys

LEFT_OUT = ("docs/performance/notebook.md", "docs/spec/", "CHANGELOG.md")
NO_SOURCE = {"build", ".git", "__pycache__", "corpus"}
# Programs of readers and of other projects.
OF_OTHERS = {"first.c", "program.c", "ring.c", "runtests.py"}
NAME = re.compile(r"`((?:[\w-]+/)*[\w-]+(?:\.bpf)?\.(?:cc|h|c|py|lua))(?=[`: ,])")


def files(root):
    for path in root.iterdir():
        if path.name in NO_SOURCE or path.name.startswith("build"):
            continue
        if path.is_dir():
            yield from files(path)
        else:
            yield path


def main():
    root = pathlib.Path(sys.argv[1])
    known = [path.relative_to(root).as_posix() for path in files(root)]
    ends = {"/".join(name.split("/")[-depth:]) for name in known for depth in range(1, name.count("/") + 2)}
    named, missing = 0, []
    for document in sorted(name for name in known if name.endswith(".md") and not name.startswith(LEFT_OUT)):
        for number, line in enumerate((root / document).read_text(encoding="utf-8").splitlines(), 1):
            for match in NAME.finditer(line):
                named += 1
                if match[1] not in ends and match[1] not in OF_OTHERS and not match[1].startswith("share/"):
                    missing.append(f"{document}:{number}: there is no {match[1]}")
    print("\n".join(missing or [f"{named} names of source files, all of them there"]))
    return 1 if missing or not named else 0


sys.exit(main())
