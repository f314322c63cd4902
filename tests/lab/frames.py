#!/usr/bin/python3 -ES
# SPDX-License-Identifier: BSD-3-Clause
"""Sends and receives numbered raw frames. Runs inside a lab's host.

  frames.py send COUNT [--size S] [--type N] [--ethertype E] [--to MAC] [--bypass]
  frames.py receive [--ethertype E]     until its standard input is closed

receive prints "ready", then one JSON object: how many frames arrived, how many were damaged, how many were repeats,
and the numbers of frames that never arrived whole.
"""
import argparse
import json
import select
import socket
import struct
import sys

SOL_PACKET = 263
PACKET_STATISTICS = 6
PACKET_QDISC_BYPASS = 20
SO_RCVBUFFORCE = 33
HEADER = 28  # Ethernet 14, two bytes, type at 16, three bytes, number at 20 and inverted at 24


def frame_body(number, kind, size):
    head = struct.pack(">HBBHII", 0, kind, 0, 0, number, number ^ 0xFFFFFFFF)
    filler = bytes((number + i) & 0xFF for i in range(64))
    rest = size - 14 - len(head)
    return head + (filler * (rest // 64 + 1))[:rest]


def send(options):
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0) as link:
        link.bind(("eth0", 0))
        if options.bypass:
            link.setsockopt(SOL_PACKET, PACKET_QDISC_BYPASS, 1)
        to = bytes.fromhex(options.to.replace(":", ""))
        head = to + link.getsockname()[4] + struct.pack(">H", options.ethertype)
        for number in range(options.count):
            link.send(head + frame_body(number, options.type, options.size))


def receive(options):
    arrived = damaged = repeats = 0
    whole = set()
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0) as link:
        # Room for all frames of a test, in case this process does not get a core.
        try:
            link.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 256 << 20)
        except PermissionError:  # not root: as much as the system's limit allows
            link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 256 << 20)
        link.bind(("eth0", options.ethertype))
        print("ready", flush=True)
        open_input = [sys.stdin]
        while True:
            # When the sender is done, a short silence marks the end.
            ready = select.select([link] + open_input, [], [], None if open_input else 0.2)[0]
            if sys.stdin in ready:
                open_input = []
            if link in ready:
                frame = link.recv(70000)
                arrived += 1
                intact, number = check(frame, link.getsockname()[4], options.ethertype)
                damaged += not intact
                repeats += intact and number in whole
                if intact:
                    whole.add(number)
            elif not ready and not open_input:
                break
        _, overrun = struct.unpack("II", link.getsockopt(SOL_PACKET, PACKET_STATISTICS, 8))
    print(json.dumps({"arrived": arrived, "damaged": damaged, "repeats": repeats,
                      "overrun": overrun, "whole": sorted(whole)}))


def check(frame, own_mac, ethertype):
    """Returns whether each byte is as sent, as far as a receiver can know, and the number."""
    if len(frame) < HEADER:
        return False, None
    kind, = struct.unpack_from("B", frame, 16)
    number, = struct.unpack_from(">I", frame, 20)
    intact = (frame[0:6] in (own_mac, b"\xff" * 6)
              and frame[6:11] == own_mac[:5] and frame[11] in (1, 2, 3)
              and frame[12:14] == struct.pack(">H", ethertype)
              and kind in range(4)
              and frame[14:] == frame_body(number, kind, len(frame)))
    return intact, number


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("role", choices=("send", "receive"))
    parser.add_argument("count", type=int, nargs="?", default=0)
    parser.add_argument("--size", type=int, default=64)
    parser.add_argument("--type", type=int, default=1)
    parser.add_argument("--ethertype", type=lambda text: int(text, 0), default=0x86DF)
    parser.add_argument("--to", default="ff:ff:ff:ff:ff:ff")
    parser.add_argument("--bypass", action="store_true")
    options = parser.parse_args()
    send(options) if options.role == "send" else receive(options)


if __name__ == "__main__":
    main()
