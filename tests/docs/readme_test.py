#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The first program of README.md compiles without warnings, and does on two hosts of the lab what README.md shows.

    readme_test.py SOURCE_DIR BUILD_DIR COMPILER

Also: README.md keeps to 120 lines of 100 columns. Exit status 77: this user or machine cannot have a lab.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

UNABLE = 77
LINES, COLUMNS = 120, 100


def fail(sentence):
    print(sentence)
    sys.exit(1)


def run(command, **options):
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120, **options)


def main():
    source, build, compiler = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]
    page = (source / "README.md").read_text(encoding="utf-8")
    lines = page.splitlines()
    if len(lines) > LINES:
        fail(f"README.md has {len(lines)} lines, more than {LINES}")
    for number, line in enumerate(lines, 1):
        if len(line) > COLUMNS and not line.startswith("|"):
            fail(f"README.md:{number}: {len(line)} columns, more than {COLUMNS}")
    shown = re.search(r"```c\n(.*?)```\n\n(.*?)\n\n", page, re.DOTALL)
    if not shown:
        fail("README.md shows no program in C with its output behind it")
    expected = sorted(line.strip() for line in shown[2].splitlines() if not line.strip().startswith("$"))
    if len(expected) != 2:
        fail(f"README.md shows {len(expected)} lines of output instead of one for each host: {expected}")
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "first.c").write_text(shown[1], encoding="utf-8")
        made = run([compiler, "-std=gnu99", "-Wall", "-Wextra", "-Werror", f"-I{source / 'include'}", str(folder / "first.c"), "-o",
                    str(folder / "first"), f"-L{build / 'lib'}", f"-Wl,-rpath,{build / 'lib'}", "-lmyriexpress"])
        if made.returncode:
            fail(f"the program of README.md does not compile:\n{made.stderr}")
        script = '$LAB exec h2 -- "$1" & $LAB exec h1 -- "$1" h2 && wait'
        done = run([str(source / "lab/lab"), "run", "--hosts", "2", "--", "sh", "-c", script, "sh", str(folder / "first")])
    if done.returncode == UNABLE:
        print(f"skipped: {done.stderr.strip()}")
        sys.exit(UNABLE)
    if done.returncode or sorted(done.stdout.splitlines()) != expected:
        fail(f"the program of README.md ended with status {done.returncode} and printed {done.stdout!r} instead of {expected}:\n{done.stderr}")
    print("the program of README.md printed what README.md shows")


main()
