# SPDX-License-Identifier: BSD-3-Clause
"""Short messages that the library receives (wire 4.2, 4.3, 4.8, 4.9, 7; protocol 4, 5, 9)."""
from cases import case, extended, native_extended, plain, wire, with_checksums
from packets import NACK_LIB, NACK_MCP, TINY, TRUC, build, crc32c, pattern
from peer import plus

TRUNCATED = 5
EXACT_MATCH = "ffffffffffffffff"


def received(peer, rule, section, match, length, seed, room=None, status=0):
    """Expects that the subject receives the message."""
    room = length if room is None else room
    peer.ask(f"recv 1 {match:x} {EXACT_MATCH} {room} {seed}")
    peer.rules.check(rule, section, f"message of {length} bytes in room for {room}",
                     f"done {status} {match:x} {length} {min(length, room)} good", peer.ask("wait 1 8000"))


def nothing_arrived(peer, rule, section, what, match):
    peer.rules.check(rule, section, what, "nothing", peer.ask(f"probe {match:x} {EXACT_MATCH}"))


def acknowledged(partner, rule="ack.truc", section=None):
    """Takes acknowledgements until one covers all our messages. Every field of each must be right."""
    peer = partner.peer
    while True:
        truc = partner.take(TRUC)
        partner.acks = getattr(partner, "acks", 0) + 1
        partner.exact(rule, truc, free=("length", "seq", "send_seq"), section=section, data_type=0x55,
                      session_id=partner.session, acknum=partner.acks)
        peer.rules.check(rule, "wire 4.8", "TRUC F40 send_seq is F30 again", truc["seq"], truc["send_seq"])
        peer.rules.check(rule, "wire 4.8", "TRUC F20 length", True, truc["length"] == 16 or partner.extended and truc["length"] == 48)
        if truc["seq"] == partner.seq:
            return truc


def connected(peer, **options):
    partner = peer.partner(**options)
    partner.connect()
    return partner


@case()
def receive_every_class(peer):
    partner = connected(peer)
    for seed, length in enumerate((0, 1, 32, 33, 128, 129, 4096, 4097, 10000, 32768)):
        match, message = 0xF00000000000 + length, pattern(length, seed)
        if length <= 32:
            partner.tiny(message, match)
        elif length <= 128:
            partner.small(message, match)
        else:
            partner.medium(message, match)
        received(peer, "receive.every_class", "wire 4.2, 4.3", match, length, seed)
        acknowledged(partner)
    partner.small(pattern(5, 0), 0xF2)
    received(peer, "receive.short_small", "wire 4.2", 0xF2, 5, 0)
    acknowledged(partner)


@case()
def receive_fragments_in_any_order(peer):
    partner = connected(peer)
    unit = peer.mode.frag_max
    length = 3 * unit + unit // 2
    partner.medium(pattern(length, 1), 0xF3, order=(3, 1, 0, 2))
    received(peer, "receive.fragments_in_any_order", "wire 4.3", 0xF3, length, 1)
    # Each fragment twice, and again when the message is whole.
    seq = partner.medium(pattern(length, 2), 0xF4, order=(0, 0, 2, 2, 1, 3, 3))
    received(peer, "receive.fragments_twice", "protocol 4", 0xF4, length, 2)
    acknowledged(partner)
    partner.medium(pattern(length, 2), 0xF4, seq=seq)
    partner.fence()
    nothing_arrived(peer, "receive.message_twice", "protocol 4", "a message that was received already", 0xF4)


@case(wire)
def receive_pipelines(peer):
    """Each packet says the unit of its fragment number [wire 4.3]."""
    partner = connected(peer)
    for pipeline, length in ((11, 20000), (10, 10000), (7, 1000), (12, 30000), (15, 3000), (0, 20)):
        length = min(length, 32 << pipeline)
        unit = 1 << pipeline
        if unit > 4096 and length > 4096:
            length = 4096
        partner.medium(pattern(length, pipeline), 0xF500 + pipeline, unit=unit)
        received(peer, "receive.pipeline", "wire 4.3", 0xF500 + pipeline, length, pipeline)
    acknowledged(partner)


@case(native_extended)
def receive_units(peer):
    """Between extended peers each fragment says its unit (docs/reference/wire.md 8)."""
    partner = connected(peer)
    for unit in (1000, 1452, 640):
        partner.medium(pattern(10000, 1), 0xF600 + unit, unit=unit)
        received(peer, "receive.unit", "docs/reference/wire.md 8", 0xF600 + unit, 10000, 1)
    acknowledged(partner)


@case()
def receive_repetitions_once(peer):
    partner = connected(peer)
    seq = partner.tiny(pattern(4, 1), 0xF7)
    received(peer, "receive.once", "protocol 4", 0xF7, 4, 1)
    acknowledged(partner)
    partner.tiny(pattern(4, 1), 0xF7, seq)
    # A repetition of the last number says that the acknowledgement was lost, so it comes again.
    acknowledged(partner, "ack.again_for_the_last_number", "protocol 4")
    partner.fence()
    nothing_arrived(peer, "receive.once", "protocol 4", "a message that was received already", 0xF7)


@case()
def receive_early_messages_in_order(peer):
    partner = connected(peer)
    for number in (4, 2, 3, 3, 5):
        partner.tiny(pattern(number, number), 0xF80 + number, number)
    partner.fence()
    nothing_arrived(peer, "receive.order", "protocol 4", "a message whose predecessor is missing", 0xF82)
    partner.tiny(pattern(1, 1), 0xF81, 1)
    partner.seq = 6
    # All messages are there, though none was sent again.
    for number in range(1, 6):
        received(peer, "receive.early", "protocol 4", 0xF80 + number, number, number)
    acknowledged(partner)


@case(extended)
def receive_gap_is_told(peer):
    """An acknowledgement says which later messages have arrived (docs/reference/wire.md 9)."""
    partner = connected(peer)
    for number in (2, 4):
        partner.tiny(b"", 0xF90 + number, number)
    truc = partner.take(TRUC, lambda f: f["length"] == 48 and f.data[0] & 4)
    peer.rules.check("block.sack", "docs/reference/wire.md 9", "TRUC F30 missing number", 1, truc["seq"])
    peer.rules.check("block.sack", "docs/reference/wire.md 9", "TRUC F44 bitmap", bytes([0b101]) + bytes(31), truc.data)
    partner.acks = truc["acknum"]
    for number in (1, 3):
        partner.tiny(b"", 0xF90 + number, number)
    partner.seq = 5
    for number in range(1, 5):
        received(peer, "receive.early", "protocol 4", 0xF90 + number, 0, 0)


@case()
def receive_four_are_acknowledged(peer):
    partner = connected(peer)
    for number in range(4):
        partner.tiny(b"", 0xFA)
    acknowledged(partner)
    for number in range(4):
        received(peer, "receive.every_class", "wire 4.2, 4.3", 0xFA, 0, 0)


@case()
def receive_is_acknowledged_by_messages(peer):
    """Packets from the subject acknowledge what it has received [wire 6.5]."""
    partner = connected(peer)
    partner.tiny(b"", 0xFB)
    received(peer, "receive.every_class", "wire 4.2, 4.3", 0xFB, 0, 0)
    peer.ask("answer")
    peer.ask("send 2 fc 8 1")
    frame = partner.take(TINY)
    partner.exact("ack.piggyback", frame, length=8, seq=1, ack=2, match=0xFC)
    partner.wanted = 2
    partner.ack()


@case()
def receive_too_long(peer):
    partner = connected(peer)
    for length, room in ((20, 5), (100, 99), (10000, 5000), (10000, 0)):
        message, match = pattern(length, 3), 0xFD0000 + length
        (partner.tiny if length <= 32 else partner.small if length <= 128 else partner.medium)(message, match)
        received(peer, "receive.truncated", "protocol 9", match, length, 3, room, TRUNCATED)
    acknowledged(partner)


@case()
def refused_sessions(peer):
    """A packet with a wrong session is refused with its number, for every type that has one [wire 7]."""
    partner = connected(peer)
    wrong = partner.their_session ^ 0x100
    fake = dict(msg_length=100000, region=1, region_seq=23, region_offset=0)
    partner.tiny(b"x", 1, 101, session=wrong)
    partner.small(b"x" * 40, 1, 102, session=wrong)
    partner.fragment(bytes(5000), 1, 103, 0, peer.mode.frag_max, session=wrong)
    partner.rndv(100000, 1, 104, session=wrong)
    partner.notify(fake, 100000, 105, session=wrong)
    for seq, name in ((101, "TINY"), (102, "SMALL"), (103, "MEDIUM"), (104, "RNDV"), (105, "NOTIFY")):
        nack = partner.take(NACK_LIB, lambda f: f["seq"] == seq)
        partner.exact(f"nack.session_of_{name.lower()}", nack, src_endpoint=0, code=3, index=nack["peer_index"], seq=seq)
    partner.wanted = 1
    partner.ack(session=wrong, session_id=wrong)
    partner.fence()
    peer.rules.check("nack.never_for_truc", "wire 7", "NACK for a TRUC", 0, len(peer.waiting((NACK_LIB, NACK_MCP), partner.endpoint)))


@case()
def refused_endpoints(peer):
    partner = connected(peer)
    fake = dict(msg_length=100000, region=1, region_seq=23, region_offset=0)
    for endpoint, code, what in ((9, 2, "closed"), (254, 1, "impossible")):
        sends = {
            201: lambda: partner.tiny(b"x", 1, 201, dst_endpoint=endpoint),
            202: lambda: partner.small(b"x" * 40, 1, 202, dst_endpoint=endpoint),
            203: lambda: partner.fragment(bytes(5000), 1, 203, 0, peer.mode.frag_max, dst_endpoint=endpoint),
            204: lambda: partner.rndv(100000, 1, 204, dst_endpoint=endpoint),
            205: lambda: partner.notify(fake, 100000, 205, dst_endpoint=endpoint)}
        for seq, send in sends.items():
            # Repeats as any sender does while there is no answer: a refusing endpoint may begin to receive a
            # moment later.
            for _ in range(1 if peer.rules.known else 20):
                send()
                nack = peer.take(NACK_LIB, partner.endpoint, lambda f: f["seq"] == seq, patience=0.5, missing=False)
                if nack:
                    break
            if peer.rules.true(f"nack.endpoint_{what}", "wire 7", f"NACK_LIB for number {seq}", nack):
                partner.exact(f"nack.endpoint_{what}", nack, src_endpoint=endpoint, code=code, index=nack["peer_index"], seq=seq)


@case()
def dropped_lengths(peer):
    """Impossible lengths are dropped without an answer. A correct packet with the same number may follow."""
    partner = connected(peer)
    partner.tiny(bytes(33), 0xFE0, 1)
    partner.small(bytes(129), 0xFE0, 1)
    partner.tiny(b"", 0xFE0, 1, length=32 + 8)
    partner.small(bytes(8), 0xFE0, 1, length=100)  # announces 100 bytes, but the frame ends before
    partner.rndv(100000, 0xFE0, 1, length=7)
    mode, unit = peer.mode, peer.mode.frag_max
    partner.fragment(bytes(2 * unit), 0xFE0, 1, 0, unit, frag_length=unit + 1)
    partner.fragment(bytes(300), 0xFE0, 1, 0, unit, frag=5)
    partner.fragment(bytes(2 * unit), 0xFE0, 1, 1, unit, length=unit + 5)
    if mode.wire:
        partner.fragment(bytes(300), 0xFE0, 1, 0, unit, pipeline=16)
    partner.fence()
    nothing_arrived(peer, "receive.bad_lengths_are_dropped", "wire 7", "what arrived", 0xFE0)
    partner.tiny(pattern(9, 1), 0xFE1)
    received(peer, "receive.bad_lengths_are_dropped", "wire 7", 0xFE1, 9, 1)
    acknowledged(partner)


@case()
def dropped_numbers(peer):
    """Drops packets with other session bits, with numbers beyond the window, and from senders that never connected."""
    partner = connected(peer)
    partner.tiny(b"", 0xFF1, 0x4001)
    partner.tiny(b"", 0xFF1, 300 + 9000)
    partner.tiny(b"", 0xFF1, 0x3FFF)
    unknown = peer.partner()
    unknown.their_session = partner.their_session
    unknown.tiny(b"", 0xFF1, 1)
    partner.fence()
    nothing_arrived(peer, "receive.strange_numbers_are_dropped", "protocol 4", "what arrived", 0xFF1)
    peer.rules.check("receive.unknown_peers_are_ignored", "wire 7", "NACK to an unknown peer in the right session", 0,
                     len(peer.waiting(NACK_LIB, unknown.endpoint)))
    partner.tiny(b"", 0xFF2)
    received(peer, "receive.strange_numbers_are_dropped", "protocol 4", 0xFF2, 0, 0)
    acknowledged(partner)


@case(plain)
def received_numbers_come_round(peer):
    partner = connected(peer)
    total = 16384 + 300
    for number in range(total):
        peer.tell(f"recv 1 {number:x} {EXACT_MATCH} 4 1")
        partner.tiny(pattern(4, 1), number)
        peer.tell("wait 1 8000")
        if peer.told() != "ok" or (answer := peer.told()) != f"done 0 {number:x} 4 4 good":
            peer.rules.check("receive.numbers_come_round", "wire 6.4", f"message {number}", "good", answer)
            return
    peer.rules.check("receive.numbers_come_round", "wire 6.4", "next number after a round", plus(1, total), partner.seq)
    acknowledged(partner)


@case(with_checksums)
def damaged_frames_are_dropped(peer):
    """A peer that agreed on checksums accepts no frame without a correct one (docs/reference/wire.md 11)."""
    partner = connected(peer)
    fields = dict(length=8, seq=1, ack=1, match=0xFF3)
    plain_frame = build(peer.mode, TINY, peer.subject_mac, peer.mac, bytes(8), **partner.head(**fields))
    peer.send_raw(plain_frame)
    damaged = bytearray(build(peer.mode, TINY, peer.subject_mac, peer.mac, bytes(12), flags=2, **partner.head(**fields)))
    damaged[48:52] = (crc32c(damaged[12:48]) ^ 0x100).to_bytes(4, "big")
    peer.send_raw(bytes(damaged))
    partner.fence()
    nothing_arrived(peer, "frame.damaged_is_dropped", "docs/reference/wire.md 11", "what arrived", 0xFF3)
    partner.tiny(pattern(8, 1), 0xFF4)
    received(peer, "frame.damaged_is_dropped", "docs/reference/wire.md 11", 0xFF4, 8, 1)
    acknowledged(partner)
