# SPDX-License-Identifier: BSD-3-Clause
"""Packets as the specification of MXoE lays them out (its sections in [ ]), and our own of docs/reference/wire.md.

A layout names every byte of a header. A byte without a name is a pad, which must be zero.
"""
import collections

ETHERTYPE = 0x86DF
UNKNOWN_INDEX = 0xFFFF
MAGIC = 0x21071980
RAW, HOST_QUERY, HOST_REPLY = 1, 3, 4
TRUC, CONNECT, TINY, SMALL, MEDIUM, RNDV, PULL, PULL_REPLY, NOTIFY, NACK_LIB, NACK_MCP = range(35, 46)
PROBE, PACK = 64, 65
NAMES = {RAW: "RAW", HOST_QUERY: "HOST_QUERY", HOST_REPLY: "HOST_REPLY", TRUC: "TRUC", CONNECT: "CONNECT",
         TINY: "TINY", SMALL: "SMALL", MEDIUM: "MEDIUM", RNDV: "RNDV", PULL: "PULL", PULL_REPLY: "PULL_REPLY",
         NOTIFY: "NOTIFY", NACK_LIB: "NACK_LIB", NACK_MCP: "NACK_MCP", PROBE: "PROBE", PACK: "PACK"}
NUMBERED = (TINY, SMALL, MEDIUM, RNDV, NOTIFY)

# Each field: name, offset in the frame (F), bytes.
HEAD = [("peer_index", 14, 2), ("type", 16, 1)]
PORTS = HEAD + [("dst_endpoint", 17, 1), ("src_endpoint", 18, 1)]
MESSAGE = PORTS + [("length", 20, 2), ("checksum", 22, 2), ("seq", 24, 2), ("ack", 26, 2), ("match", 28, 8),
                   ("session", 36, 4)]

Layout = collections.namedtuple("Layout", "size fields section")
COMMON = {
    RAW: Layout(17, HEAD, "4.13"),
    HOST_QUERY: Layout(32, [("type", 16, 1), ("index", 18, 2), ("magic", 24, 4)], "4.12"),
    HOST_REPLY: Layout(32, [("type", 16, 1), ("length", 17, 1), ("index", 18, 2), ("magic", 24, 4)], "4.12"),
    CONNECT: Layout(48, PORTS + [
        ("length", 20, 1), ("seq", 24, 2), ("index", 26, 2), ("session", 32, 4), ("key", 36, 4), ("start", 40, 2),
        ("is_reply", 42, 1), ("connect_seq", 43, 1), ("status", 44, 1)], "4.1"),
    TINY: Layout(40, MESSAGE, "4.2"),
    SMALL: Layout(40, MESSAGE, "4.2"),
    RNDV: Layout(48, MESSAGE + [
        ("msg_length", 40, 4), ("region", 44, 1), ("region_seq", 45, 1), ("region_offset", 46, 2)], "4.4"),
    PULL_REPLY: Layout(32, [
        ("source", 14, 1), ("type", 16, 1), ("frame_seq", 17, 1), ("length", 18, 2), ("offset", 20, 4), ("handle", 24, 4),
        ("magic", 28, 4)], "4.6"),
    NOTIFY: Layout(40, PORTS + [
        ("session", 20, 4), ("total", 24, 4), ("region", 28, 1), ("region_seq", 29, 1), ("seq", 34, 2),
        ("ack", 36, 2)], "4.7"),
    TRUC: Layout(44, PORTS + [
        ("length", 20, 1), ("session", 24, 4), ("data_type", 28, 1), ("seq", 30, 2), ("session_id", 32, 4),
        ("acknum", 36, 4), ("send_seq", 40, 2), ("resent", 42, 1)], "4.8"),
    NACK_LIB: Layout(32, HEAD + [
        ("src_endpoint", 17, 1), ("code", 19, 1), ("dst_endpoint", 25, 1), ("index", 26, 2), ("seq", 28, 2)], "4.9"),
    NACK_MCP: Layout(32, HEAD + [
        ("src_endpoint", 17, 1), ("code", 19, 1), ("refusing", 20, 1), ("handle", 24, 4),
        ("magic", 28, 4)], "4.10"),
    PROBE: Layout(48, PORTS + [
        ("session", 20, 4), ("size", 24, 4), ("cookie", 28, 4), ("answer", 32, 1)], "docs/reference/wire.md 10"),
    PACK: Layout(40, PORTS + [
        ("length", 20, 2), ("seq", 24, 2), ("ack", 26, 2), ("session", 36, 4)], "docs/reference/wire.md 14"),
}
MEDIUM_TAIL = [("seq", 24, 2), ("ack", 26, 2), ("match", 28, 8), ("session", 36, 4), ("frag_length", 40, 2),
               ("frag", 42, 1)]
WIRE = dict(COMMON)  # compatible with MX: mode mxoe
WIRE[MEDIUM] = Layout(48, PORTS + [("length", 20, 2)] + MEDIUM_TAIL + [("pipeline", 43, 1), ("checksum", 44, 2)], "4.3")
WIRE[PULL] = Layout(48, PORTS + [
    ("session", 20, 4), ("total", 24, 4), ("region", 28, 1), ("region_seq", 29, 1), ("region_offset", 30, 2),
    ("handle", 32, 4), ("magic", 36, 4), ("first_offset", 40, 2), ("block", 42, 2), ("frame", 44, 4)], "4.5")
NATIVE = dict(COMMON)  # mode omx
NATIVE[MEDIUM] = Layout(48, PORTS + [("length", 20, 4)] + MEDIUM_TAIL + [("checksum", 44, 2), ("unit", 46, 2)], "4.3")
NATIVE[PULL] = Layout(60, PORTS + [
    ("session", 20, 4), ("total", 24, 4), ("region", 28, 4), ("region_seq", 32, 1), ("reply_size", 34, 2),
    ("region_offset", 36, 4), ("handle", 40, 4), ("magic", 44, 4), ("first_offset", 48, 4), ("block", 52, 4),
    ("frame", 56, 4)], "4.5")


class Mode:
    """A layout with the sizes that follow from it [5]."""

    def __init__(self, name, mtu):
        self.name, self.mtu, self.wire = name, mtu, name == "mxoe"
        self.layouts = WIRE if self.wire else NATIVE
        if self.wire:
            self.reply_max, self.block_frames, self.frag_max, self.frags_max = 4096, 8, 4096, 8
            self.frame_max = 4144
        else:
            self.reply_max, self.block_frames, self.frags_max = mtu - 32, 32, 32
            self.frag_max = mtu - 48 if mtu - 48 <= 4096 else 8192 if mtu >= 8240 else 4096
            self.frame_max = mtu

    @property
    def medium_max(self):
        return self.frag_max * self.frags_max


class Frame(dict):
    """A parsed frame: its fields by name, `raw` bytes, `data` behind the header."""

    def __init__(self, raw, mode):
        super().__init__()
        self.raw = raw
        self.dst, self.src = raw[0:6], raw[6:12]
        self.kind = raw[16] if len(raw) > 16 else 0
        self.layout = mode.layouts.get(self.kind)
        self.whole = self.layout is not None and len(raw) >= self.layout.size
        if not self.whole:
            return
        for name, offset, size in self.layout.fields:
            self[name] = int.from_bytes(raw[offset:offset + size], "big")
        self.data = raw[self.layout.size:self.layout.size + self.data_length()]

    def data_length(self):
        """Returns the number of bytes behind the header that the length fields announce."""
        if self.kind in (TINY, SMALL, PULL_REPLY, HOST_REPLY, PACK):
            return self["length"]
        if self.kind == MEDIUM:
            return self["frag_length"]
        if self.kind in (CONNECT, TRUC):
            return max(0, self["length"] - 16)
        if self.kind == RNDV:
            return max(0, self["length"] - 8)
        if self.kind == PROBE:
            return self["size"] - 48
        return 0

    def trailing(self):
        """Returns the bytes behind header and data: padding, or a checksum trailer."""
        return self.raw[self.layout.size + self.data_length():]

    def pads(self):
        """Returns the bytes of the header that no field names."""
        named = {0: 14}
        for _, offset, size in self.layout.fields:
            named[offset] = size
        free, at = [], 0
        while at < self.layout.size:
            if at in named:
                at += named[at]
            else:
                free.append(at)
                at += 1
        return {at: self.raw[at] for at in free}


def build(mode, kind, dst, src, data=b"", **fields):
    """Returns a frame, padded to the 60 bytes of Ethernet [8]. Fields that are not named are zero."""
    layout = mode.layouts[kind]
    raw = bytearray(layout.size)
    raw[0:6], raw[6:12], raw[12:14] = dst, src, ETHERTYPE.to_bytes(2, "big")
    raw[16] = kind
    known = {name: (offset, size) for name, offset, size in layout.fields}
    for name, value in fields.items():
        if name == "flags":
            raw[{PULL_REPLY: 15, NACK_LIB: 18, NACK_MCP: 18}.get(kind, 19)] = value
            continue
        offset, size = known[name]
        raw[offset:offset + size] = value.to_bytes(size, "big")
    raw += data
    return bytes(raw) + bytes(max(0, 60 - len(raw)))


def pattern(length, seed):
    """Returns the contents of a message. The subject computes the same."""
    return bytes((i * 31 + (i >> 8) + seed * 7) & 0xFF for i in range(length))


CRC_TABLE = []
for value in range(256):
    for _ in range(8):
        value = (value >> 1) ^ (0x82F63B78 if value & 1 else 0)
    CRC_TABLE.append(value)


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = (crc >> 8) ^ CRC_TABLE[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF
