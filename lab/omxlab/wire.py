# SPDX-License-Identifier: BSD-3-Clause
"""A long and bad cable: a process that carries frames between two ports (see wire.c)."""
import ctypes
import fcntl
import os
import pathlib
import re
import shutil
import socket
import struct
import subprocess
import tempfile

from .errors import LabError, unable

SOURCE = pathlib.Path(__file__).resolve().parents[1] / "wire.c"
QUEUE_LEAST = 256 << 10
HELD_LEAST_NS = 20_000

SIOCETHTOOL = 0x8946
# ETHTOOL_SRXCSUM, STXCSUM, SSG, STSO, SGSO, SGRO are switched off. The cable carries frames as they are, so
# hosts make each frame themselves.
OFFLOADS = (0x15, 0x17, 0x19, 0x1f, 0x24, 0x2c)


def parse_scaled(text, units):
    found = re.fullmatch(r"([0-9.]+)([a-z]+)", text.lower())
    if not found or found[2] not in units:
        raise ValueError
    return round(float(found[1]) * units[found[2]])


def parse_time(text):
    """Returns "10us", "1ms" or "0.1s" in nanoseconds."""
    return parse_scaled(text, {"us": 1e3, "ms": 1e6, "s": 1e9})


def parse_rate(text):
    return parse_scaled(text, {"kbit": 1e3, "mbit": 1e6, "gbit": 1e9})


def parse_percent(text):
    if not 0 <= float(text) <= 100:
        raise ValueError
    return float(text)


parse_time.__name__ = "time (such as 10us, 1ms or 0.1s)"
parse_percent.__name__ = "percentage (0..100)"


def add_options(parser):
    parser.add_argument("--delay", type=parse_time, metavar="T",
                        help="time that frames take from one host to the other, such as 1ms: two hosts and a long cable")
    parser.add_argument("--loss", type=parse_percent, metavar="P", help="percent of all frames that such a cable loses")
    parser.add_argument("--reorder", type=parse_percent, metavar="P", help="percent of all frames that such a cable holds back ...")
    parser.add_argument("--held", type=parse_time, metavar="T",
                        help="... for up to this time (default: a fifth of the delay, at least 20us)")


def planned(options):
    """Returns the cable that the options describe, or None if the lab has none."""
    if options.delay is None and options.loss is None and options.reorder is None:
        return None
    delay = options.delay or 0
    try:
        rate = parse_rate(options.rate) if options.rate else 0
    except ValueError:
        raise LabError(f"a long cable cannot have the rate {options.rate}: give it in kbit, mbit or gbit") from None
    held = options.held if options.held is not None else max(delay // 5, HELD_LEAST_NS)
    return {"delay": delay, "loss": (options.loss or 0) / 100, "reorder": (options.reorder or 0) / 100, "held": held,
            "rate": rate, "queue": max(rate * 2 * delay // 8_000_000_000, QUEUE_LEAST)}


def compiled(directory):
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        raise unable("a long cable needs a C compiler: install the package gcc")
    program = os.path.join(directory, "wire")
    done = subprocess.run([compiler, "-O2", "-o", program, SOURCE], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise LabError(f"{compiler} could not compile {SOURCE}: {done.stderr.splitlines()[:1]}")
    return program


def carry(plan, ports, mtu, seed=1):
    """Starts the process, as a child of the caller, in its network namespace."""
    with tempfile.TemporaryDirectory() as directory:
        arguments = [*ports, mtu, plan["delay"], plan["rate"], plan["queue"], plan["loss"], plan["reorder"], plan["held"],
                     seed]
        process = subprocess.Popen([compiled(directory), *map(str, arguments)], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        ready = process.stdout.readline()
        process.stdout.close()
    if not ready:
        raise LabError("the process that carries frames over the long cable ended; are packet sockets allowed here?")


def offloads_end(interface):
    """Switches off offloads, so that frames leave as on a wire: no larger than the MTU, with their checksums."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as handle:
        for command in OFFLOADS:
            value = ctypes.create_string_buffer(struct.pack("II", command, 0))
            request = struct.pack("16sP16x", interface.encode(), ctypes.addressof(value))
            try:
                fcntl.ioctl(handle, SIOCETHTOOL, request)
            except OSError:
                pass  # the interface has no such offload
