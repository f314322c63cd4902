#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Rules that a compiler does not check: layering, banned calls, licence lines, file sizes, format.

Prints one line per violation and a closing 'N passed, N failed'.
"""
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]

# A layer may include itself and these (docs/architecture.md).
LAYERS = {
    "base": [],
    "wire": ["base"],
    "protocol": ["wire", "base"],
    "copy": ["base"],
    "link": ["wire", "base"],
    "local": ["protocol", "wire", "base"],
    "steering": ["link", "base"],
    "tuning": ["steering", "link", "base"],
    "runtime": ["local", "steering", "copy", "link", "protocol", "wire", "base"],
    "mx": ["runtime", "link", "protocol", "wire", "base"],
    "libfabric": ["runtime", "protocol", "base"],
    "simulation": ["protocol", "wire", "base"],
}
# The engine does no I/O, reads no clock and creates no thread; nobody uses these at all.
BANNED = {
    "protocol": r"\b(clock_gettime|gettimeofday|std::chrono|std::thread|pthread_create|sendmsg|recvmsg|s?printf)\b",
    "wire": r"\b(clock_gettime|gettimeofday|std::chrono|std::thread|pthread_create|malloc|new\s+\w)\b",
    "*": r"\b(rand|srand|usleep|strcpy|strcat|sprintf|gets)\s*\(",
}
MAX_LINES = 500


def sources(*folders):
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in (".h", ".cc", ".c", ".cpp") and "corpus" not in path.parts:
                yield path


def strip_comments(text):
    text = re.sub(r"//[^\n]*", "", text)
    text = re.sub(r'"(\\.|[^"\\\n])*"', '""', text)
    return re.sub(r"/\*.*?\*/", "", text, flags=re.S)


def layering():
    for path in sources("src"):
        layer = path.relative_to(ROOT / "src").parts[0]
        for match in re.finditer(r'#include "(\w+)/', path.read_text()):
            other = match.group(1)
            if other in LAYERS and other != layer and other not in LAYERS[layer]:
                yield f"{path.relative_to(ROOT)}: layer {layer} must not include {other}"


def banned_calls():
    for path in sources("src"):
        layer = path.relative_to(ROOT / "src").parts[0]
        text = strip_comments(path.read_text())
        for key in ("*", layer):
            found = re.search(BANNED[key], text) if key in BANNED else None
            if found:
                yield f"{path.relative_to(ROOT)}: {found.group(0)} is not for {layer}"


def licence():
    for path in sources("src", "include", "tools", "bench", "tests", "lab", "examples"):
        if "SPDX-License-Identifier: BSD-3-Clause" not in path.read_text()[:300]:
            yield f"{path.relative_to(ROOT)}: no SPDX licence line"


def file_size():
    for path in sources("src", "include", "tools", "bench", "tests", "lab", "examples"):
        lines = path.read_text().count("\n")
        if lines > MAX_LINES and path.parts[-2] != "include":
            yield f"{path.relative_to(ROOT)}: {lines} lines, split at {MAX_LINES}"


def unfinished():
    for path in sources("src", "include", "tools", "bench", "tests", "examples"):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if re.search(r"\b(TODO|FIXME|XXX)\b", line):
                yield f"{path.relative_to(ROOT)}:{number}: unfinished work"


def style():
    tool = shutil.which("clang-format")
    if not tool:
        yield "clang-format is missing: apt-get install clang-format"
        return
    files = [str(p) for p in sources("src", "include", "tools", "bench", "tests", "lab", "examples")]
    run = subprocess.run([tool, "--dry-run", "-Werror", *files], capture_output=True, text=True, cwd=ROOT)
    bad = sorted({line.split(":")[0] for line in run.stderr.splitlines() if "clang-format-violations" in line})
    for name in bad:
        yield f"{pathlib.Path(name).relative_to(ROOT)}: run clang-format -i"
    if run.returncode and not bad:
        yield run.stderr.strip()[:300]


def main():
    rules = [layering, banned_calls, licence, file_size, unfinished, style]
    failed = 0
    for rule in rules:
        problems = list(rule())
        failed += bool(problems)
        for problem in problems:
            print(f"{rule.__name__}: {problem}")
    print(f"{len(rules) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
