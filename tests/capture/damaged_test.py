#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests the dissector on wrong frames: it says what is wrong with them and never fails itself."""
import os
import random
import struct
import sys
import tempfile

sys.dont_write_bytecode = True

import shark  # noqa: E402  (beside this file)

A, B = bytes.fromhex("0060dd47c475"), bytes.fromhex("001b21aabbcc")
HEAD = B + A + b"\x86\xdf\x00\x00"
MATCH = bytes.fromhex("1234567887654321")
SESSION = b"\x0b\xad\xca\xfe"
CHECKSUM, EXTENSION = 2, 4  # bits of the flags byte
SEED = 11
check = shark.Checks()


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def message(kind, flags, length, more=b"", match=MATCH):
    return HEAD + bytes([kind, 0, 3, flags]) + length + struct.pack(">HH", 2, 1) + match + SESSION + more


def connect(length=44, magic=b"OMXE", features=0xBF, largest=9014, eager=64, size=28):
    frame = HEAD + bytes([36, 0, 3, 0, length, 0, 0, 0]) + struct.pack(">HH", 0, 1) + bytes(4)
    frame += b"\x5a\x17\xc0\xde\x12\x34\x56\x78" + struct.pack(">HBBBxxx", 1, 0, 0, 0)
    frame += magic + struct.pack(">BBHIHBBII", 1, size, features, largest, eager, 32, 1, 9, 0)
    return frame + struct.pack(">I", crc32c(frame[12:]))


def checked(frame):
    return frame + struct.pack(">I", crc32c(frame[12:]))


SHORT = struct.pack(">HH", 5, 0)
GOOD = {
    "RAW": HEAD + b"\1" + bytes(15) + bytes(2) + A + b"\x2b\x9a\x11\xc3" + bytes(20),
    "HOST_QUERY": HEAD + bytes([3, 0, 0, 1]) + bytes(4) + b"\x13\x05\x20\x08" + bytes(4),
    "HOST_REPLY": HEAD + bytes([4, 8, 0, 7]) + bytes(4) + b"\x13\x05\x20\x08" + bytes(4) + b"node2:0\0",
    "CONNECT": connect(),
    "TINY": message(37, 0, SHORT, b"hello"),
    "SMALL": checked(message(38, CHECKSUM | EXTENSION, struct.pack(">HH", 40, 0), b"\1\1" + bytes(14) + b"s" * 40)),
    "MEDIUM mxoe": message(39, 0, struct.pack(">HH", 10000, 0), struct.pack(">HBBHH", 1808, 2, 12, 0, 0) + b"m" * 1808),
    "MEDIUM omx": message(39, 0, struct.pack(">I", 100000), struct.pack(">HBBHH", 1000, 7, 0, 0, 1000) + b"m" * 1000),
    "RNDV": message(40, 0, struct.pack(">HH", 12, 0), struct.pack(">IBBH", 100000, 0, 23, 0) + b"tail"),
    "PULL mxoe": HEAD + bytes([41, 3, 0, 0]) + SESSION + struct.pack(">IBBHIIHHI", 100000, 0, 23, 0, 0x23, 0x21071980, 0, 32768, 8),
    "PULL omx": HEAD + bytes([41, 3, 0, 0]) + SESSION
                + struct.pack(">IIBxHIIIIII", 100000, 0, 23, 8968, 0, 0x24, 0x21071980, 0, 50000, 0),
    "PULL_REPLY": A + B + HEAD[12:] + bytes([42, 0]) + struct.pack(">HIII", 500, 0, 0x24, 0x21071980) + b"r" * 500,
    "NOTIFY": HEAD + bytes([43, 3, 0, 0]) + SESSION + struct.pack(">IBBxxxxHHxx", 100000, 0, 23, 1, 5),
    "TRUC": HEAD + bytes([35, 0, 3, 0, 48, 0, 0, 0]) + SESSION + struct.pack(">BxH", 0x55, 9) + SESSION
            + struct.pack(">IHxx", 1, 9) + b"\x05" + bytes(31),
    "NACK_LIB": HEAD + bytes([44, 0, 0, 3]) + bytes(5) + b"\3" + struct.pack(">HHxx", 1, 2),
    "NACK_MCP": HEAD + bytes([45, 0, 0, 4]) + bytes(4) + struct.pack(">II", 0x24, 0x21071980),
    "PROBE": HEAD + bytes([64, 0, 3, 0]) + SESSION + struct.pack(">III", 100, 77, 0) + bytes(64),
    "PACK": message(65, 0, struct.pack(">HH", 12 + 3 + 28 + 2, 0), MATCH + b"\0\3\0\0abc" + MATCH + b"\0\2\4\0" + bytes(16) + b"de",
                    bytes(8)),
}


def packets(*frames):
    """Returns a PACK of these frames."""
    records = b"".join(bytes(8) + struct.pack(">H", len(frame) - 14) + b"\x08\0" + frame[14:] for frame in frames)
    return message(65, 0, struct.pack(">HH", len(records), 0), records, bytes(8))


GOOD["PACK of packets"] = packets(GOOD["NOTIFY"], GOOD["TRUC"], GOOD["RNDV"])

# Wrong frames, and what the dissector says about each.
WRONG = [
    (HEAD[:14] + b"\0", "the frame ends before its packet type"),
    (message(37, 0, struct.pack(">HH", 33, 0), bytes(40)), "a TINY holds at most 32 bytes, not 33"),
    (message(38, 0, struct.pack(">HH", 129, 0), bytes(140)), "a SMALL holds at most 128 bytes, not 129"),
    (message(38, 0, struct.pack(">HH", 100, 0), bytes(40)), "it announces 140 bytes, and the frame has 80"),
    (message(39, 0, struct.pack(">I", 100000), struct.pack(">HBBHH", 999, 7, 0, 0, 1000) + bytes(999)), "fragment 7 of 999 bytes is not"),
    (message(39, 0, struct.pack(">I", 100000), struct.pack(">HBBHH", 0, 0, 0, 0, 0)), "an empty fragment"),
    (message(39, 0, struct.pack(">I", 10), struct.pack(">HBBHH", 11, 0, 0, 0, 0) + bytes(11)), "longer than its message"),
    (message(40, 0, struct.pack(">HH", 7, 0), bytes(20)), "the length of a RNDV is at least 8"),
    (GOOD["PULL omx"][:59], "a PULL of this layout has 60 bytes, this frame 59"),
    (HEAD + bytes([42, 0]) + bytes(42), "an empty PULL_REPLY"),
    (GOOD["TRUC"][:20] + b"\x0f" + GOOD["TRUC"][21:], "the length of a TRUC is at least 16"),
    (GOOD["TRUC"][:28] + b"\x56" + GOOD["TRUC"][29:], "its data are no acknowledgement"),
    (GOOD["TRUC"][:32] + b"\0" + GOOD["TRUC"][33:], "it names two sessions"),
    (connect(length=15), "the length of a CONNECT is at least 16"),
    (connect()[:70] + b"\xff" + connect()[71:], "the CRC of the extension block is wrong"),
    (connect(magic=b"OMXD"), "its extension block is damaged"),
    (connect(length=43), "its extension block is damaged"),
    (connect(size=27), "an extension block of 27 bytes"),
    (connect(largest=187), "sizes in the extension block that make no sense"),
    (connect(eager=0), "sizes in the extension block that make no sense"),
    (connect(features=64), "announces a bulk path and has no room"),
    (connect(features=1024), "announces rails and has no room"),
    (GOOD["HOST_REPLY"][:17] + b"\0" + GOOD["HOST_REPLY"][18:], "a name has 1 to 80 bytes"),
    (GOOD["HOST_REPLY"][:-1] + b"x", "the name has no NUL at its end"),
    (GOOD["PROBE"][:24] + struct.pack(">I", 59) + GOOD["PROBE"][28:], "the size of a PROBE is 60 to 65549"),
    (GOOD["PROBE"][:-1], "a PROBE of 100 bytes was cut to 99 on its way"),
    (message(65, 0, struct.pack(">HH", 11, 0), bytes(20), bytes(8)), "a PACK holds at least one record"),
    (message(65, 0, struct.pack(">HH", 14, 0), MATCH + b"\0\3\0\0abc", bytes(8)), "record 1 reaches beyond"),
    (message(65, 0, struct.pack(">HH", 160, 0), MATCH + b"\0\x81\0\0" + bytes(200), bytes(8)), "a record holds at most 128 bytes"),
    (message(65, 0, struct.pack(">HH", 20, 0), MATCH + b"\0\3\0\0abc" + bytes(9), bytes(8)), "5 bytes that are no record"),
    (packets(GOOD["NOTIFY"], GOOD["TINY"]), "packet 2 is none that may be in a PACK"),
    (packets(GOOD["NOTIFY"], packets(GOOD["NOTIFY"])), "packet 2 is none that may be in a PACK"),
    (packets(GOOD["NOTIFY"][:30]), "a packet has at least 18 bytes, not 16"),
    (packets(GOOD["NOTIFY"][:34]), "has at least 40 bytes"),
    (packets(GOOD["NOTIFY"] + bytes(231)), "a record holds at most 256 bytes, not 257"),
    (message(65, 0, struct.pack(">HH", 27 + 12, 0), MATCH + b"\0\3\0\0abc" + bytes(8) + b"\0\x20\x08\0" + bytes(12), bytes(8)), "messages and packets"),
    (GOOD["SMALL"][:-6] + b"x" + GOOD["SMALL"][-5:], "Wrong checksum"),
    (HEAD + bytes([66]) + bytes(50), "An unknown type"),
    (HEAD + bytes([32]) + bytes(50), "A type that is reserved and never sent"),
]


def by_udp(frame):
    udp = struct.pack(">HHHH", 27200, 27201, 8 + len(frame), 0) + frame
    ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), 1, 0, 64, 17, 0, b"\x0a\x4d\0\1", b"\x0a\x4d\0\2")
    return B + A + b"\x08\0" + ip + udp


def verbose(folder, name, frames):
    """Returns what tshark prints about each frame."""
    path = os.path.join(folder, name)
    shark.pcap_write(path, frames)
    for two_pass in (True, False):
        text = shark.tshark(path, "-V", two_pass=two_pass)
        complaints = sorted({line.strip() for line in text.splitlines() if "Lua Error" in line})
        check.equal(f"{name}: errors of the dissector itself", complaints, [])
    parts = text.split("\nFrame ")
    check.equal(f"{name}: frames", len(parts), len(frames))
    return parts


def look_at_good(folder):
    for wrap in (bytes, by_udp):
        for name, part in zip(GOOD, verbose(folder, "good", [wrap(frame) for frame in GOOD.values()])):
            check.that(f"{name} is well-formed", "Malformed" not in part and "Wrong checksum" not in part, part)
            check.that(f"{name} is named", f"Packet type: {name.split()[0]} (" in part, part)


def look_at_wrong(folder):
    parts = verbose(folder, "wrong", [frame for frame, _ in WRONG])
    for (_, wanted), part in zip(WRONG, parts):
        check.that(f"it says \"{wanted}\"", wanted in part, part)


def look_at_values(folder):
    path = os.path.join(folder, "values")
    shark.pcap_write(path, list(GOOD.values()))

    def shown(wanted, *names):
        rows = shark.fields(path, wanted, *names)
        return rows[0] if len(rows) == 1 else rows

    check.equal("match information", shown("omx.type == 37", "omx.match", "omx.seq", "omx.ack"), [["0x1234567887654321"], ["2"], ["1"]])
    check.equal("MEDIUM mxoe", shown("omx.type == 39 && omx.layout == 0", "omx.length", "omx.medium.offset"), [["10000"], ["8192"]])
    check.equal("MEDIUM omx", shown("omx.type == 39 && omx.layout == 1", "omx.length", "omx.medium.offset"), [["100000"], ["7000"]])
    check.equal("PULL", shown("omx.type == 41 && omx.layout == 0", "omx.pull.block_length", "omx.pull.frame_index"), [["32768"], ["8"]])
    check.equal("SMALL", shown("omx.type == 38", "omx.checksum.status", "omx.header_ext.class"), [["1"], ["1"]])
    check.equal("TRUC", shown("omx.type == 35 && omx.type != 65", "omx.truc.early"), [["10", "12"]])
    check.equal("PACK", shown("omx.pack.count", "omx.pack.count", "omx.data"), [["2"], ["616263", "6465"]])
    check.equal("PACK of packets", shown("omx.pack.packets", "omx.pack.packets", "omx.type", "omx.rndv.length", "omx.notify.total_length"),
                [["3"], ["65", "43", "35", "40"], ["100000"], ["100000"]])
    check.equal("PULL_REPLY", shown("omx.type == 42", "omx.magic.endpoint", "omx.pull_in"), [["0"], ["11"]])
    check.equal("CONNECT", shown("omx.type == 36", "omx.ext.max_frame", "omx.ext.features.bulk"), [["9014"], ["0"]])
    check.equal("HOST_REPLY", shown("omx.type == 4", "omx.host.name", "omx.request_in"), [["node2:0"], []])


def look_at_garbage(folder):
    """Tries every length, cut by the wire or by the capture, changed bytes, and noise. The seed is fixed."""
    draw = random.Random(SEED)
    cut = []
    for frame in GOOD.values():
        for length in range(14, min(len(frame), 120)):
            cut += [frame[:length], (frame[:length], len(frame)), by_udp(frame[:length]), (by_udp(frame)[:length + 42], len(frame) + 42)]
    verbose(folder, "cut", cut)
    changed = []
    for _ in range(6000):
        frame = bytearray(draw.choice(list(GOOD.values())))
        for _ in range(draw.randint(1, 4)):
            frame[draw.randrange(14, min(len(frame), 80))] = draw.randrange(256)
        frame = bytes(frame[:draw.randrange(17, len(frame) + 1)]) if draw.random() < 0.2 else bytes(frame)
        changed.append(by_udp(frame) if draw.random() < 0.2 else frame)
    for kind in range(256):
        changed.append(HEAD + bytes([kind]) + draw.randbytes(draw.randrange(100)))
    verbose(folder, "changed", changed)


def main():
    shark.skip_without_tshark()
    with tempfile.TemporaryDirectory() as folder:
        look_at_good(folder)
        look_at_wrong(folder)
        look_at_values(folder)
        look_at_garbage(folder)
    check.finish()


if __name__ == "__main__":
    main()
