#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks that the sources still have every sentence that docs/reference/errors.md names.

A sentence stands in the first column of a table whose head is "sentence", with … for what differs.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "reference" / "errors.md"
LEAST = 6  # characters of a fragment that is long enough to be searched for


def sentences():
    listed = False
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if line.startswith("| sentence |"):
            listed = True
        elif not line.startswith("|"):
            listed = False
        row = re.match(r"\| `([^`]+)` \|", line)
        if listed and row:
            yield row[1]


def said():
    """Yields the texts of the sources. Adjacent literals are one text."""
    for path in sorted((ROOT / "src").rglob("*")):
        if path.suffix in (".h", ".cc"):
            text = path.read_text(encoding="utf-8")
            for literals in re.findall(r'"(?:\\.|[^"\\\n])*"(?:\s*"(?:\\.|[^"\\\n])*")*', text):
                yield "".join(re.findall(r'"((?:\\.|[^"\\\n])*)"', literals)).replace('\\"', '"')


def main():
    texts, wrong, count = "\n".join(said()), 0, 0
    for sentence in sentences():
        count += 1
        for fragment in (part.strip(" ;:,") for part in sentence.split("…")):
            if len(fragment) >= LEAST and fragment not in texts:
                print(f"{PAGE.name}: no source says \"{fragment}\"")
                wrong += 1
    if not count:
        print(f"{PAGE.name} has no sentences")
    return 1 if wrong or not count else 0


if __name__ == "__main__":
    sys.exit(main())
