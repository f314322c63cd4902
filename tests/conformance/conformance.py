#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""An independent peer. It speaks MXoE as its specification says, shares no code with the library, and checks every
byte.

  conformance.py --subject PROGRAM --mode mxoe|omx [--mtu N] [--extended [--checksum]] [--case NAME...]

Starts two hosts of a lab. The library runs on one (subject.c), and the other is a raw socket. Each rule is a line of
the output. Exit status 77 if there can be no lab.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve()
LAB = HERE.parents[2] / "lab" / "lab"
SUBJECT_MAC = bytes.fromhex("024f4d580002")  # of h2
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE.parent))

# pylint: disable=wrong-import-position,unused-import
import cases_block  # noqa: E402,F401
import cases_connect  # noqa: E402,F401
import cases_eager_in  # noqa: E402,F401
import cases_eager_out  # noqa: E402,F401
import cases_host  # noqa: E402,F401
import cases_large_in  # noqa: E402,F401
import cases_large_out  # noqa: E402,F401
from cases import CASES  # noqa: E402
from packets import Mode  # noqa: E402
from peer import Missing, Peer  # noqa: E402
from rules import KNOWN_OMX, Rules  # noqa: E402
from subject import Subject  # noqa: E402

KEY = 0x1234


def run_case(options, name, function, rules):
    """Runs one case against a subject of its own, so that an error of one case does not hide another."""
    environment = {"OMX_WIRE_MODE": options.library or options.mode, "OMX_CHECKSUM": "1" if options.checksum else "0", "OMX_LINK": "ethernet", "OMX_HOSTNAME": "h2", "OMX_DISCOVERY_MS": "8000",
                   "OMX_LOCAL": "0", "OMX_ENDPOINTS_MAX": "32", "OMX_CLOSE_LINGER_MS": "100"}
    begin = time.monotonic()
    subject = Subject(str(LAB), "h2", options.subject, environment)
    peer = Peer(Mode(options.mode, options.mtu), rules, subject, SUBJECT_MAC, options.extended, options.checksum)
    peer.library_layout = 1 if (options.library or options.mode) == "omx" else 0
    rules.subject = name
    try:
        if (line := peer.told(30)) != "ready":
            raise Missing(f"the subject says: {line}")
        opened = peer.ask(f"open 0 {KEY}")
        rules.check("subject.opens", "-", "the subject's NIC", f"opened {int.from_bytes(SUBJECT_MAC, 'big'):x}", opened)
        function(peer)
        rules.check("case.comes_to_its_end", "-", name, True, True)
        peer.tell("end")
    except (Missing, RuntimeError, BrokenPipeError) as problem:
        rules.check("case.comes_to_its_end", "-", name, "its end", str(problem))
    status = subject.end()
    rules.check("subject.ends_well", "-", "exit status", 0, status)
    peer.socket.close()
    print(f"case  {name}: {time.monotonic() - begin:.1f} s", flush=True)


def inside(options):
    rules = Rules(KNOWN_OMX if (options.library or options.mode) == "omx" else {})
    mode = Mode(options.mode, options.mtu)
    probe = argparse.Namespace(mode=mode, extended=options.extended, checksum=options.checksum)
    for name, function, only in CASES:
        if only(probe) and (not options.case or name in options.case):
            run_case(options, name, function, rules)
    return 0 if rules.report() else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--subject", required=True)
    parser.add_argument("--mode", choices=("mxoe", "omx"), required=True)
    parser.add_argument("--mtu", type=int, default=9000)
    parser.add_argument("--extended", action="store_true", help="the peer has our extension block")
    parser.add_argument("--checksum", action="store_true", help="both sides ask for checksums")
    parser.add_argument("--library", choices=("mxoe", "omx"), help="the library's mode, if it differs from the peer's")
    parser.add_argument("--case", action="append", help="only this one")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        return inside(options)
    if os.geteuid():
        print("SKIP: raw frames between hosts of a lab need root")
        return 77
    again = [sys.executable, "-B", str(HERE), "--inside", *sys.argv[1:]]
    return subprocess.run([str(LAB), "run", "--mtu", str(options.mtu), "--no-ip", "--", "sh", "-c",
                           'exec "$LAB" exec h1 -- "$@"', "sh", *again], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
