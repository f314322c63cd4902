#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests bench/... --prepare: every benchmark finds or builds what it needs, or says at once what is missing and
which file of results it cannot write.

  bench_prepare_test.py BUILD_DIR
"""
import os
import subprocess
import sys
import tempfile

BENCH = os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "..", "bench")
USAGE, UNABLE = 2, 77
# Options beside --prepare, which avoid builds that would take minutes.
OPTIONS = {"offload": ["--no-prediction"]}


def commands():
    for name in sorted(os.listdir(BENCH)):
        path = os.path.join(BENCH, name)
        if os.path.isfile(path) and os.access(path, os.X_OK):
            yield path, OPTIONS.get(name, [])


def prepared(path, build, options):
    """Returns why preparing failed; "" if it did not. Prints what the benchmark lacks."""
    done = subprocess.run([path, "--prepare", "--build", build, *options], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    said = done.stderr.strip().splitlines()
    name = os.path.basename(path)
    print(f"{name}: status {done.returncode}", *said, sep="\n  ")
    if done.stdout:
        return f"{name} --prepare printed figures: {done.stdout}"
    if done.returncode == 0:
        return ""
    if done.returncode == UNABLE and said and said[-1].startswith(f"{name}: "):
        return ""
    return f"{name} --prepare: status {done.returncode}"


def unwritable(path, options):
    """Returns what a benchmark does wrong with results that it cannot write; "" if it refuses them or writes none."""
    if "--json FILE" not in subprocess.run([path, *options, "--help"], capture_output=True, text=True, check=True).stdout:
        return ""
    done = subprocess.run([path, *options, "--json", "/nonexistent/x.json"], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    refused = "argument --json: there is no folder /nonexistent: make it, or name another" in done.stderr.strip().splitlines()[-1]
    return "" if done.returncode == USAGE and refused else f"{path}: status {done.returncode} although --json cannot be written: {done.stderr}"


def main():
    build = sys.argv[1]
    with tempfile.TemporaryDirectory() as output:
        runs = [*commands(), (os.path.join(BENCH, "papers"), ["--live", "--quick", "--output", output])]
        failures = [why for path, options in runs if (why := prepared(path, build, options) or unwritable(path, options))]
    print(*failures, sep="\n")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
