# SPDX-License-Identifier: BSD-3-Clause
"""Builds what a benchmark needs before it measures, or says what is missing."""
import os
import re
import shutil
import subprocess
import sys

from bench_run import DEFAULT_BUILD, ROOT, UNABLE, MeasurementFailed, end_with_parent, lab_needed

BUILD = os.path.join(ROOT, "tools", "setup", "build")
PROVIDER = "lib/libfabric/libomx-fi.so"
# Targets that a build leaves out if packages are missing.
OPTIONAL = {
    "omx-fi": "the libfabric provider, for which libfabric-dev is missing: apt-get install libfabric-dev",
    "omx_floor_xdp": "AF_XDP, for which packages are missing: apt-get install clang bpftool libbpf-dev libxdp-dev",
}


def add_options(parser):
    parser.add_argument("--build", default=DEFAULT_BUILD, metavar="DIR",
                        help="folder in which the programs are built or found (default: build/release)")
    parser.add_argument("--prepare", action="store_true", help="measure nothing: only build what is needed, and say what is missing")


def tools_needed(packages):
    """Fails if a program is missing. `packages` is {program: Debian package}."""
    missing = [program for program in packages if not shutil.which(program)]
    if missing:
        wanted = " ".join(sorted({packages[program] for program in missing}))
        raise MeasurementFailed(f"{', '.join(missing)} is missing: apt-get install {wanted}", UNABLE)


def target_of(path):
    name = os.path.basename(path)
    return re.sub(r"^lib(.*)\.so$", r"\1", name)


def targets_in(folder):
    """Returns the names of all targets, or none if the folder cannot be used for a build."""
    shown = subprocess.run(["cmake", "--build", folder, "--target", "help"], capture_output=True, text=True, check=False)
    return set(re.findall(r"^(?:\.\.\. )?([\w.-]+)(?=:| |$)", shown.stdout, re.MULTILINE)) if shown.returncode == 0 else set()


def absent_targets(folder, targets):
    """Returns the targets that this build lacks. Configures it again first, because packages may have been installed since."""
    if set(targets) <= targets_in(folder):
        return []
    subprocess.run(["cmake", folder], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    known = targets_in(folder)
    return [target for target in targets if target not in known]


def run_build(folder, targets, *options):
    """Builds targets. Progress goes to stderr, because figures go to stdout."""
    done = subprocess.run([BUILD, *options, folder, *targets], stdin=subprocess.DEVNULL, stdout=sys.stderr, check=False, preexec_fn=end_with_parent)
    if done.returncode:
        raise MeasurementFailed("the programs to measure could not be built, for the reason above")


def built(build, programs, lab=True, optional=(), preset="release"):
    """Builds all programs. Returns {name: absolute path} for {name: path below the build}. Those in `optional` may be missing.

    Everything that can be missing is reported here, before anything is measured: the lab if one is needed, a compiler, a
    build folder, packages."""
    folder = os.path.realpath(build)
    paths = {name: os.path.join(folder, path) for name, path in programs.items()}
    if lab:
        lab_needed()
    configured = os.path.exists(os.path.join(folder, "CMakeCache.txt"))
    if configured and os.access(folder, os.W_OK) or not configured and folder == os.path.join(ROOT, "build", preset):
        return built_in(folder, configured, paths, optional, preset)
    paths = {name: path for name, path in paths.items() if name not in optional or os.access(path, os.X_OK)}
    missing = [path for path in paths.values() if not os.access(path, os.X_OK)]
    if missing and configured:
        raise MeasurementFailed(f"{missing[0]} is missing, and this user cannot build it there: name another folder with --build")
    if missing:
        raise MeasurementFailed(f"{folder} holds no build of Open-MX: name another with --build, or make one: cmake --preset release -B {folder}")
    return paths


def built_in(folder, configured, paths, optional, preset):
    tools_needed({"cmake": "cmake"})
    if not configured:
        tools_needed({"c++": "g++", "ninja": "ninja-build"})
        run_build(folder, ["help"], "--preset", preset)
    absent = absent_targets(folder, [target_of(path) for path in paths.values()])
    paths = {name: path for name, path in paths.items() if name not in optional or target_of(path) not in absent}
    for path in paths.values():
        if target_of(path) in absent:
            raise lacks(folder, target_of(path))
    run_build(folder, sorted(map(target_of, paths.values())))
    return paths


def lacks(folder, target):
    if target in OPTIONAL:
        return MeasurementFailed(f"{folder} lacks {OPTIONAL[target]}", UNABLE)
    return MeasurementFailed(f"{folder} was configured without {target}: cmake -DOMX_BENCH=ON {folder}")
