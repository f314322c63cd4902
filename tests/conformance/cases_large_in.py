# SPDX-License-Identifier: BSD-3-Clause
"""Large messages that the library receives: its requests, its use of the answers, and its NOTIFY."""
import block
from cases import case, extended
from packets import MAGIC, NACK_MCP, NOTIFY, PULL, pattern
from peer import plus

EXACT_MATCH = "ffffffffffffffff"
TRUNCATED, BAD_RDMAWIN, BAD_SESSION, MX_CLOSED = 5, 13, 10, 8


class Server:
    """Answers the pulls of one message until its NOTIFY, and checks both."""

    def __init__(self, partner, rndv, room, message, damage=None):
        self.partner, self.peer, self.mode = partner, partner.peer, partner.peer.mode
        self.rndv, self.message = rndv, message
        self.total = min(len(message), room)
        self.damage = damage or (lambda pull, index, send: send())
        self.asked, self.frames, self.handle = {}, set(), None

    def check_pull(self, pull):
        rndv, mode = self.rndv, self.mode
        check = self.peer.rules.check
        unit = pull.get("reply_size") or mode.reply_max
        self.unit, o = unit, rndv["region_offset"] % unit
        if self.handle is None:
            self.handle = pull["handle"]
        free = ("frame", "first_offset", "block") + (("reply_size",) if self.partner.extended else ())
        self.partner.exact("pull.fields", pull, free=free, total=self.total, region=rndv["region"],
                           region_seq=rndv["region_seq"], region_offset=rndv["region_offset"], handle=self.handle,
                           magic=MAGIC ^ pull["src_endpoint"])
        frame, first, size = pull["frame"], pull["first_offset"], pull["block"]
        start = frame * unit - o + first
        replies = -(-(first + size) // unit)
        limit = mode.block_frames if not self.partner.extended else 64
        check("pull.replies_of_a_block", "wire 4.5", f"replies of the block at frame {frame} within {limit}", True, 1 <= replies <= limit)
        check("pull.first_offset", "wire 4.5", f"first_frame_offset at frame {frame}", True, first == o if frame == 0 else first < unit)
        check("pull.range", "wire 4.5", f"block {start}+{size} of {self.total}", True, 0 <= start and size > 0 and start + size <= self.total)
        if not self.partner.extended and mode.wire and not self.frames & set(range(frame, frame + replies)):
            n = mode.block_frames
            check("pull.blocks_of_eight_frames", "wire 4.5", f"frame_index {frame} begins a block", 0, frame % n)
            whole = n * unit - (o if frame == 0 else 0)
            check("pull.blocks_of_eight_frames", "wire 4.5", f"block_length at frame {frame}", min(whole, self.total - start), size)
        self.frames |= set(range(frame, frame + replies))
        self.asked[frame] = self.asked.get(frame, 0) + 1

    def answer(self, pull):
        o = self.rndv["region_offset"] % self.unit
        index = pull["frame"]
        at = index * self.unit - o + pull["first_offset"]
        end, room = at + pull["block"], self.unit - pull["first_offset"]
        while at < end:
            data = self.message[at:min(at + room, end)]

            def send(at=at, data=data, index=index, **over):
                self.partner.reply(pull, at, data, index, **over)

            self.damage(pull, index, send)
            at, index, room = at + len(data), index + 1, self.unit

    def serve(self):
        while True:
            frame = self.partner.take((PULL, NOTIFY))
            if frame.kind == NOTIFY:
                return frame
            self.check_pull(frame)
            self.answer(frame)


def check_notify(partner, notify, rndv, total):
    partner.exact("notify.fields", notify, total=total, region=rndv["region"], region_seq=rndv["region_seq"],
                  seq=partner.wanted, ack=partner.seq)
    partner.wanted = plus(partner.wanted, 1)
    partner.ack()


def receive(peer, partner, length, seed=1, room=None, damage=None, region_offset=0, status=0, rule="large.received",
            match=0xA00):
    """Sends one large message, from RNDV to the end of the subject's receive."""
    room = length if room is None else room
    message = pattern(length, seed)
    rndv = dict(region=(seed * 13) % 256, region_seq=(23 + seed) % 256, region_offset=region_offset)
    peer.ask(f"recv 1 {match:x} {EXACT_MATCH} {room} {seed}")
    partner.rndv(length, match, **rndv)
    server = Server(partner, rndv, room, message, damage)
    notify = server.serve()
    check_notify(partner, notify, rndv, min(length, room))
    peer.rules.check(rule, "protocol 8.2", f"how the receive of {length} bytes ended",
                     f"done {status} {match:x} {length} {min(length, room)} good", peer.ask("wait 1 8000"))
    peer.waiting((PULL, NOTIFY), partner.endpoint)
    return server


@case()
def large_receive(peer):
    partner = peer.partner()
    partner.connect()
    for seed, length in enumerate((32769, 100000, 4096 * 8, 1, 1000003), 1):
        receive(peer, partner, length, seed)


@case()
def large_receive_from_whom_it_connected_to(peer):
    """A reply names our session. PULL and NOTIFY carry it although we never connected [protocol 3.3]."""
    partner = peer.partner().connected_by_subject()
    receive(peer, partner, 100000)


@case()
def large_receive_unexpected(peer):
    partner = peer.partner()
    partner.connect()
    partner.rndv(50000, 0xA01, region=9)
    partner.fence()
    peer.rules.check("rndv.unexpected", "protocol 9", "what the subject sees", "found a01 50000", peer.ask(f"probe a01 {EXACT_MATCH}"))
    peer.rules.check("rndv.unexpected", "protocol 8.2", "pulls before a receive", 0, len(peer.waiting(PULL, partner.endpoint)))
    peer.ask(f"recv 1 a01 {EXACT_MATCH} 50000 1")
    rndv = dict(region=9, region_seq=23, region_offset=0)
    check_notify(partner, Server(partner, rndv, 50000, pattern(50000, 1)).serve(), rndv, 50000)
    peer.rules.check("large.received", "protocol 8.2", "how the receive ended", "done 0 a01 50000 50000 good", peer.ask("wait 1 8000"))


@case()
def large_receive_at_an_offset(peer):
    """A sender's region may begin inside a page. Frames are aligned to the region [wire 4.5]."""
    partner = peer.partner()
    partner.connect()
    m = peer.mode.reply_max
    for seed, (offset, length) in enumerate(((100, 100000), (m - 1, 70000), (1, 10), (4000, 40000)), 1):
        receive(peer, partner, length, seed, region_offset=offset, rule="large.at_an_offset")


@case()
def large_receive_truncated(peer):
    partner = peer.partner()
    partner.connect()
    receive(peer, partner, 100000, 1, room=50001, status=TRUNCATED, rule="large.truncated")
    receive(peer, partner, 100000, 2, room=0, status=TRUNCATED, rule="large.truncated")
    receive(peer, partner, 0, 3, rule="large.synchronous_of_nothing")


@case()
def large_receive_with_losses(peer):
    partner = peer.partner()
    partner.connect()
    lost = set()

    def lose(pull, index, send):
        if index in (0, 3, 9, 10, 11) and index not in lost:
            lost.add(index)
        else:
            send()

    server = receive(peer, partner, 4096 * 30, damage=lose, rule="large.after_losses")
    peer.rules.true("pull.asked_again", "protocol 8.3", "a block was asked for twice", max(server.asked.values()) > 1 or len(server.asked) > 4)


@case()
def large_receive_with_repetitions_and_disorder(peer):
    partner = peer.partner()
    partner.connect()
    held = []

    def swap(pull, index, send):
        held.append(send)
        if len(held) == 2:
            held.pop()()
            held.pop()()
            send()

    receive(peer, partner, peer.mode.reply_max * 32, damage=swap, rule="large.after_disorder")


@case()
def large_receive_with_false_replies(peer):
    """Replies that do not belong to the pull do not touch the message [wire 4.6]."""
    partner = peer.partner()
    partner.connect()

    def lie(pull, index, send):
        if index < 8:
            bad = bytes(64)
            m = peer.mode.reply_max
            for over in (dict(handle=pull["handle"] ^ 1), dict(magic=pull["magic"] ^ 0x100), dict(magic=pull["magic"] ^ 2),
                         dict(frame_seq=(index + 100) % 256), dict(offset=index * m + 7), dict(offset=0xFFFFF000),
                         dict(offset=1 << 30)):
                fields = dict(data=bad, at=index * m)
                if "offset" in over:
                    fields["at"] = over["offset"]
                rest = {key: value for key, value in over.items() if key != "offset"}
                partner.reply(pull, fields["at"], bad, index, **rest)
            partner.reply(pull, index * m, bad, index)  # another length than requested
            partner.reply(pull, index * m, b"", index)
        send()

    receive(peer, partner, 120000, damage=lie, rule="large.false_replies_are_dropped")


@case(extended)
def large_receive_with_answers_of_another_endpoint(peer):
    """A peer that names its endpoint in its answers is taken at its word (docs/reference/wire.md 3)."""
    partner = peer.partner(features=block.SACK | block.PROBE | block.SOURCE)
    partner.connect()

    def lie(pull, index, send):
        unit = pull.get("reply_size") or peer.mode.reply_max
        for source in (partner.endpoint ^ 1, partner.endpoint ^ 0x80) if index < 8 else ():
            partner.reply(pull, index * unit, bytes(unit), index, source=source)
            peer.send(NACK_MCP, peer_index=peer.index, src_endpoint=0, refusing=source, code=4, handle=pull["handle"], magic=pull["magic"])
        send()

    receive(peer, partner, 120000, damage=lie, rule="large.answers_of_another_endpoint")


@case()
def large_receive_refused(peer):
    for code, status in ((4, BAD_RDMAWIN), (3, BAD_SESSION), (2, MX_CLOSED)):
        partner = peer.partner()
        partner.connect()
        peer.ask(f"recv 1 a02 {EXACT_MATCH} 100000 1")
        partner.rndv(100000, 0xA02)
        pull = partner.take(PULL)
        nack = dict(peer_index=peer.index, src_endpoint=0, handle=pull["handle"], magic=pull["magic"])
        for unknown in (0, 9, 255):
            peer.send(NACK_MCP, code=unknown, **nack)
        peer.send(NACK_MCP, code=4, **dict(nack, handle=pull["handle"] ^ 1))
        partner.fence()
        peer.rules.check("nack.unknown_codes_are_ignored", "wire 4.11", "the receive", "pending", peer.ask("wait 1 0"))
        peer.send(NACK_MCP, code=code, **nack)
        peer.rules.check("nack.ends_a_pull", "protocol 8.2", "how the receive ended", ["done", str(status)], peer.ask("wait 1 8000").split()[:2])
        if partner.extended and code != 4:  # another instance has the peer's place
            partner.fence()
            peer.rules.check("nack.ends_the_conversation", "docs/reference/wire.md 3", "NOTIFYs to an instance that is gone", 0,
                             len(peer.waiting(NOTIFY, partner.endpoint)))
        else:
            check_notify(partner, partner.take(NOTIFY), dict(region=5, region_seq=23, region_offset=0), 0)
        peer.waiting(PULL, partner.endpoint)


@case()
def notify_is_repeated(peer):
    partner = peer.partner()
    partner.connect()
    peer.ask(f"recv 1 a03 {EXACT_MATCH} 40000 1")
    rndv = dict(region=5, region_seq=23, region_offset=0)
    partner.rndv(40000, 0xA03)
    first = Server(partner, rndv, 40000, pattern(40000, 1)).serve()
    again = partner.take(NOTIFY)
    peer.rules.check("notify.repeated_unchanged", "protocol 6", "bytes of the repetition", first.raw, again.raw)
    check_notify(partner, again, rndv, 40000)
    peer.ask("wait 1 8000")
    # The RNDV once more: it had been received.
    partner.rndv(40000, 0xA03, seq=1)
    partner.fence()
    peer.rules.check("rndv.twice", "protocol 4", "what the subject sees", "nothing", peer.ask(f"probe a03 {EXACT_MATCH}"))


@case()
def late_replies_are_dropped(peer):
    """The memory belongs to the application once the message is complete."""
    partner = peer.partner()
    partner.connect()
    pulls = []

    def note(pull, index, send):
        pulls.append(pull)
        send()

    server = receive(peer, partner, 40000, damage=note, match=0xA04)
    peer.ask(f"recv 1 a05 {EXACT_MATCH} 40000 2")
    partner.rndv(40000, 0xA05, region=6)
    rndv = dict(region=6, region_seq=23, region_offset=0)
    for pull in pulls:
        partner.reply(pull, 0, bytes(server.unit), 0)
    next_server = Server(partner, rndv, 40000, pattern(40000, 2))
    check_notify(partner, next_server.serve(), rndv, 40000)
    peer.rules.true("pull.handles_are_not_reused", "protocol 8.3", "another handle", next_server.handle != server.handle)
    peer.rules.check("large.late_replies_are_dropped", "protocol 8.3", "the next message", "done 0 a05 40000 40000 good", peer.ask("wait 1 8000"))
