# SPDX-License-Identifier: BSD-3-Clause
"""The extension block of CONNECT (docs/reference/wire.md 5)."""
from packets import crc32c

MAGIC = 0x4F4D5845
MARK, CHECKSUM, HEADER_EXT, SACK, PROBE, PACK, BULK, TAIL, UNSCHEDULED, SHARE, RAILS, AHEAD, PARK, SOURCE = (1 << bit for bit in range(14))
USES = 1 << 31


def parse(connect):
    """Returns the fields of the block behind a parsed CONNECT, or None if it has none."""
    data = connect.data
    if len(data) < 28 or int.from_bytes(data[0:4], "big") != MAGIC:
        return None
    size = data[5]
    fields = {"version": data[4], "size": size}
    for name, at, length in (("features", 6, 2), ("largest", 8, 4), ("window", 12, 2), ("pull_frames", 14, 1),
                             ("layout", 15, 1), ("generation", 16, 4), ("other_generation", 20, 4)):
        fields[name] = int.from_bytes(data[at:at + length], "big")
    fields["bulk"] = bytes(data[24:44]) if size >= 48 else b""
    end = 48 + size
    fields["crc_right"] = crc32c(connect.raw[12:end - 4]) == int.from_bytes(connect.raw[end - 4:end], "big")
    return fields


def append(frame, *, features, largest, layout, generation, other_generation, window=64, pull_frames=32):
    """Returns a CONNECT of 48 bytes or more with a block behind it."""
    head = bytearray(frame[:48])
    head[20] = 44
    body = bytes(head) + MAGIC.to_bytes(4, "big") + bytes([1, 28]) + features.to_bytes(2, "big")
    body += largest.to_bytes(4, "big") + window.to_bytes(2, "big") + bytes([pull_frames, layout])
    body += generation.to_bytes(4, "big") + other_generation.to_bytes(4, "big")
    return body + crc32c(body[12:]).to_bytes(4, "big")
