#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests that the compiled code of arm64 has a barrier between a mark and later stores.

Neither this machine nor an emulator on it reorders stores, so no test that runs here can show what arm64 may do
(base/store_ahead.h). The instructions can show it. The sources are compiled for arm64, and the functions that set a
mark must do so with a store and a `dmb` after it. A store-release alone (`stlr`), which later stores may pass, is
what the compiler makes of a seq_cst store. The first check shows that, and that this script can tell the two apart.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SKIP = 77
ROOT = pathlib.Path(__file__).resolve().parents[2]
COMPILER = "aarch64-linux-gnu-g++"
# Headers of libraries are the same for all processors. Those of the C library are not, so they come last.
FLAGS = ["-std=c++20", "-O2", "-DFMT_HEADER_ONLY", f"-I{ROOT}/src", f"-I{ROOT}/include", "-idirafter", "/usr/include"]

FORMER = """
#include <atomic>
void mark_set(std::atomic<unsigned long>& mark) { mark.store(0, std::memory_order_seq_cst); }
"""
PRESENT = """
#include "base/store_ahead.h"
void mark_set(std::atomic<unsigned long>& mark) { omx::store_ahead(mark, 0); }
"""


def assembly(source):
    """Returns the assembly text of a source file."""
    with tempfile.NamedTemporaryFile(suffix=".s") as out:
        subprocess.run([COMPILER, *FLAGS, "-S", str(source), "-o", out.name], check=True)
        return pathlib.Path(out.name).read_text()


def assembly_of_text(text):
    with tempfile.NamedTemporaryFile(suffix=".cc", mode="w") as source:
        source.write(text)
        source.flush()
        return assembly(source.name)


def instructions(text, name):
    """Returns the instructions of the function with this mangled name (a regular expression)."""
    lines = text.splitlines()
    starts = [i for i, line in enumerate(lines) if re.fullmatch(f"{name}:", line)]
    if len(starts) != 1:
        sys.exit(f"{name}: {len(starts)} functions of that name in the assembly; name the function that sets the mark now")
    body = []
    for line in lines[starts[0] + 1:]:
        if re.match(r"\s*\.size\b", line):
            break
        if re.match(r"\s+[a-z]", line):
            body.append(" ".join(line.split()))
    return body


def has_barrier(body, before=None):
    """Returns whether a store is followed at once by a full barrier, before any match of `before`."""
    for store, after in zip(body, body[1:]):
        if before and re.search(before, store):
            return False
        if re.match(r"(str|stp|stlr)\b", store) and re.match(r"dmb (ish|ishst|sy|st)\b", after):
            return True
    return False


def main():
    if not shutil.which(COMPILER):
        print(f"skipped: {COMPILER} is missing; as root: apt-get install g++-aarch64-linux-gnu")
        return SKIP
    name = r"_Z8mark_set\w+"
    checks = [
        ("a seq_cst store has none", not has_barrier(instructions(assembly_of_text(FORMER), name))),
        ("store_ahead() has one", has_barrier(instructions(assembly_of_text(PRESENT), name))),
        ("a region of memory ends with one",
         has_barrier(instructions(assembly(ROOT / "src/local/own_regions.cc"), "_ZN3omx5local10OwnRegions3endEt"))),
        ("the view of an endpoint has one ahead of its contents",
         has_barrier(instructions(assembly(ROOT / "src/runtime/endpoint/publication.cc"),
                                  "_ZN3omx7runtime11Publication4viewEv"), before=r"^bl .*Snapshot")),
    ]
    for what, good in checks:
        print(f"{'ok  ' if good else 'FAIL'} {what}")
    return 0 if all(good for _, good in checks) else 1


if __name__ == "__main__":
    sys.exit(main())
