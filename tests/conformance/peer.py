# SPDX-License-Identifier: BSD-3-Clause
"""A host that speaks MXoE from a raw socket, endpoint by endpoint, and checks every byte that comes back."""
import contextlib
import random
import select
import socket
import time

import block
from packets import (CONNECT, ETHERTYPE, Frame, HOST_QUERY, HOST_REPLY, MAGIC, MEDIUM, NACK_LIB, NACK_MCP, NAMES,
                     NOTIFY, PACK, PROBE, PULL, PULL_REPLY, RNDV, SMALL, TINY, TRUC, UNKNOWN_INDEX, build,
                     crc32c)

TOLD_INDEX = 0x0123  # the index that we tell the other side to put into the head
ANSWER_LIMIT_S = 12  # after this time an answer counts as missing; no rule depends on how long one takes
NUMBER = 0x3FFF


def plus(seq, count):
    """Returns a sequence number advanced by n. The upper two bits stay [6.4]."""
    return (seq & 0xC000) | ((seq + count) & NUMBER)


class Missing(Exception):
    """A required packet or answer did not come."""


class Peer:
    """The host: its socket, the subject, and all frames not yet examined."""

    def __init__(self, mode, rules, subject, subject_mac, extended, checksum):
        self.mode, self.rules, self.subject, self.extended = mode, rules, subject, extended
        self.checksum = checksum  # requested by both sides
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        self.socket.setsockopt(socket.SOL_SOCKET, 33, 64 << 20)  # SO_RCVBUFFORCE
        self.socket.bind(("eth0", ETHERTYPE))
        self.mac, self.subject_mac = self.socket.getsockname()[4], subject_mac
        self.nic = int.from_bytes(self.mac, "big")
        self.inbox, self.partners = [], {}
        self.index = UNKNOWN_INDEX  # the index that the other side told us
        self.next_endpoint = 0
        self.largest_seen = 0
        self.gathered = None  # packets that will share a frame
        self.packs_of_packets = 0

    # ---- frames

    def send(self, kind, data=b"", **fields):
        if self.checksum:
            fields["flags"] = fields.get("flags", 0) | 2
            data += bytes(4)
        frame = bytearray(build(self.mode, kind, self.subject_mac, self.mac, data, **fields))
        if self.checksum:  # directly behind the data, before any padding (docs/reference/wire.md 11)
            end = self.mode.layouts[kind].size + len(data)
            frame[end - 4:end] = crc32c(frame[12:end - 4]).to_bytes(4, "big")
        if self.gathered is None:
            self.send_raw(bytes(frame))
        else:
            self.gathered.append(bytes(frame[14:self.mode.layouts[kind].size + len(data)]))

    @contextlib.contextmanager
    def gathering(self, partner):
        """Collects the packets that are sent meanwhile in one PACK (docs/reference/wire.md 14)."""
        self.gathered = []
        yield
        packets, self.gathered = self.gathered, None
        data = b"".join(bytes(8) + len(packet).to_bytes(2, "big") + b"\x08\0" + packet for packet in packets)
        self.send(PACK, data, **partner.head(length=len(data)))

    def send_raw(self, frame):
        self.socket.send(frame)

    def pump(self, timeout):
        """Receives frames for the given time. Returns once some arrived."""
        ready = select.select([self.socket, self.subject], [], [], timeout)[0]
        if self.subject in ready:
            self.subject.read()
        while self.socket in ready:
            try:
                raw, address = self.socket.recvfrom(70000, socket.MSG_DONTWAIT)
            except BlockingIOError:
                break
            if address[2] != socket.PACKET_OUTGOING:
                self.arrived(Frame(raw, self.mode))
        return ready

    def arrived(self, frame):
        self.audit(frame)
        if not frame.whole:
            return
        if frame.kind == PACK and frame.data[10] & 8:
            self.packs_of_packets += 1
            for packet in packets_of(frame.data):
                self.rules.check("block.shared", "docs/reference/wire.md 14", "types that share frames", True, packet[2] in (RNDV, PULL, NOTIFY, TRUC))
                self.arrived(Frame(frame.raw[:14] + packet + bytes(max(0, 46 - len(packet))), self.mode))
            return
        partner = self.partners.get(endpoint_of(frame))
        if partner and frame.kind == CONNECT:
            partner.learn(frame)
            if partner.automatic and not frame["is_reply"]:
                partner.answer(frame)
                return
        self.inbox.append(frame)

    def audit(self, frame):
        """Checks what holds for every frame [1, 2, 8]."""
        check, name = self.rules.check, NAMES.get(frame.kind, f"type {frame.kind}")
        check("frame.source", "wire 2", f"{name} F6 source MAC", self.subject_mac, frame.src)
        broadcast = frame.kind in (HOST_QUERY, 1) and frame.dst == b"\xff" * 6
        check("frame.destination", "wire 2", f"{name} F0 destination MAC", b"\xff" * 6 if broadcast else self.mac, frame.dst)
        check("frame.known_type", "wire 3", f"{name} F16 known", True, frame.kind in NAMES)
        check("frame.minimum", "wire 8", f"{name} has 60 bytes", True, len(frame.raw) >= 60)
        if not frame.whole:
            check("frame.whole", "wire 3", f"{name} has its header", True, frame.kind == 1)
            return
        if frame.kind == 1:
            return self.audit_discovery(frame)
        flags = flags_of(frame)
        extended = self.extended and endpoint_of(frame) in self.partners
        free = (15, 18, 19) if extended else ()
        if frame.kind in (HOST_QUERY, HOST_REPLY) or frame.kind == PULL_REPLY and not extended:
            free += (14, 15)  # the head's index, which no receiver reads there [2]
        pads = {at: byte for at, byte in frame.pads().items() if at not in free}
        check("frame.pads_are_zero", "wire 1", f"{name} pads that are not zero", {}, {at: b for at, b in pads.items() if b})
        trailer = 4 if extended and flags & 2 else 0
        size = frame.layout.size + frame.data_length() + trailer
        if self.checksum and extended and frame.kind not in (CONNECT, PROBE) and self.partners[endpoint_of(frame)].their_generation:
            check("frame.checksum", "docs/reference/wire.md 11", f"{name} has a trailer", 4, trailer)
            check("frame.checksum", "docs/reference/wire.md 11", f"{name} CRC-32C", crc32c(frame.raw[12:size - 4]),
                  int.from_bytes(frame.raw[size - 4:size], "big"))
        check("frame.size", "wire 8", f"{name} frame size", max(60, size), len(frame.raw))
        check("frame.padding_is_zero", "wire 8", f"{name} behind the data", b"", frame.trailing()[trailer:].strip(b"\0"))
        if "peer_index" in frame:
            known = frame["peer_index"] in (UNKNOWN_INDEX, TOLD_INDEX)
            check("frame.peer_index", "wire 2.1", f"{name} F14 told or unknown, {frame['peer_index']:#x}", True, known)
        if frame.kind == PULL_REPLY:
            check("frame.reply_source", "docs/reference/wire.md 3", f"{name} F14 source endpoint", 0, frame["source"])
        check("frame.at_most_mtu", "wire 5", f"{name} frame fits", True, len(frame.raw) <= self.frame_limit())
        self.largest_seen = max(self.largest_seen, len(frame.raw))

    def audit_discovery(self, frame):
        """Checks the only RAW packet that the library sends by itself [4.13]."""
        nic = self.subject_mac.rjust(8, b"\0")
        expected = b"\xff" * 6 + self.subject_mac + b"\x86\xdf\0\0\x01" + bytes(15) + nic + frame.raw[40:44] + bytes(20)
        self.rules.check("raw.discovery", "wire 4.13", "RAW frame without its serial number", expected, frame.raw)

    def frame_limit(self):
        return self.mode.mtu + 14 if self.extended else self.mode.frame_max + 14

    def take(self, kind, endpoint=None, where=lambda frame: True, patience=ANSWER_LIMIT_S, missing=True):
        """Returns the first frame of that kind (or kinds) to an endpoint of ours. Other frames stay."""
        kinds = kind if isinstance(kind, tuple) else (kind,)
        end = time.monotonic() + patience
        while True:
            for i, frame in enumerate(self.inbox):
                if frame.kind in kinds and endpoint in (None, endpoint_of(frame)) and where(frame):
                    return self.inbox.pop(i)
            left = end - time.monotonic()
            if left <= 0:
                if missing:
                    raise Missing(f"no {'/'.join(NAMES[k] for k in kinds)} to endpoint {endpoint}; waiting: "
                                  + ", ".join(NAMES[f.kind] for f in self.inbox[-8:]))
                return None
            self.pump(left)

    def waiting(self, kind, endpoint=None):
        """Returns and removes the frames of a kind that have come and were not taken."""
        kinds = kind if isinstance(kind, tuple) else (kind,)
        found, kept = [], []
        for frame in self.inbox:
            (found if frame.kind in kinds and endpoint in (None, endpoint_of(frame)) else kept).append(frame)
        self.inbox = kept
        return found

    def settle(self, condition):
        """Receives frames until the condition holds."""
        end = time.monotonic() + ANSWER_LIMIT_S
        while not condition():
            left = end - time.monotonic()
            if left <= 0:
                raise Missing("what should have come to pass did not")
            self.pump(left)

    # ---- the subject

    def tell(self, line):
        self.subject.tell(line)

    def told(self, patience=ANSWER_LIMIT_S):
        """Returns the subject's next line, and receives frames meanwhile."""
        end = time.monotonic() + patience
        while True:
            line = self.subject.line()
            if line is not None:
                return line
            left = end - time.monotonic()
            if left <= 0:
                raise Missing("the subject did not answer")
            self.pump(left)

    def ask(self, line, patience=ANSWER_LIMIT_S):
        self.tell(line)
        return self.told(patience)

    def partner(self, **options):
        """Makes an endpoint of ours that the subject does not know."""
        partner = Partner(self, self.next_endpoint, **options)
        self.partners[self.next_endpoint] = partner
        self.next_endpoint += 1
        return partner


def packets_of(data):
    """Returns the packets of a PACK, without their Ethernet headers."""
    while data:
        length = int.from_bytes(data[8:10], "big")
        assert not any(data[0:8]) and data[10:12] == b"\x08\0", data[0:12]
        yield data[12:12 + length]
        data = data[12 + length:]


def endpoint_of(frame):
    if "dst_endpoint" in frame:
        return frame["dst_endpoint"]
    return (frame["magic"] ^ MAGIC) & 0xFF if frame.kind in (PULL_REPLY, NACK_MCP) else None


def flags_of(frame):
    return frame.raw[{PULL_REPLY: 15, NACK_LIB: 18, NACK_MCP: 18}.get(frame.kind, 19)]


class Partner:
    """One endpoint of ours and its counts with endpoint 0 of the subject [protocol 2]."""

    def __init__(self, peer, endpoint, automatic=True, features=None):
        self.peer, self.endpoint, self.automatic = peer, endpoint, automatic
        self.session = random.randrange(1, 0xFFFFFFF0)
        self.key = 0x1234
        self.seq = 1  # of our next message
        self.wanted = 1  # the next one from the subject
        self.acknum = 0
        self.their_session = None
        self.connected_back = False
        self.extended = peer.extended
        self.features = (block.SACK | block.PROBE) if features is None else features
        if peer.checksum:
            self.features |= block.CHECKSUM
        self.generation, self.their_generation, self.their_block = random.randrange(1, 1 << 31), 0, None
        self.last_connect = None

    # ---- connection [protocol 3]

    def block_for(self, frame):
        if not self.extended:
            return frame
        other = self.their_generation | block.USES if self.their_generation else 0
        return block.append(frame, features=self.features, largest=self.peer.mode.mtu + 14,
                            layout=0 if self.peer.mode.wire else 1, generation=self.generation, other_generation=other)

    def learn(self, connect):
        """Notes what any CONNECT says about its sender."""
        self.peer.index = connect["index"]
        self.last_connect = connect
        self.their_block = block.parse(connect)
        if self.their_block:
            self.their_generation = self.their_block["generation"]

    def request_frame(self, **over):
        fields = dict(peer_index=self.peer.index, dst_endpoint=0, src_endpoint=self.endpoint, length=16,
                      index=TOLD_INDEX, session=self.session, key=self.key, start=1)
        fields.update(over)
        return build(self.peer.mode, CONNECT, self.peer.subject_mac, self.peer.mac, **fields)

    def request(self, **over):
        self.peer.send_raw(self.block_for(self.request_frame(**over)))

    def connect(self):
        """Connects. The answer must come."""
        self.request()
        reply = self.peer.take(CONNECT, self.endpoint, lambda f: f["is_reply"])
        self.adopt(reply["key"], reply["start"])
        return reply

    def adopt(self, session, start):
        """Adopts a new session of the subject. Our numbers begin where it says [protocol 3.1, 3.2]."""
        if session != self.their_session:
            self.seq = start
        self.their_session = session

    def answer(self, request, **over):
        """Replies to a request of the subject."""
        self.adopt(request["session"], request["start"])
        self.connected_back = True
        fields = dict(peer_index=self.peer.index, dst_endpoint=request["src_endpoint"], src_endpoint=self.endpoint,
                      length=16, index=TOLD_INDEX, session=request["session"], key=self.session, start=self.wanted,
                      is_reply=1, connect_seq=request["connect_seq"], status=0)
        fields.update(over)
        self.peer.send_raw(self.block_for(build(self.peer.mode, CONNECT, self.peer.subject_mac, self.peer.mac, **fields)))

    def connected_by_subject(self, slot=0):
        """Lets the subject connect to us. Its next sends go to us."""
        peer = self.peer
        peer.ask(f"connect {slot} {peer.nic:x} {self.endpoint} {self.key}")
        end = time.monotonic() + ANSWER_LIMIT_S
        while not (line := peer.ask(f"wait {slot} 500")).startswith("done"):
            if time.monotonic() > end:
                raise Missing(f"the subject is not connected: {line}")
        if not line.startswith("done 0"):
            raise Missing(f"the subject is not connected: {line}")
        return self

    # ---- sending

    def head(self, **over):
        fields = dict(peer_index=self.peer.index, dst_endpoint=0, src_endpoint=self.endpoint, session=self.their_session)
        fields.update(over)
        return fields

    def eager(self, kind, data, match, seq=None, **over):
        """Sends TINY or SMALL with our next number, or with the given one again."""
        if seq is None:
            seq, self.seq = self.seq, plus(self.seq, 1)
        fields = dict(length=len(data), seq=seq, ack=self.wanted, match=match)
        fields.update(over)
        self.peer.send(kind, data, **self.head(**fields))
        return seq

    def tiny(self, data, match, seq=None, **over):
        return self.eager(TINY, data, match, seq, **over)

    def small(self, data, match, seq=None, **over):
        return self.eager(SMALL, data, match, seq, **over)

    def fragment(self, message, match, seq, number, unit, **over):
        mode = self.peer.mode
        data = message[number * unit:(number + 1) * unit]
        fields = dict(length=len(message), seq=seq, ack=self.wanted, match=match, frag_length=len(data), frag=number)
        if mode.wire:
            fields["pipeline"] = unit.bit_length() - 1
        elif self.extended:
            fields["unit"] = unit
        fields.update(over)
        self.peer.send(MEDIUM, data, **self.head(**fields))

    def medium(self, message, match, unit=None, order=None, seq=None):
        if seq is None:
            seq, self.seq = self.seq, plus(self.seq, 1)
        unit = unit or self.peer.mode.frag_max
        count = max(1, -(-len(message) // unit))
        for number in order or range(count):
            self.fragment(message, match, seq, number, unit)
        return seq

    def rndv(self, message_length, match, seq=None, region=5, region_seq=23, region_offset=0, data=b"", **over):
        if seq is None:
            seq, self.seq = self.seq, plus(self.seq, 1)
        fields = dict(length=8, seq=seq, ack=self.wanted, match=match, msg_length=message_length, region=region,
                      region_seq=region_seq, region_offset=region_offset)
        fields.update(over)
        self.peer.send(RNDV, data, **self.head(**fields))
        return seq

    def pull(self, rndv, handle, frame, block_length, first_offset=0, **over):
        fields = dict(total=rndv["msg_length"], region=rndv["region"], region_seq=rndv["region_seq"],
                      region_offset=rndv["region_offset"], handle=handle, magic=MAGIC ^ self.endpoint,
                      first_offset=first_offset, block=block_length, frame=frame)
        if self.extended and not self.peer.mode.wire:
            fields["reply_size"] = self.peer.mode.reply_max
        fields.update(over)
        self.peer.send(PULL, **self.head(**fields))

    def notify(self, rndv, total, seq=None, **over):
        if seq is None:
            seq, self.seq = self.seq, plus(self.seq, 1)
        fields = dict(total=total, region=rndv["region"], region_seq=rndv["region_seq"], seq=seq, ack=self.wanted)
        fields.update(over)
        self.peer.send(NOTIFY, **self.head(**fields))
        return seq

    def ack(self, **over):
        """Sends TRUC with the next number that we expect."""
        self.acknum += 1
        fields = dict(length=16, data_type=0x55, seq=self.wanted, session_id=self.their_session, acknum=self.acknum,
                      send_seq=self.wanted)
        fields.update(over)
        self.peer.send(TRUC, **self.head(**fields))

    def reply(self, pull, offset, data, index, **over):
        fields = dict(frame_seq=index % 256, length=len(data), offset=offset, handle=pull["handle"], magic=pull["magic"])
        if self.features & block.SOURCE:
            fields["source"] = self.endpoint
        fields.update(over)
        self.peer.send(PULL_REPLY, data, **fields)

    # ---- receiving

    def exact(self, rule, frame, free=(), section=None, **expected):
        """Checks every field of the frame: it is as given, or as it is for this partner, or zero."""
        usual = dict(type=frame.kind, dst_endpoint=self.endpoint, src_endpoint=0, session=self.session,
                     peer_index=TOLD_INDEX)
        right = True
        for name, offset, _ in frame.layout.fields:
            if name in free:
                continue
            value = expected.get(name, usual.get(name, 0))
            where = section or f"wire {frame.layout.section}"
            what = f"{NAMES[frame.kind]} F{offset} {name}"
            right &= self.peer.rules.check(rule, where, what, value, frame[name])
        return right

    def fence(self):
        """Waits until the subject has processed all that we sent. It refuses a message in a wrong session at once
        [7]."""
        seq = random.randrange(1, NUMBER)
        self.tiny(b"fence", 0, seq, session=self.their_session ^ 1)
        return self.peer.take(NACK_LIB, self.endpoint, lambda f: f["seq"] == seq)

    def take(self, kind, where=lambda frame: True):
        return self.peer.take(kind, self.endpoint, where)
