# SPDX-License-Identifier: BSD-3-Clause
"""Short messages that the library sends (wire 4.2, 4.3, 4.8, 6; protocol 5, 6, 8)."""
import time

from cases import case, extended, plain
from packets import MEDIUM, NUMBERED, SMALL, TINY, pattern
from peer import NUMBER, ANSWER_LIMIT_S, Missing, plus


def check_message(partner, match, length, seed, seq, rule="send"):
    """Takes one eager message and compares every byte. Its class follows from its length."""
    peer, mode = partner.peer, partner.peer.mode
    common = dict(seq=seq, ack=partner.seq, match=match)
    data = pattern(length, seed)
    if length <= 128:
        kind, name = (TINY, "tiny") if length <= 32 else (SMALL, "small")
        frame = partner.take((TINY, SMALL, MEDIUM))
        peer.rules.check(f"{rule}.class", "protocol 8", f"type of {length} bytes", kind, frame.kind)
        partner.exact(f"{rule}.{name}", frame, length=length, **common)
        peer.rules.check(f"{rule}.{name}_data", "wire 4.2", f"data of {length} bytes", data, frame.data)
        return [frame]
    frames, at = [], 0
    while at < length:
        frame = partner.take((TINY, SMALL, MEDIUM))
        peer.rules.check(f"{rule}.class", "protocol 8", f"type of {length} bytes", MEDIUM, frame.kind)
        unit = mode.frag_max
        over = dict(length=length, frag=len(frames), **common)
        if mode.wire:
            over["pipeline"] = 12
        elif partner.extended:
            unit = over["unit"] = frame.get("unit") or unit
        over["frag_length"] = min(unit, length - at)
        partner.exact(f"{rule}.medium", frame, **over)
        peer.rules.check(f"{rule}.medium_data", "wire 4.3", f"data from {at}", data[at:at + unit], frame.data)
        frames.append(frame)
        at += unit
    peer.rules.true(f"{rule}.medium_fragments", "wire 5", "fragments of a message", partner.extended or len(frames) <= mode.frags_max)
    return frames


def sent(peer, slot, rule, match, length, status=0):
    peer.rules.check(rule, "protocol 8", "how the send ended", f"done {status} {match:x} {length} {length} sent",
                     peer.ask(f"wait {slot} 8000"))


def forget_repetitions(partner):
    partner.peer.waiting(NUMBERED, partner.endpoint)


def quiet(partner, what, rule, section):
    """Expects no repetition within more than two repetition delays."""
    forget_repetitions(partner)
    end = time.monotonic() + 1.3
    while (left := end - time.monotonic()) > 0:
        partner.peer.pump(left)
    partner.peer.rules.check(rule, section, f"repetitions after {what}", 0, len(partner.peer.waiting(NUMBERED, partner.endpoint)))


@case()
def send_every_class(peer):
    partner = peer.partner().connected_by_subject()
    lengths = (0, 1, 31, 32, 33, 127, 128, 129, 1452, 1453, 4096, 4097, 8192, 8193, 10000, 32767, 32768)
    for number, length in enumerate(lengths):
        match = 0x1234567800000000 + length
        peer.ask(f"send 1 {match:x} {length} {number}")
        check_message(partner, match, length, number, partner.wanted)
        partner.wanted = plus(partner.wanted, 1)
        partner.ack()
        sent(peer, 1, "send.completes", match, length)
        forget_repetitions(partner)


@case()
def send_to_whom_connected_to_us(peer):
    partner = peer.partner()
    partner.connect()
    partner.tiny(pattern(4, 0), 0x31)
    peer.ask("recv 1 31 ffffffffffffffff 4 0")
    peer.rules.check("send.back_to_the_source", "protocol 3.2", "message received", "done 0 31 4 4 good", peer.ask("wait 1 8000"))
    peer.ask("answer")
    for number, length in enumerate((8, 100, 9000), 1):
        peer.ask(f"send 2 {length:x} {length} 5")
        check_message(partner, length, length, 5, number, "send_back")
        partner.wanted = plus(number, 1)
        partner.ack()
        sent(peer, 2, "send_back.completes", length, length)
        forget_repetitions(partner)


@case()
def send_repeats_until_acknowledged(peer):
    partner = peer.partner().connected_by_subject()
    peer.ask("send 1 77 8 1")
    first = partner.take(TINY)
    for what in ("first", "second"):
        again = partner.take(TINY)
        peer.rules.check("send.repeated_unchanged", "protocol 6", f"bytes of the {what} repetition", first.raw, again.raw)
    # None of these acknowledges number 1.
    partner.wanted = 2
    for over in (dict(data_type=0x54), dict(session_id=partner.their_session ^ 1), dict(session=partner.their_session ^ 1),
                 dict(seq=0x4002), dict(seq=50), dict(seq=1), dict(length=15)):
        partner.ack(**over)
    forget_repetitions(partner)
    peer.rules.true("ack.false_ones_are_ignored", "protocol 5.2", "repeated after acknowledgements that are none",
                    peer.take(TINY, partner.endpoint, missing=False))
    partner.ack()
    quiet(partner, "the acknowledgement", "ack.ends_repetitions", "protocol 5.3")
    # An acknowledgement whose counter is lower is older than the last one [protocol 5.2].
    peer.ask("send 1 78 8 1")
    partner.take(TINY)
    partner.wanted = 3
    partner.ack(acknum=1)
    forget_repetitions(partner)
    peer.rules.true("ack.old_ones_are_ignored", "protocol 5.2", "repeated after an acknowledgement of the past",
                    peer.take(TINY, partner.endpoint, missing=False))
    partner.ack()


@case()
def send_repeats_all_fragments(peer):
    partner = peer.partner().connected_by_subject()
    peer.ask("send 1 79 10000 1")
    frames = check_message(partner, 0x79, 10000, 1, 1)
    if peer.extended:
        partner.wanted = 2  # repeats only missing messages: docs/reference/wire.md 9
        partner.ack()
        return
    check_message(partner, 0x79, 10000, 1, 1, "send_again")
    peer.rules.true("send_again.all_fragments", "protocol 6", "fragments", len(frames) == -(-10000 // peer.mode.frag_max))
    partner.wanted = 2
    partner.ack()
    sent(peer, 1, "send.completes", 0x79, 10000)


@case()
def send_is_acknowledged_by_messages(peer):
    """A piggybacked acknowledgement counts. A packet whose acknowledgement has other session bits is dropped as a
    whole."""
    partner = peer.partner().connected_by_subject()
    partner.connect()
    peer.ask("send 1 7a 8 1")
    partner.take(TINY)
    partner.tiny(b"", 0x71, 1, ack=0x4002)
    partner.fence()
    peer.rules.check("ack.strange_bits_drop_the_packet", "wire 6.5", "what arrived", "nothing", peer.ask("probe 71 ffffffffffffffff"))
    partner.wanted = 2
    partner.tiny(b"", 0x72)
    quiet(partner, "a message with the acknowledgement", "ack.by_messages", "protocol 5.3")
    peer.rules.check("ack.by_messages", "protocol 4", "what arrived", "found 72 0", peer.ask("probe 72 ffffffffffffffff"))
    peer.ask("recv 1 72 ffffffffffffffff 0 0")
    peer.ask("wait 1 8000")


@case(plain)
def send_numbers_come_round(peer):
    """More messages than there are numbers, and never more than 8191 of them unacknowledged."""
    partner = peer.partner().connected_by_subject()
    total, got, acked, order, most = 4 * 4200, 0, 0, [], 0
    seen = {}
    for _ in range(4):
        peer.ask(f"burst 4096 {got:x} 4")
        peer.ask(f"burst 104 {got + 4096:x} 4")
        target = got + 4200
        end = time.monotonic() + 120
        while got < target:
            if time.monotonic() > end:
                raise Missing(f"{got} of {target} messages came")
            peer.pump(0.2)
            for frame in peer.waiting(TINY, partner.endpoint):
                if seen.get(frame["seq"]) == frame["match"]:
                    continue  # repeated
                seen[frame["seq"]] = frame["match"]
                order.append(frame["seq"])
                got += 1
                most = max(most, got - acked)
            if got - acked >= 100:
                partner.wanted, acked = plus(partner.wanted, got - acked), got
                partner.ack()
    partner.wanted = plus(partner.wanted, got - acked)
    partner.ack()
    check = peer.rules.check
    check("numbers.come_round", "wire 6.4", "numbers in the order of arrival", True, order == [(i + 1) & NUMBER for i in range(total)])
    check("numbers.at_most_8191_in_flight", "protocol 5.4", "messages not acknowledged", True, most <= 8191)


@case(plain)
def send_window_has_an_end(peer):
    partner = peer.partner().connected_by_subject()
    for _ in range(3):
        peer.ask("burst 4096 0 4")
    seen, end = set(), time.monotonic() + 2
    while time.monotonic() < end:
        peer.pump(0.2)
        seen |= {frame["seq"] for frame in peer.waiting(TINY, partner.endpoint)}
    peer.rules.check("numbers.at_most_8191_in_flight", "protocol 5.4", "numbers without acknowledgement", True, max(seen) <= 8191)
    drain(partner, 3 * 4096, seen)


def drain(partner, total, have):
    """Acknowledges until this many numbers have come. `have` are those that were seen already."""
    end = time.monotonic() + ANSWER_LIMIT_S * 3
    while partner.wanted <= total:
        if time.monotonic() > end:
            raise Missing(f"{partner.wanted - 1} of {total} messages came")
        have |= {frame["seq"] for frame in partner.peer.waiting(TINY, partner.endpoint)}
        before = partner.wanted
        while partner.wanted in have:
            partner.wanted += 1
        if partner.wanted != before:
            partner.ack()
        else:
            partner.peer.pump(0.1)


@case(extended)
def send_keeps_to_the_window_of_the_block(peer):
    """Our block announced that we hold 64 eager frames."""
    partner = peer.partner().connected_by_subject()
    peer.ask("burst 500 0 4")
    seen, end = set(), time.monotonic() + 1
    while time.monotonic() < end:
        peer.pump(0.2)
        seen |= {frame["seq"] for frame in peer.waiting(TINY, partner.endpoint)}
    peer.rules.check("block.window_is_kept", "docs/reference/wire.md 5", "frames without acknowledgement", True, 0 < max(seen) <= 64)
    drain(partner, 500, seen)
