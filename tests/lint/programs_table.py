#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks that every test in the table of docs/reference/mx-programs.md exists, and that every point has a test.

  programs_table.py CTEST BUILD_DIR

A test is written `NAME`, or `NAME / CASE, CASE`. The name is one of ctest's. The cases are those of its program
(GoogleTest) or of the conformance peer.
"""
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
TABLE = ROOT / "docs" / "reference" / "mx-programs.md"
POINTS = [str(number) for number in range(1, 29)] + ["ABI"]


def tests_of(ctest, build):
    listing = subprocess.run([ctest, "--test-dir", build, "--show-only=json-v1"], check=True, capture_output=True, text=True)
    return {test["name"]: test.get("command", []) for test in json.loads(listing.stdout)["tests"]}


def gtest_cases(program):
    listing = subprocess.run([program, "--gtest_list_tests"], check=True, capture_output=True, text=True).stdout
    cases, suite = set(), ""
    for line in listing.splitlines():
        name = line.split("#")[0].rstrip()
        if name.startswith("  "):
            # An instance of a parameterised case counts as the case.
            cases.add(suite + name.strip().split("/")[0])
        elif name.endswith("."):
            suite = name
    return cases


def conformance_cases():
    text = "".join(path.read_text() for path in (ROOT / "tests" / "conformance").glob("cases_*.py"))
    return set(re.findall(r"@case\(.*\)\ndef (\w+)\(", text))


def problems(ctest, build):
    tests, known, found = tests_of(ctest, build), {}, {}
    for line in TABLE.read_text().splitlines():
        row = re.fullmatch(r"\| (\w+) \| (.+) \| (.+) \|", line)
        if not row or row.group(1) == "point":
            continue
        point = row.group(1)
        if point in found:
            yield f"point {point} has two lines"
        found[point] = re.findall(r"`([^`]+)`", row.group(3))
        for entry in found[point]:
            name, _, cases = (part.strip() for part in entry.partition("/"))
            if name not in tests:
                yield f"point {point}: ctest knows no {name}"
                continue
            if cases and name not in known:
                conformance = name.startswith("conformance_")
                known[name] = conformance_cases() if conformance else gtest_cases(tests[name][0])
            for case in filter(None, (case.strip() for case in cases.split(","))):
                if case not in known[name]:
                    yield f"point {point}: {name} has no case {case}"
    for point in POINTS:
        if not found.get(point):
            yield f"point {point} has no test"
    for point in found.keys() - set(POINTS):
        yield f"there is no point {point}"


def main():
    wrong = list(problems(*sys.argv[1:3]))
    for line in wrong:
        print(f"{TABLE.relative_to(ROOT)}: {line}")
    print(f"{len(POINTS)} points looked up, {len(wrong)} mistakes")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
