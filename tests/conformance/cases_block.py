# SPDX-License-Identifier: BSD-3-Clause
"""Packets that only go to peers that announced them in their extension block (docs/reference/wire.md 6, 10, 14)."""
import time

import block
from cases import case, without_checksums
from cases_eager_in import acknowledged, connected, nothing_arrived, received
from cases_large_in import EXACT_MATCH, Server, check_notify, receive
from cases_large_out import announced
from packets import MEDIUM, NOTIFY, PACK, PROBE, PULL, PULL_REPLY, RNDV, SMALL, TINY, build, pattern
from peer import Missing, plus

URGENT = 1


@case(without_checksums)
def probes_are_answered(peer):
    """A frame of the same size comes back with its cookie (docs/reference/wire.md 10)."""
    partner = peer.partner()
    partner.connect()
    for size in (60, 100, 1514, peer.mode.mtu + 14):
        peer.waiting(PROBE, partner.endpoint)
        probe = build(peer.mode, PROBE, peer.subject_mac, peer.mac, **partner.head(size=size, cookie=size * 3))
        peer.send_raw(probe[:48] + bytes(max(12, size - 48)))
        answer = partner.take(PROBE, lambda f: f["answer"])
        partner.exact("block.probe", answer, size=size, cookie=size * 3, answer=1)
        peer.rules.check("block.probe", "docs/reference/wire.md 10", "size of the answer", size, len(answer.raw))
    # A probe that was cut on the way names a larger size than it has.
    probe = build(peer.mode, PROBE, peer.subject_mac, peer.mac, **partner.head(size=1000, cookie=7))
    peer.send_raw(probe[:48] + bytes(500))
    partner.fence()
    peer.rules.check("block.probe_that_was_cut", "docs/reference/wire.md 10", "answers", 0,
                     len([f for f in peer.waiting(PROBE, partner.endpoint) if f["cookie"] == 7]))


@case(without_checksums)
def nothing_that_was_not_announced(peer):
    partner = peer.partner(features=0).connected_by_subject()
    check = peer.rules.check
    peer.ask("burst 200 0 20")
    frames, end = [], time.monotonic() + 12
    while len(frames) < 200:
        if time.monotonic() > end:
            raise Missing(f"{len(frames)} of 200 messages came")
        peer.pump(0.1)
        for frame in peer.waiting((TINY, PACK), partner.endpoint):
            if frame["seq"] == partner.wanted:
                frames.append(frame)
                partner.wanted = plus(partner.wanted, 1)
        partner.ack()
    check("block.only_announced_features", "docs/reference/wire.md 13", "types of short messages", {TINY}, {f.kind for f in frames})
    check("block.only_announced_features", "docs/reference/wire.md 6", "flags of TINY", {0}, {f.raw[19] for f in frames})
    rndv = announced(peer, partner, 100000, 2)
    check("block.only_announced_features", "docs/reference/wire.md 6", "RNDV F19 flags", 0, rndv.raw[19])
    check("block.only_announced_features", "docs/reference/wire.md 4", "bytes behind RNDV's 8", 8, rndv["length"])
    partner.pull(rndv, 0x31, 0, peer.mode.reply_max)
    reply = partner.take(PULL_REPLY)
    check("block.only_announced_features", "docs/reference/wire.md 6", "PULL_REPLY F15 flags", 0, reply.raw[15])
    partner.notify(rndv, 100000)
    peer.ask("wait 1 8000")


@case(without_checksums)
def the_mark(peer):
    """Messages, RNDV, and the last frames of an answer are urgent. No earlier frame is."""
    partner = peer.partner(features=block.MARK | block.SACK).connected_by_subject()
    check = peer.rules.check
    for length, kind in ((8, TINY), (100, SMALL)):
        peer.ask(f"send 1 1 {length} 1")
        check("block.mark", "docs/reference/wire.md 6", f"flag of {length} bytes", URGENT, partner.take(kind).raw[19] & URGENT)
        partner.wanted = plus(partner.wanted, 1)
        partner.ack()
    peer.ask("send 1 1 20000 1")
    fragments, have = [], 0
    while have < 20000:
        fragments.append(partner.take(MEDIUM))
        have += fragments[-1]["frag_length"]
    check("block.mark", "docs/reference/wire.md 6", "flags of fragments", [0] * (len(fragments) - 1) + [URGENT], [f.raw[19] & URGENT for f in fragments])
    partner.wanted = plus(partner.wanted, 1)
    partner.ack()
    rndv = announced(peer, partner, 100000, 2)
    check("block.mark", "docs/reference/wire.md 6", "flag of RNDV", URGENT, rndv.raw[19] & URGENT)
    for quiet, last in ((0, URGENT), (16, 0)):
        partner.pull(rndv, 0x40 + quiet, 0, 3 * peer.mode.reply_max, flags=quiet)
        flags = [partner.take(PULL_REPLY, lambda f: f["handle"] == 0x40 + quiet).raw[15] & URGENT for _ in range(3)]
        check("block.mark", "docs/reference/wire.md 6", f"flags of replies, quiet {quiet}", [0, 0, last], flags)
    partner.notify(rndv, 100000)
    peer.ask("wait 1 8000")


@case(lambda peer: without_checksums(peer) and not peer.mode.wire)
def the_tail(peer):
    """RNDV carries the last bytes of a large message that would need a reply of their own, at most 120."""
    partner = peer.partner(features=block.TAIL).connected_by_subject()
    length = 20 * peer.mode.reply_max + 50
    peer.ask(f"send 1 1 {length} 7")
    rndv = partner.take(RNDV)
    check = peer.rules.check
    check("block.tail", "docs/reference/wire.md 3", "RNDV F20 length at least 8, at most 128", True, 8 <= rndv["length"] <= 128)
    check("block.tail", "docs/reference/wire.md 3", "the end of the message", pattern(length, 7)[length - len(rndv.data):], rndv.data)
    partner.wanted = 2
    partner.notify(rndv, length)
    peer.rules.check("block.tail", "protocol 8.1", "how the send ended", f"done 0 1 {length} {length} sent", peer.ask("wait 1 8000"))


@case(lambda peer: without_checksums(peer) and not peer.mode.wire)
def unscheduled_data(peer):
    """With leave, which a NOTIFY gives, the first frames follow their RNDV unscheduled [docs/reference/wire.md 17]."""
    partner = peer.partner(features=block.UNSCHEDULED).connected_by_subject()
    check, length = peer.rules.check, 100000
    for leave, before in ((8, 0), (0, 8), (8, 0)):
        peer.ask(f"send 1 1 {length} 7")
        rndv = partner.take(RNDV, lambda f: f["seq"] == partner.wanted)  # not a repetition of an earlier one
        check("block.unscheduled", "docs/reference/wire.md 17", "RNDV F19 flag unscheduled", before, rndv.raw[19] & 8)
        if before:
            unit, frames, pad = int.from_bytes(rndv.data[0:2], "big"), rndv.data[2], rndv.data[3]
            check("block.unscheduled", "docs/reference/wire.md 17", "RNDV F51", 0, pad)
            check("block.unscheduled", "docs/reference/wire.md 17", "as many as 64 KiB hold", True, 0 < frames <= 64 and unit * frames <= 65536)
            handle = rndv["seq"] << 16 | rndv["region_seq"] << 8 | rndv["region"]
            magic = 0x55A50000 | 0 << 8 | (partner.endpoint ^ 0x80)
            for i in range(frames):
                reply = partner.take(PULL_REPLY)
                got = (reply["handle"], reply["magic"], reply["frame_seq"], reply["offset"], reply.data)
                check("block.unscheduled", "docs/reference/wire.md 17", f"frame {i}",
                      (handle, magic, i, i * unit, pattern(length, 7)[i * unit:(i + 1) * unit]), got)
        else:
            check("block.unscheduled", "docs/reference/wire.md 17", "RNDV brings the tail only", True, rndv["length"] <= 128)
        partner.wanted = plus(partner.wanted, 1)
        partner.notify(rndv, length, flags=leave)
        check("block.unscheduled", "protocol 8.1", "how the send ended", f"done 0 1 {length} {length} sent", peer.ask("wait 1 8000"))
    check("block.unscheduled", "docs/reference/wire.md 17", "what was not announced", 0, len(peer.waiting(PULL_REPLY, partner.endpoint)))


@case(lambda peer: without_checksums(peer) and not peer.mode.wire)
def parked_message(peer):
    """A message whose envelope is requested comes again as RNDV under its number, and no other message does
    [docs/reference/wire.md 19]."""
    check = peer.rules.check
    for length, kind in ((8, TINY), (100, SMALL)):
        # The messages behind a parked one go as RNDVs at once, so each length has a connection.
        partner = peer.partner(features=block.PARK | block.SACK).connected_by_subject()
        peer.ask(f"send 1 1 {length} 7")
        whole = partner.take(kind, lambda f: f["seq"] == partner.wanted)
        partner.ack(flags=8)
        rndv = partner.take(RNDV)
        check("block.park", "docs/reference/wire.md 19", "number of the RNDV", whole["seq"], rndv["seq"])
        check("block.park", "docs/reference/wire.md 19", "its match information", whole["match"], rndv["match"])
        check("block.park", "docs/reference/wire.md 19", "its length", length, rndv["msg_length"])
        partner.ack(flags=8)  # once more: it already is an RNDV
        partner.pull(rndv, 0x51, 0, length)
        reply = partner.take(PULL_REPLY)
        check("block.park", "docs/reference/wire.md 19", "its data", pattern(length, 7), reply.data)
        partner.wanted = plus(partner.wanted, 1)
        partner.notify(rndv, length)
        check("block.park", "docs/reference/wire.md 19", "how the send ended", f"done 0 1 {length} {length} sent", peer.ask("wait 1 8000"))


@case(lambda peer: without_checksums(peer) and not peer.mode.wire)
def unscheduled_data_received(peer):
    """Unscheduled data behind our RNDV are received without a PULL. Other data are not."""
    partner = peer.partner(features=block.UNSCHEDULED | block.SACK)
    partner.connect()
    check, frames = peer.rules.check, 3
    unit = receive(peer, partner, 100000).unit
    length = unit * (frames - 1) + 77
    message = pattern(length, 3)
    for false_first in (False, True):
        peer.ask(f"recv 1 b0 ffffffffffffffff {length} 3")
        seq = partner.rndv(length, 0xB0, region=9, region_seq=77, flags=8, length=12,
                           data=unit.to_bytes(2, "big") + bytes([frames, 0]))
        key = dict(handle=seq << 16 | 77 << 8 | 9, magic=0x55A50000 | partner.endpoint << 8 | 0x80)
        if false_first:  # acknowledgements of another message, and of another endpoint
            partner.reply(dict(key, handle=key["handle"] ^ 0x100), 0, bytes(unit), 0)
            partner.reply(dict(key, magic=key["magic"] ^ 0x100), 0, bytes(unit), 0)
        for i in range(frames):
            partner.reply(key, i * unit, message[i * unit:(i + 1) * unit], i)
        notify = partner.take(NOTIFY)
        check("block.unscheduled_in", "docs/reference/wire.md 17", "NOTIFY F19 gives leave", 8, notify.raw[19] & 8)
        check("block.unscheduled_in", "docs/reference/wire.md 17", "how the receive ended", f"done 0 b0 {length} {length} good", peer.ask("wait 1 8000"))
        check("block.unscheduled_in", "docs/reference/wire.md 17", "PULLs", 0, len(peer.waiting(PULL, partner.endpoint)))
        partner.wanted = plus(partner.wanted, 1)
        partner.ack()


def record(match, data):
    return match.to_bytes(8, "big") + len(data).to_bytes(2, "big") + bytes(2) + data


@case(without_checksums)
def packs_are_read(peer):
    partner = connected(peer)
    data = b"".join(record(0xC01 + i, pattern(length, i)) for i, length in enumerate((3, 0, 128)))
    partner.peer.send(PACK, data, **partner.head(length=len(data), seq=1, ack=1))
    partner.seq = 4
    for i, length in enumerate((3, 0, 128)):
        received(peer, "block.pack_is_read", "docs/reference/wire.md 14", 0xC01 + i, length, i)
    acknowledged(partner)
    # A record that announces more than the frame holds ends the PACK. Records before it count.
    data = record(0xC11, pattern(4, 1)) + record(0xC12, bytes(129)) + record(0xC13, b"")
    partner.peer.send(PACK, data, **partner.head(length=len(data), seq=4, ack=1))
    partner.seq = 5
    received(peer, "block.pack_of_lies", "docs/reference/wire.md 12", 0xC11, 4, 1)
    acknowledged(partner)
    partner.fence()
    nothing_arrived(peer, "block.pack_of_lies", "docs/reference/wire.md 12", "what followed", 0xC13)


@case(lambda peer: without_checksums(peer) and not peer.mode.wire)
def packets_share_frames(peer):
    """Packets that announce, request and report large messages may be coalesced, in both directions."""
    partner = peer.partner(features=block.SHARE | block.SACK).connected_by_subject()
    check, length = peer.rules.check, 50000
    servers = {}
    with peer.gathering(partner):
        for slot in (1, 2):
            peer.ask(f"recv {slot} {0xC80 + slot:x} {EXACT_MATCH} {length} {slot}")
            rndv = dict(region=10 + slot, region_seq=5, region_offset=0)
            servers[10 + slot] = Server(partner, rndv, length, pattern(length, slot))
            partner.rndv(length, 0xC80 + slot, **rndv)
        partner.ack()
    before, left = peer.packs_of_packets, 2
    while left:
        frame = partner.take((PULL, NOTIFY))
        server = servers[frame["region"]]
        if frame.kind == NOTIFY:
            check_notify(partner, frame, server.rndv, length)
            left -= 1
        else:
            server.check_pull(frame)
            server.answer(frame)
    check("block.share", "docs/reference/wire.md 14", "PULLs of one look share a frame", True, peer.packs_of_packets > before)
    for slot in (1, 2):
        check("block.share", "docs/reference/wire.md 14", "how the receive ended", f"done 0 {0xC80 + slot:x} {length} {length} good",
              peer.ask(f"wait {slot} 8000"))
    for slot in (1, 2):
        peer.ask(f"send {slot} {slot} {length} 7")
    rndvs = [partner.take(RNDV, lambda f, n=n: f["seq"] == plus(partner.wanted, n)) for n in (0, 1)]
    partner.wanted = plus(partner.wanted, 2)
    with peer.gathering(partner):
        for rndv in rndvs:
            partner.notify(rndv, length)
    for slot in (1, 2):
        check("block.share", "docs/reference/wire.md 14", "how the send ended", f"done 0 {slot} {length} {length} sent", peer.ask(f"wait {slot} 8000"))


@case(without_checksums)
def packs_are_sent(peer):
    """All messages of a burst come, alone or coalesced, each with the next number."""
    partner = peer.partner(features=block.PACK | block.SACK).connected_by_subject()
    peer.ask("burst 300 0 20")
    matches, packs = [], 0
    end = time.monotonic() + 12
    while len(matches) < 300:
        if time.monotonic() > end:
            raise Missing(f"{len(matches)} of 300 messages came")
        peer.pump(0.1)
        for frame in peer.waiting((TINY, PACK), partner.endpoint):
            if frame["seq"] != partner.wanted:
                continue
            found = [(frame["match"], frame.data)] if frame.kind == TINY else records(frame.data)
            packs += frame.kind == PACK
            for match, data in found:
                matches.append(match)
                peer.rules.check("block.pack_is_sent", "docs/reference/wire.md 14", "data", pattern(20, 0), data)
            partner.wanted = plus(partner.wanted, len(found))
        partner.ack()
    peer.rules.check("block.pack_is_sent", "docs/reference/wire.md 14", "messages", list(range(300)), matches)
    peer.rules.true("block.pack_is_sent", "docs/reference/wire.md 14", "a burst shares frames", packs > 0)


def records(data):
    found = []
    while data:
        length = int.from_bytes(data[8:10], "big")
        found.append((int.from_bytes(data[0:8], "big"), data[12:12 + length]))
        data = data[12 + length:]
    return found
