# SPDX-License-Identifier: BSD-3-Clause
"""Large and synchronous messages that the library sends: RNDV, its replies to PULL, its answer to NOTIFY."""
from cases import case
from cases_eager_out import forget_repetitions, quiet
from packets import MAGIC, NACK_LIB, NACK_MCP, PULL_REPLY, RNDV, TRUC, pattern
from peer import plus

MX_CLOSED, MX_BAD_SESSION, TRUNCATED = 8, 10, 5


def announced(peer, partner, length, seed, command="send", slot=1, match=0x900):
    """Lets the subject send a large message. Returns its RNDV, which is acknowledged."""
    peer.ask(f"{command} {slot} {match:x} {length} {seed}")
    rndv = partner.take(RNDV)
    partner.exact("rndv.fields", rndv, free=("region", "region_seq", "region_offset"), length=8, seq=partner.wanted,
                  ack=partner.seq, match=match, msg_length=length)
    partner.wanted = plus(partner.wanted, 1)
    partner.ack()
    return rndv


def block_of(mode, length, number, offset=0):
    """Returns first frame, its offset, and bytes of a block [wire 4.5]."""
    whole, each = mode.reply_max, mode.reply_max * mode.block_frames
    o = offset % whole
    if number == 0:
        return 0, o, min(each - o, length)
    done = number * each - o
    return number * mode.block_frames, 0, min(each, length - done)


def expect_replies(partner, rndv, handle, frame, first, size, message, rule="reply"):
    """Expects all replies to one PULL, in order, byte by byte."""
    peer, mode = partner.peer, partner.peer.mode
    o = rndv["region_offset"] % mode.reply_max
    at, end, index = frame * mode.reply_max - o + first, frame * mode.reply_max - o + first + size, frame
    room = mode.reply_max - first
    while at < end:
        reply = partner.take(PULL_REPLY, lambda f: f["handle"] == handle)
        length = min(room, end - at)
        partner.exact(f"{rule}.fields", reply, frame_seq=index % 256, length=length, offset=at, handle=handle,
                      magic=MAGIC ^ partner.endpoint)
        peer.rules.check(f"{rule}.data", "wire 4.6", f"PULL_REPLY data at {at}", message[at:at + length], reply.data)
        at, index, room = at + length, index + 1, mode.reply_max


def pull_all(partner, rndv, length, message, handle=0x23):
    mode, done, number = partner.peer.mode, 0, 0
    while done < length:
        frame, first, size = block_of(mode, length, number, rndv["region_offset"])
        partner.pull(rndv, handle, frame, size, first)
        expect_replies(partner, rndv, handle, frame, first, size, message)
        done, number = done + size, number + 1


def truc_after_notify(partner, notify_seq):
    peer = partner.peer
    truc = partner.take(TRUC)
    acks = partner.acks = getattr(partner, "acks", 0) + 1
    partner.exact("notify.is_acknowledged", truc, free=("length",), data_type=0x55, session_id=partner.session,
                  acknum=acks, seq=plus(notify_seq, 1), send_seq=plus(notify_seq, 1))
    peer.rules.check("notify.is_acknowledged", "wire 4.8", "TRUC F20 length", 16, truc["length"])


def large_sends(peer, partner):
    for seed, length in enumerate((32769, 100000, 300001)):
        if length <= peer.mode.medium_max and peer.mode.mtu < 9000 and length < 40000:
            length = 60000
        message = pattern(length, seed)
        rndv = announced(peer, partner, length, seed)
        pull_all(partner, rndv, length, message, 0x23 + (seed << 22))
        seq = partner.notify(rndv, length)
        peer.rules.check("rndv.send_completes", "protocol 8.1", "how the send ended", f"done 0 900 {length} {length} sent",
                         peer.ask("wait 1 8000"))
        truc_after_notify(partner, seq)
        forget_repetitions(partner)


@case()
def large_send_to_a_peer_that_was_connected(peer):
    large_sends(peer, peer.partner().connected_by_subject())


@case()
def large_send_to_a_peer_that_connected(peer):
    partner = peer.partner()
    partner.connect()
    large_sends(peer, partner.connected_by_subject())


@case()
def large_send_is_repeated_until_acknowledged(peer):
    partner = peer.partner().connected_by_subject()
    peer.ask("send 1 901 100000 1")
    first = partner.take(RNDV)
    again = partner.take(RNDV)
    peer.rules.check("rndv.repeated_unchanged", "protocol 6", "bytes of the repetition", first.raw, again.raw)
    partner.wanted = 2
    partner.ack()
    if not peer.extended:
        quiet(partner, "the acknowledgement of RNDV", "rndv.acknowledged_is_not_repeated", "protocol 6")
    forget_repetitions(partner)
    seq = partner.notify(first, 100000)
    truc_after_notify(partner, seq)
    # The NOTIFY once more: its acknowledgement had been lost.
    partner.notify(first, 100000, seq)
    truc_after_notify(partner, seq)
    peer.rules.check("rndv.send_completes", "protocol 8.1", "how the send ended", "done 0 901 100000 100000 sent", peer.ask("wait 1 8000"))


@case()
def synchronous_sends(peer):
    """A synchronous message of any length is announced. The receiver may pull nothing [wire 4.4]."""
    partner = peer.partner().connected_by_subject()
    for length in (0, 5, 5000):
        rndv = announced(peer, partner, length, 1, "ssend", match=0x902)
        peer.rules.check("rndv.synchronous_waits", "protocol 8.1", "a synchronous send before NOTIFY", "pending", peer.ask("wait 1 0"))
        if length:
            pull_all(partner, rndv, length, pattern(length, 1))
        seq = partner.notify(rndv, length)
        peer.rules.check("rndv.synchronous", "protocol 8.1", "how the send ended", f"done 0 902 {length} {length} sent", peer.ask("wait 1 8000"))
        truc_after_notify(partner, seq)
        forget_repetitions(partner)


@case()
def pulls_of_any_shape(peer):
    partner = peer.partner().connected_by_subject()
    mode, length = peer.mode, 200000
    message = pattern(length, 4)
    rndv = announced(peer, partner, length, 4)
    m = mode.reply_max
    for frame, first, size in ((0, 0, 1), (1, 0, m), (2, 0, 3 * m), (1, 100, m - 100), (1, 100, 2 * m), (3, m - 1, 2),
                               (0, 0, m * mode.block_frames if m * mode.block_frames < length else 2 * m)):
        partner.pull(rndv, 0x24, frame, size, first)
        expect_replies(partner, rndv, 0x24, frame, first, size, message, "reply.any_shape")
    # The same PULL twice: the answer may have been lost, and is given again.
    for _ in range(2):
        partner.pull(rndv, 0x25, 2, m, **({"flags": 8} if peer.extended else {}))
        expect_replies(partner, rndv, 0x25, 2, 0, m, message, "reply.again")
    # Only the puller interprets handle and magic.
    partner.pull(rndv, 0xFFFFFFFF, 1, m)
    expect_replies(partner, rndv, 0xFFFFFFFF, 1, 0, m, message, "reply.echo")
    seq = partner.notify(rndv, length)
    peer.rules.check("rndv.send_completes", "protocol 8.1", "how the send ended", f"done 0 900 {length} {length} sent", peer.ask("wait 1 8000"))
    truc_after_notify(partner, seq)


@case()
def pulls_refused(peer):
    partner = peer.partner().connected_by_subject()
    mode, length = peer.mode, 100000
    message, m = pattern(length, 5), peer.mode.reply_max
    rndv = announced(peer, partner, length, 5)
    for code, what, over in ((3, "session", dict(session=partner.their_session ^ 8)),
                             (4, "region", dict(region=(rndv["region"] + 77) % 256)),
                             (4, "generation", dict(region_seq=(rndv["region_seq"] + 9) % 256)),
                             (2, "closed_endpoint", dict(dst_endpoint=9)),
                             (1, "impossible_endpoint", dict(dst_endpoint=254))):
        refused = code > 2 or not peer.rules.known
        for _ in range(24 if refused else 1):
            partner.pull(rndv, 0x77 + code, 0, m, **over)
            nack = peer.take(NACK_MCP, partner.endpoint, patience=0.5, missing=False)
            if nack:
                break
        if peer.rules.true(f"nack.pull_{what}", "wire 7", "NACK_MCP came", nack):
            partner.exact(f"nack.pull_{what}", nack, src_endpoint=partner.endpoint, code=code, refusing=over.get("dst_endpoint", 0),
                          handle=0x77 + code, magic=MAGIC ^ partner.endpoint)
    frames = mode.block_frames + 1 if not peer.extended else 80
    for what, frame, size, over in (("too many replies", 0, min(frames * m, 0xFFFF if mode.wire else 1 << 30), {}),
                                    ("a range outside", 1 + length // m, m, {}),
                                    ("a range outside in part", length // m, m, {}),
                                    ("offset beyond a frame", 0, m, dict(first_offset=m + 1))):
        if what == "too many replies" and frames * m > length:
            continue
        partner.pull(rndv, 0x99, frame, size, **over)
    partner.pull(rndv, 0x9A, 0, m)
    expect_replies(partner, rndv, 0x9A, 0, 0, m, message)
    partner.fence()
    peer.rules.check("pull.out_of_range_is_dropped", "wire 7", "replies", 0, len(peer.waiting(PULL_REPLY, partner.endpoint)))
    partner.notify(rndv, length)
    peer.ask("wait 1 8000")


@case()
def notify_of_less(peer):
    """The sender learns how much was taken. A NOTIFY of another generation counts as a number and has no other
    effect."""
    partner = peer.partner().connected_by_subject()
    rndv = announced(peer, partner, 100000, 1)
    other = dict(rndv, region_seq=(rndv["region_seq"] + 1) % 256)
    truc_after_notify(partner, partner.notify(other, 100000))
    peer.rules.check("notify.of_another_generation_is_ignored", "protocol 8.1", "the send", "pending", peer.ask("wait 1 0"))
    partner.notify(rndv, 40000)
    peer.rules.check("notify.of_less", "protocol 8", "how the send ended", f"done {TRUNCATED} 900 100000 40000 sent", peer.ask("wait 1 8000"))


@case()
def large_send_refused(peer):
    for code, status in ((2, MX_CLOSED), (3, MX_BAD_SESSION)):
        partner = peer.partner().connected_by_subject()
        peer.ask("send 1 903 100000 1")
        rndv = partner.take(RNDV)
        nack = dict(peer_index=peer.index, src_endpoint=partner.endpoint, dst_endpoint=0, index=peer.index, seq=rndv["seq"])
        peer.send(NACK_LIB, code=7, **nack)
        peer.send(NACK_LIB, code=0, **nack)
        forget_repetitions(partner)
        peer.rules.true("nack.unknown_codes_are_ignored", "wire 4.11", "RNDV is repeated", peer.take(RNDV, partner.endpoint, missing=False))
        peer.send(NACK_LIB, code=code, **nack)
        peer.rules.check("nack.ends_a_send", "wire 4.11", "how the send ended", ["done", str(status)], peer.ask("wait 1 8000").split()[:2])
