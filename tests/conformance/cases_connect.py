# SPDX-License-Identifier: BSD-3-Clause
"""Connection, with either side asking (specification: wire 4.1, protocol 3)."""
from cases import case, extended, plain
from packets import CONNECT, NACK_LIB, TINY, UNKNOWN_INDEX
from peer import NUMBER, TOLD_INDEX

MX_CLOSED, MX_BAD_KEY, MX_BAD_ENDPOINT = 8, 11, 12


def ask_connect(peer, slot=0, **options):
    """Lets the subject connect. Returns the request, which is not answered yet."""
    partner = peer.partner(automatic=False, **options)
    peer.ask(f"connect {slot} {peer.nic:x} {partner.endpoint} {partner.key}")
    return partner, partner.take(CONNECT, lambda f: not f["is_reply"])


def check_request(partner, request, rule, connect_seq=0):
    partner.exact(rule, request, free=("length", "index", "session", "peer_index"), key=partner.key, start=1, is_reply=0,
                  connect_seq=connect_seq)
    check = partner.peer.rules.check
    check(rule, "wire 4.1", "CONNECT F20 length is 16, or covers a block", True, request["length"] in (16, 44, 64))
    check(rule, "wire 6.3", "CONNECT F32 session is not 0xFFFFFFFF", True, request["session"] != 0xFFFFFFFF)
    check(rule, "wire 2.1", "CONNECT F26 index is not 0xFFFF", True, request["index"] != UNKNOWN_INDEX)
    check(rule, "wire 2.1", "CONNECT F14 index unknown or told", True, request["peer_index"] in (UNKNOWN_INDEX, TOLD_INDEX))


def completes(peer, slot, rule, section, status):
    got = peer.ask(f"wait {slot} 8000").split()
    peer.rules.check(rule, section, "how the subject's connect ended", ["done", str(status)], got[:2])



@case()
def connect_is_asked_and_repeated(peer):
    partner, request = ask_connect(peer)
    check_request(partner, request, "connect.request")
    again = partner.take(CONNECT)
    check_request(partner, again, "connect.request_repeated")
    for field in ("session", "connect_seq", "index"):
        peer.rules.check("connect.request_repeated", "protocol 3.1", f"CONNECT {field} as before", request[field], again[field])
    # Answers that do not belong to the request are ignored, and repetitions continue.
    for what, over in (("an answer to another request", dict(connect_seq=request["connect_seq"] + 1)),
                       ("an answer to another session", dict(session=request["session"] ^ 1)),
                       ("status 5", dict(status=5))):
        partner.answer(request, **over)
        peer.waiting(CONNECT, partner.endpoint)
        repeated = peer.take(CONNECT, partner.endpoint, lambda f: not f["is_reply"], missing=False)
        peer.rules.true("connect.strange_replies_are_ignored", "protocol 3.1", f"asks again after {what}", repeated)
    partner.answer(request)
    completes(peer, 0, "connect.reply_is_taken", "protocol 3.1", 0)


@case()
def connect_counts_its_requests(peer):
    partner, request = ask_connect(peer)
    partner.answer(request)
    completes(peer, 0, "connect.reply_is_taken", "protocol 3.1", 0)
    peer.waiting(CONNECT, partner.endpoint)
    peer.ask(f"connect 0 {peer.nic:x} {partner.endpoint} {partner.key}")
    second = partner.take(CONNECT, lambda f: not f["is_reply"])
    peer.rules.check("connect.requests_are_counted", "wire 4.1", "CONNECT F43 connect_seqnum of the second request",
                     (request["connect_seq"] + 1) & 0xFF, second["connect_seq"])
    peer.rules.check("connect.told_index_is_used", "wire 2.1", "CONNECT F14 of the second request", TOLD_INDEX, second["peer_index"])
    partner.answer(second)
    completes(peer, 0, "connect.reply_is_taken", "protocol 3.1", 0)


@case()
def connect_with_a_bad_key_fails(peer):
    partner, request = ask_connect(peer)
    partner.answer(request, status=11)
    completes(peer, 0, "connect.bad_key_ends_it", "protocol 3.1", MX_BAD_KEY)


@case()
def connect_is_refused(peer):
    for code, status in ((1, MX_BAD_ENDPOINT), (2, MX_CLOSED)):
        partner, request = ask_connect(peer)
        nack = dict(peer_index=peer.index, src_endpoint=partner.endpoint, dst_endpoint=0, index=peer.index, seq=0)
        # An undefined code ends nothing, least of all the process.
        peer.send(NACK_LIB, code=9, **nack)
        peer.waiting(CONNECT, partner.endpoint)
        again = peer.take(CONNECT, partner.endpoint, lambda f: not f["is_reply"], missing=False)
        peer.rules.true("nack.unknown_codes_are_ignored", "wire 4.11", "asks again after nack code 9", again)
        peer.send(NACK_LIB, code=code, **nack)
        completes(peer, 0, "connect.nack_ends_it", "protocol 3.1", status)


def check_reply(partner, reply, rule, **expected):
    peer = partner.peer
    fields = dict(session=partner.session, start=1, is_reply=1, connect_seq=0, status=0)
    fields.update(expected)
    partner.exact(rule, reply, free=("length", "index", "key"), **fields)
    peer.rules.check("connect.block_only_for_a_block", "docs/reference/wire.md 5", "CONNECT F20 length of a reply",
                     True, reply["length"] in (44, 64) if partner.extended else reply["length"] == 16)


@case()
def connect_is_answered(peer):
    partner = peer.partner()
    partner.request(connect_seq=77)
    reply = partner.take(CONNECT, lambda f: f["is_reply"])
    check_reply(partner, reply, "connect.reply", connect_seq=77)
    # The request again, as if the reply had been lost: the session stays the same.
    partner.request(connect_seq=77)
    again = partner.take(CONNECT, lambda f: f["is_reply"])
    peer.rules.check("connect.reply_again", "protocol 3.2", "CONNECT F36 session of the second reply", reply["key"], again["key"])


@case()
def connect_with_a_wrong_key_is_refused(peer):
    partner = peer.partner()
    partner.request(key=0x4321, connect_seq=3)
    reply = partner.take(CONNECT, lambda f: f["is_reply"])
    check_reply(partner, reply, "connect.reply_bad_key", connect_seq=3, status=11)
    # The answer changes nothing: messages of a peer that is not connected are ignored.
    partner.their_session = reply["key"]
    partner.tiny(b"let me in", 0xBAD0)
    partner.fence()
    peer.rules.check("connect.bad_key_changes_nothing", "protocol 3.2", "a message after a wrong key", "nothing",
                     peer.ask("probe bad0 ffffffffffffffff"))


@case()
def connect_with_too_little_data_is_dropped(peer):
    partner = peer.partner()
    peer.send_raw(partner.request_frame(length=15, connect_seq=1))
    reply = partner.connect()
    peer.rules.check("connect.short_data_is_dropped", "wire 4.1", "who is answered", 0, reply["connect_seq"])


@case(plain)
def connect_with_more_data_is_taken(peer):
    partner = peer.partner()
    frame = bytearray(partner.request_frame(length=24, connect_seq=9))
    frame[48:56] = b"whatever"
    peer.send_raw(bytes(frame))
    reply = partner.take(CONNECT, lambda f: f["is_reply"])
    peer.rules.check("connect.longer_data_is_taken", "docs/reference/wire.md 5", "who is answered", 9, reply["connect_seq"])


@case()
def connect_to_nobody_is_nacked(peer):
    partner = peer.partner()
    for endpoint, code in ((9, 2), (254, 1)):
        partner.request(dst_endpoint=endpoint)
        nack = partner.take(NACK_LIB)
        partner.exact("nack.connect_to_nobody", nack, free=("peer_index", "index"), src_endpoint=endpoint, code=code, seq=0)
        peer.rules.check("nack.connect_to_nobody", "wire 4.9", "NACK_LIB F26 is F14 again", nack["peer_index"], nack["index"])


@case(plain)
def connect_is_returned(peer):
    """A peer that connects without a block is connected back to before any message goes to it."""
    partner = peer.partner(automatic=False)
    partner.connect()
    back = partner.take(CONNECT, lambda f: not f["is_reply"])
    peer.rules.check("connect.back", "protocol 3.3", "CONNECT F32 session of the request back", partner.their_session, back["session"])
    peer.rules.check("connect.back", "wire 4.1", "CONNECT F40 start of the request back", 1, back["start"] & NUMBER)
    peer.ask("recv 1 11 ffffffffffffffff 64 1")
    partner.tiny(bytes(8), 0x11)
    peer.ask("wait 1 8000")
    peer.ask("answer")
    peer.ask("send 2 12 8 1")
    partner.fence()
    peer.rules.check("connect.back", "protocol 3.3", "messages before the request back is answered", 0,
                     len(peer.waiting(TINY, partner.endpoint)))
    partner.answer(partner.last_connect)
    message = partner.take(TINY)
    peer.rules.check("connect.back", "protocol 3.2", "TINY F24 number of the first message", 1, message["seq"])
    partner.wanted = 2
    partner.ack()


@case()
def connect_of_a_new_instance(peer):
    """The same endpoint number in another session is another peer. Its count begins where our answer says."""
    first = peer.partner()
    first.connect()
    first.tiny(b"", 0x21)
    first.tiny(b"", 0x22)
    for match in ("21", "22"):
        peer.ask(f"recv 1 {match} ffffffffffffffff 0 0")
        peer.ask("wait 1 8000")
    first.session ^= 0x5555
    first.seq, first.generation = 1, first.generation ^ 0x55
    first.their_generation, first.acknum, first.wanted, first.connected_back, first.their_session = 0, 0, 1, False, None
    first.connect()
    if not peer.extended:  # it connects back, and receives from us when we answer that
        peer.settle(lambda: first.connected_back)
    first.tiny(b"", 0x23)
    peer.ask("recv 1 23 ffffffffffffffff 0 0")
    peer.rules.check("connect.new_instance_is_heard", "protocol 3.2", "the first message of the new session",
                     ["done", "0"], peer.ask("wait 1 8000").split()[:2])


@case(extended)
def connect_block(peer):
    """The block in a request and in a reply (docs/reference/wire.md 5)."""
    partner, request = ask_connect(peer)
    check_block(partner, request)
    peer.rules.check("block.generations", "docs/reference/wire.md 5", "generation of ours in a first request", 0, partner.their_block["other_generation"])
    partner.answer(request)
    completes(peer, 0, "connect.reply_is_taken", "protocol 3.1", 0)
    other = peer.partner()
    check_block(other, other.connect())
    peer.rules.check("block.generations", "docs/reference/wire.md 5", "generation of ours in a reply, in use", other.generation | 1 << 31,
                     other.their_block["other_generation"])


def check_block(partner, connect):
    peer, block = partner.peer, partner.their_block
    check = peer.rules.check
    if not peer.rules.true("block.is_there", "docs/reference/wire.md 5", "CONNECT with a block", block):
        return
    check("block.crc", "docs/reference/wire.md 5", "CRC-32C from F12 on", True, block["crc_right"])
    check("block.size", "docs/reference/wire.md 5", "F53 size with or without bulk path", 48 if block["features"] & 64 else 28, block["size"])
    check("block.size", "docs/reference/wire.md 5", "F20 length covers it", 16 + block["size"], connect["length"])
    check("block.version", "docs/reference/wire.md 5", "F52 version", 1, block["version"])
    check("block.layout", "docs/reference/wire.md 5", "F63 layout", peer.library_layout, block["layout"])
    check("block.largest", "docs/reference/wire.md 5", "F56 at least 188, at most MTU + 14", True,
          188 <= block["largest"] <= peer.mode.mtu + 14)
    check("block.window", "docs/reference/wire.md 5", "F60 at least 1", True, block["window"] >= 1)
    check("block.pull_frames", "docs/reference/wire.md 5", "F62 at least 1", True, block["pull_frames"] >= 1)
    check("block.generations", "docs/reference/wire.md 5", "F64 generation of 31 bits, not 0", True, 0 < block["generation"] < 1 << 31)
    check("block.features", "docs/reference/wire.md 5", "F54 no bits that are not defined", 0, block["features"] & ~0xBFFF)


@case(extended)
def connect_with_a_damaged_block_is_dropped(peer):
    partner = peer.partner()
    for at in (50, 57, 74):
        frame = bytearray(partner.block_for(partner.request_frame(connect_seq=at)))
        frame[at] ^= 4
        peer.send_raw(bytes(frame))
    reply = partner.connect()
    peer.rules.check("block.damaged_is_dropped", "docs/reference/wire.md 5", "who is answered", 0, reply["connect_seq"])
