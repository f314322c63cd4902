#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""reach.py BUILD FILE...: prints what a change of these files can reach: programs to build and tests to run.

Two lines name the programs and the tests of the folders of tests that mirror the changed files, two more lines those of the rest.
ninja and ctest know the answer. What no build has compiled yet counts by its source alone.
"""
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
# A change of one of these can reach everything.
EVERYTHING = (".cmake", "CMakeLists.txt", "CMakePresets.json")
# Programs and libraries that tests find by their folder.
FOUND_BY_FOLDER = ("tools/omx", "lib/libmyriexpress.so", "lib/libfabric/libomx-fi.so", "tests/soak/omx_soak", "tests/soak/omx_mesh")


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def steps_of(build):
    """Returns for each object, library and program of the build what it is made of, without what only has to be there before."""
    result = {}
    for line in (pathlib.Path(build) / "build.ninja").read_text().splitlines():
        if line.startswith("build ") and ("_LINKER__" in line or "_COMPILER__" in line):
            made, _, rest = line[6:].partition(": ")
            result[made.split(" ")[0]] = rest.split(" || ")[0].replace("|", " ").split()[1:]
    return result


def objects_that_read(build, steps, changed):
    """Returns the objects whose compilation reads a changed file."""
    result = {name for name, parts in steps.items() if any(os.path.realpath(os.path.join(build, part)) in changed for part in parts)}
    current = None
    for line in output("ninja", "-C", build, "-t", "deps").splitlines():
        if line and not line.startswith((" ", "ninja:")):
            current = line.split(":")[0]
        elif line.strip() and os.path.realpath(os.path.join(build, line.strip())) in changed:
            result.add(current)
    return result


def reached_programs(build, steps, changed):
    """Returns the programs and libraries that hold code of the changed files."""
    known = dict.fromkeys(objects_that_read(build, steps, changed), True)

    def holds(name):
        if name not in known:
            known[name] = False  # until the parts are known: nothing is part of itself
            known[name] = any([holds(part) for part in steps.get(name, [])])
        return known[name]

    return {name for name, parts in steps.items() if holds(name) and not name.endswith((".o", ".gch"))}


def tests(build):
    for test in json.loads(output("ctest", "--test-dir", build, "--show-only=json-v1"))["tests"]:
        properties = {p["name"]: p["value"] for p in test.get("properties", [])}
        if "command" in test and "long" not in properties.get("LABELS", []):
            words = test["command"] + [value.partition("=")[2] for value in properties.get("ENVIRONMENT", [])]
            yield test["name"], words, properties.get("WORKING_DIRECTORY", "")


def nearness(folder, changed):
    """Returns whether a folder of tests is the mirror of a changed file, or holds it."""
    mirrors = [os.path.dirname(name).removeprefix("src/").removeprefix("tests/") + "/" for name in changed]
    own = folder.partition("/tests/")[2] + "/"
    return any(own.startswith(mirror) or mirror.startswith(own) for mirror in mirrors if own != "/" and mirror != "/")


def reached(build, changed):
    """Returns the programs and libraries, and the tests as (name, whether it is near, programs that it starts)."""
    files = {os.path.realpath(ROOT / name) for name in changed}
    everything = any(name.endswith(EVERYTHING) for name in changed)
    steps = steps_of(build)
    built = set(steps) if everything else reached_programs(build, steps, files)
    found = {os.path.join(build, name) for name in built}
    by_folder = {os.path.join(build, name) for name in FOUND_BY_FOLDER} & found
    scripts = {os.path.dirname(name) for name in files if name.startswith(tuple(f"{ROOT}/{top}/" for top in ("tests", "lab", "bench")))}
    chosen = []
    for name, words, folder in tests(build):
        paths = {os.path.realpath(word) for word in words if word.startswith("/")}
        if (everything or paths & found or paths & files or name.startswith("lint") or
                any(program.startswith(path + "/") for path in paths for program in by_folder) or
                any(os.path.dirname(path) in scripts for path in paths if not path.startswith(build + "/"))):
            chosen.append((name, nearness(folder, changed), {os.path.relpath(path, build) for path in paths & found}))
    return {name for name in built if not name.endswith((".o", ".gch", ".a"))}, chosen


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__.splitlines()[0])
    built, chosen = reached(os.path.realpath(sys.argv[1]), sys.argv[2:])
    near = set().union(*(programs for _, is_near, programs in chosen if is_near))
    for wanted, programs in ((True, near), (False, built - near)):
        print(" ".join(sorted(programs)))
        print(" ".join(name for name, is_near, _ in chosen if is_near == wanted))


if __name__ == "__main__":
    main()
