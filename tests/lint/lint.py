#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks rules that a compiler does not check: layering, banned calls, licence lines, file sizes, references to
documents, format.

Prints one line for each violation and a closing 'N passed, N failed'.
"""
import pathlib
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from prose import prose  # noqa: E402
from references import references  # noqa: E402
from sources import EVERYWHERE, ROOT, name, plain, sources  # noqa: E402
import structure  # noqa: E402

# A layer may include itself and these (docs/explanation/architecture.md).
LAYERS = {
    "base": [],
    "wire": ["base"],
    "protocol": ["wire", "base"],
    "copy": ["base"],
    "netdev": ["wire", "base"],
    "link": ["netdev", "wire", "base"],
    "broker": ["link", "netdev", "wire", "base"],
    "local": ["protocol", "wire", "base"],
    "steering": ["netdev", "base"],
    "tuning": ["steering", "netdev", "base"],
    "config": ["steering", "copy", "netdev", "protocol", "base"],
    "runtime": ["broker", "config", "local", "steering", "copy", "link", "netdev", "protocol", "wire", "base"],
    "mx": ["runtime", "config", "link", "netdev", "protocol", "wire", "base"],
    "libfabric": ["runtime", "config", "netdev", "protocol", "base"],
    "simulation": ["protocol", "wire", "base"],
}
# In a layer with folders, a folder may include itself and those before it. "" stands for files beside the
# folders, which may include and be included where it is not listed.
FLOORS = {
    "protocol": ["state", "actions", "events"],
    "link": ["", "packet", "fanout", "udp", "xdp", "ethernet"],
    "runtime": ["", "wait", "board", "endpoint", "report", "process"],
    "simulation": ["engine", "fabric", "nic"],
    "steering": ["xdp", ""],
}
# The engine does no I/O, reads no clock and creates no thread. No layer may use the calls at "*".
BANNED = {
    "protocol": r"\b(clock_gettime|gettimeofday|std::chrono|std::thread|pthread_create|sendmsg|recvmsg|s?printf)\b",
    "wire": r"\b(clock_gettime|gettimeofday|std::chrono|std::thread|pthread_create|malloc|new\s+\w)\b",
    "*": r"\b(rand|srand|usleep|strcpy|strcat|sprintf|gets)\s*\(",
}
MAX_LINES = 500
FORMAT_VERSION = 14  # of Debian 12. Later ones want some lines otherwise.


def folder_of(layer, folders):
    return folders[0] if folders and folders[0] in FLOORS.get(layer, []) else ""


def layering():
    """Checks that includes go from upper layers to lower ones, and from upper folders of a layer to lower ones."""
    for path in sources("src"):
        layer, *own = path.relative_to(ROOT / "src").parts[:-1]
        floors = FLOORS.get(layer, [""])
        for match in re.finditer(r'#include "(\w+)/([\w/]*/)?[\w.]+"', path.read_text()):
            other = match.group(1)
            if other not in LAYERS:
                continue
            if other != layer:
                if other not in LAYERS[layer]:
                    yield f"{name(path)}: layer {layer} must not include {other}"
                continue
            below, above = folder_of(layer, own), folder_of(layer, (match.group(2) or "").split("/"))
            if {below, above} <= set(floors) and floors.index(above) > floors.index(below):
                yield f"{name(path)}: {layer}/{below} must not include {layer}/{above}"


def banned_calls():
    for path in sources("src"):
        layer = path.relative_to(ROOT / "src").parts[0]
        text = plain(path.read_text())
        for key in ("*", layer):
            found = re.search(BANNED[key], text) if key in BANNED else None
            if found:
                yield f"{name(path)}: {found.group(0)} is not for {layer}"
    for path in sources("tests"):
        # A failed fork() gives -1, and kill(-1) ends every process of the machine.
        if path.name != "signal_child.h" and re.search(r"(?<!\w)::kill\((?!::getpid)", plain(path.read_text())):
            yield f"{name(path)}: ::kill() is not for tests: use tests/support/signal_child.h"


def licence():
    for path in sources(*EVERYWHERE):
        if "SPDX-License-Identifier: BSD-3-Clause" not in path.read_text()[:300]:
            yield f"{name(path)}: no SPDX licence line"


def file_size():
    for path in sources(*EVERYWHERE):
        lines = path.read_text().count("\n")
        if lines > MAX_LINES and path.parts[-2] != "include":
            yield f"{name(path)}: {lines} lines, split at {MAX_LINES}"


def unfinished():
    for path in sources("src", "include", "tools", "bench", "tests", "examples"):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if re.search(r"\b(TODO|FIXME|XXX)\b", line):
                yield f"{name(path)}:{number}: unfinished work"


def style():
    tool = shutil.which("clang-format")
    if not tool:
        yield "clang-format is missing: apt-get install clang-format"
        return
    version = subprocess.run([tool, "--version"], capture_output=True, text=True, check=True).stdout
    if f"version {FORMAT_VERSION}." not in version:
        print(f"style: not looked at, because it is that of clang-format {FORMAT_VERSION}, and this is: {version.strip()}")
        return
    files = [str(p) for p in sources(*EVERYWHERE)]
    run = subprocess.run([tool, "--dry-run", "-Werror", *files], capture_output=True, text=True, cwd=ROOT)
    bad = sorted({line.split(":")[0] for line in run.stderr.splitlines() if "clang-format-violations" in line})
    for file in bad:
        yield f"{name(pathlib.Path(file))}: run clang-format -i"
    if run.returncode and not bad:
        yield run.stderr.strip()[:300]


def main():
    rules = [layering, banned_calls, licence, file_size, unfinished, prose, references, *structure.RULES, style]
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
