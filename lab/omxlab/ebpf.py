# SPDX-License-Identifier: BSD-3-Clause
"""Compiles the lab's eBPF programs and attaches them by tc."""
import os
import shutil
import subprocess
import tempfile

from .errors import LabError, unable

LAB = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def is_real_root():
    """Returns whether this process is root of the machine, not only of a user namespace."""
    with open("/proc/self/uid_map", encoding="ascii") as uid_map:
        return uid_map.read().split() == ["0", "0", "4294967295"] and os.geteuid() == 0


def need_programs(what):
    for program, package in (("tc", "iproute2"), ("clang", "clang")):
        if shutil.which(program) is None:
            raise unable(f"{what} need the program {program}: install the package {package}")


def tc(*arguments):
    done = subprocess.run(["tc", *arguments], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        complaint = " ".join(done.stderr.split())
        raise LabError(f"tc {' '.join(arguments)} failed: {complaint}")
    return done.stdout


def compile_program(what, source, directory, defines):
    path = os.path.join(directory, "program.o")
    done = subprocess.run(
        ["clang", "-O2", "-g", "-target", "bpf", "-mcpu=v3", *[f"-D{name}={value}" for name, value in defines.items()],
         f"-I/usr/include/{os.uname().machine}-linux-gnu", "-c", os.path.join(LAB, source), "-o", path],
        capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return path
    if "bpf/bpf_" in done.stderr and "file not found" in done.stderr:
        raise unable(f"{what} need the header bpf/bpf_helpers.h: install the package libbpf-dev")
    first = (done.stderr.splitlines() or ["no message"])[0]
    raise LabError(f"clang could not compile {source}: {first}")


def attach(what, source, section, interface, place, defines=None):
    """Attaches a section of a program. `place` is what tc's filter calls follow their interface with.

    It is compiled into the host's own /dev/shm, so that nothing is written to the source tree.
    """
    if "clsact" not in tc("qdisc", "show", "dev", interface):
        tc("qdisc", "add", "dev", interface, "clsact")
    with tempfile.TemporaryDirectory(dir="/dev/shm") as directory:
        program = compile_program(what, source, directory, defines or {})
        tc("filter", "replace", "dev", interface, *place, "handle", "1", "bpf", "direct-action",
           "object-file", program, "section", section)
