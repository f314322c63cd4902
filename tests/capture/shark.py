# SPDX-License-Identifier: BSD-3-Clause
"""Runs tshark with the Open-MX dissector of this source tree."""
import os
import shutil
import struct
import subprocess
import sys
import tempfile

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", ".."))
DISSECTOR = os.path.join(ROOT, "tools", "wireshark", "open-mx.lua")
SKIP = 77


def skip_without_tshark():
    if not shutil.which("tshark"):
        print("skipped: tshark is missing; apt-get install tshark")
        sys.exit(SKIP)
    with tempfile.NamedTemporaryFile(suffix=".lua") as script:
        script.write(b"print('lua works')\n")
        script.flush()
        said = subprocess.run(["tshark", "-X", f"lua_script:{script.name}", "-G", "protocols"], capture_output=True, text=True)
    if "lua works" not in said.stdout + said.stderr:
        print("skipped: this tshark runs no Lua scripts")
        sys.exit(SKIP)


def tshark(path, *options, two_pass=True):
    """Returns what tshark prints about a capture. A message from Lua is an error."""
    with tempfile.TemporaryDirectory() as home:  # without the plugins of this user
        environment = dict(os.environ, HOME=home, XDG_CONFIG_HOME=home, LC_ALL="C.UTF-8")
        run = subprocess.run(["tshark", "-X", f"lua_script:{DISSECTOR}", "-r", path, "-n", *(["-2"] if two_pass else []), *options],
                             capture_output=True, text=True, errors="replace", env=environment)
    if run.returncode or "lua" in run.stderr.lower():
        raise AssertionError(f"tshark {' '.join(options)}: status {run.returncode}: {run.stderr}")
    return run.stdout


def fields(path, wanted, *names, two_pass=True):
    """Returns a list for each frame that passes the filter: for each field the list of its values."""
    options = ["-T", "fields", "-E", "occurrence=a", "-E", "aggregator=;"]
    for name in names:
        options += ["-e", name]
    lines = tshark(path, "-Y", wanted, *options, two_pass=two_pass).splitlines()
    return [[value.split(";") if value else [] for value in line.split("\t")] for line in lines]


def count(path, wanted):
    return len(tshark(path, "-Y", wanted, "-T", "fields", "-e", "frame.number").splitlines())


def pcap_write(path, frames):
    """Writes frames, or (bytes, length on the wire), as a classic pcap file of an Ethernet."""
    with open(path, "wb") as out:
        out.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262144, 1))
        for number, frame in enumerate(frames):
            data, size = frame if isinstance(frame, tuple) else (frame, len(frame))
            out.write(struct.pack("<IIII", number // 1000, number % 1000, len(data), max(size, len(data))) + data)


class Checks:
    """Counts comparisons, and prints those that failed."""

    def __init__(self):
        self.made, self.failed = 0, 0

    def that(self, what, truth, got=""):
        self.made += 1
        if truth:
            return
        self.failed += 1
        print(f"FAILED: {what}: {got}" if got != "" else f"FAILED: {what}")

    def equal(self, what, got, wanted):
        self.that(what, got == wanted, f"wanted {wanted}, got {got}")

    def finish(self):
        print(f"{self.made} checks, {self.failed} failed")
        sys.exit(1 if self.failed else 0)
