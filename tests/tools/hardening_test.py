#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks with readelf that what is built has the protections of cmake/omx_harden.cmake.

  hardening_test.py BUILD_DIR BUILD_TYPE

Every program can be loaded anywhere. No section is both writable and executable, the tables of the linker are read-only
once a program runs, and functions with arrays check the end of their frame. Optimised code calls the checking forms of the C
library. Exits 77 where readelf is missing.
"""
import pathlib
import re
import shutil
import subprocess
import sys

PROGRAMS = ["tools/omx", "tools/broker/omxd"]
LIBRARIES = ["lib/libmyriexpress.so", "lib/libfabric/libomx-fi.so"]


def readelf(file, *options):
    return subprocess.run(["readelf", "--wide", *options, file], check=True, capture_output=True, text=True).stdout


def faults(file, program, fortified):
    header, segments, dynamic = readelf(file, "-h"), readelf(file, "-l"), readelf(file, "-d")
    symbols = readelf(file, "--dyn-syms")
    if not re.search(r"Type:\s+DYN", header):
        yield "its place in memory is fixed (not PIE)"
    if program and not re.search(r"\(FLAGS_1\).*\bPIE\b", dynamic):
        yield "it is not marked as PIE"
    if "GNU_RELRO" not in segments:
        yield "the tables of the linker stay writable (no RELRO)"
    if not re.search(r"BIND_NOW|\(FLAGS_1\).*\bNOW\b", dynamic):
        yield "functions are looked up while it runs (no BIND_NOW)"
    for line in segments.splitlines():
        if re.search(r"\b(LOAD|GNU_STACK)\b.*\bRWE\b", line):
            yield f"memory is writable and executable: {line.split()[0]}"
    if "(TEXTREL)" in dynamic:
        yield "code is changed when it is loaded (TEXTREL)"
    if "__stack_chk_fail" not in symbols:
        yield "no function checks the end of its frame (no stack protector)"
    # Calls whose size the compiler knows become the ordinary ones. A program has some others.
    if fortified and not re.search(r"\b__\w+_chk@", symbols.replace("__stack_chk_fail", "")):
        yield "no call of the C library is checked (no FORTIFY_SOURCE)"


def main():
    build, kind = pathlib.Path(sys.argv[1]), sys.argv[2]
    if not shutil.which("readelf"):
        print("skipped: readelf is missing: apt-get install binutils")
        return 77
    passed = failed = 0
    files = [name for name in PROGRAMS + LIBRARIES if (build / name).exists()]
    if not files:
        print(f"skipped: nothing is built in {build}")
        return 77
    for name in files:
        found = list(faults(build / name, name in PROGRAMS, kind in ("Release", "RelWithDebInfo", "MinSizeRel")))
        for fault in found:
            print(f"{name}: {fault}")
        passed, failed = passed + (not found), failed + bool(found)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
