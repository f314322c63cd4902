#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""docs/reference/mx-api.md has every public function once, names the file where it really is, and tests that there are and that
really call it.

    api_table_test.py SOURCE_DIR BUILD_DIR CTEST
"""
import pathlib
import re
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from public_api import public_functions  # noqa: E402

SOURCE, BUILD, CTEST = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]


def rows():
    """(functions, files, tests) of each line of a table."""
    for line in (SOURCE / "docs/reference/mx-api.md").read_text().splitlines():
        cells = line.split(" | ")
        if line.startswith("| `") and len(cells) == 4:
            yield [re.findall(r"`([^`]+)`", cells[i]) for i in (0, 2, 3)]


def file_of(name):
    folder = "include" if name.endswith(".h") else "src/mx"
    return SOURCE / folder / name


def test_text(test):
    """The source of a test, with what all programs share."""
    if test.startswith("mx_program_"):
        folder, name = SOURCE / "tests/mx_programs", test.replace("program_", "", 1) + ".c"
        shared = (folder / "pair.c").read_text()
    else:
        folder, name, shared = SOURCE / "tests/mx", test.replace("mx_", "", 1) + ".cc", ""
    return (folder / name).read_text() + shared if (folder / name).exists() else None


def mentions(text, name):
    return re.search(rf"\b{name}\b", text) is not None


def problems():
    public, seen = public_functions(SOURCE), []
    registered = set(re.findall(r": (mx_\w+)$", subprocess.run([CTEST, "-N"], cwd=BUILD, check=True, capture_output=True,
                                                              text=True).stdout, re.M))
    for functions, files, tests in rows():
        seen += functions
        yield from (f"there is no file {f}" for f in files if not file_of(f).exists())
        yield from (f"there is no test {t}" for t in tests if t not in registered or test_text(t) is None)
        places = [file_of(f).read_text() for f in files if file_of(f).exists()]
        texts = [test_text(t) or "" for t in tests]
        yield from (f"{f} is not in {', '.join(files)}" for f in functions if not any(mentions(p, f) for p in places))
        yield from (f"{f} is not used by {', '.join(tests)}" for f in functions if not any(mentions(t, f) for t in texts))
    yield from (f"{name} has no row" for name in sorted(public - set(seen)))
    yield from (f"{name} is in no header" for name in sorted(set(seen) - public))
    yield from (f"{name} has two rows" for name in sorted({n for n in seen if seen.count(n) > 1}))


def main():
    found = list(problems())
    for problem in found:
        print(problem)
    print(f"{len(public_functions(SOURCE))} functions: {'wrong' if found else 'right'}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
