# SPDX-License-Identifier: BSD-3-Clause
"""Names (wire 4.12, 4.13) and packets that no endpoint understands (wire 3)."""
from cases import case
from packets import HOST_QUERY, HOST_REPLY, PROBE, RAW, UNKNOWN_INDEX, build
from peer import TOLD_INDEX

BROADCAST = b"\xff" * 6


@case()
def names_are_told(peer):
    peer.send(HOST_QUERY, index=TOLD_INDEX, magic=0x13052008)
    reply = peer.take(HOST_REPLY)
    check = peer.rules.check
    check("host.reply", "wire 4.12", "HOST_REPLY F24 magic, echoed", 0x13052008, reply["magic"])
    check("host.reply", "wire 4.12", "HOST_REPLY F17 length with NUL", len(b"h2:0\0"), reply["length"])
    check("host.reply", "wire 4.12", "HOST_REPLY name", b"h2:0\0", reply.data)
    check("host.reply", "wire 2.1", "HOST_REPLY F18 index is not 0xFFFF", True, reply["index"] != UNKNOWN_INDEX)
    peer.send(HOST_QUERY, index=TOLD_INDEX, magic=0xFFFFFFFF)
    again = peer.take(HOST_REPLY)
    check("host.reply", "wire 4.12", "HOST_REPLY F24 magic, echoed", 0xFFFFFFFF, again["magic"])
    check("host.reply", "wire 2.1", "HOST_REPLY F18 index, always the same", reply["index"], again["index"])


@case()
def queries_for_others_are_ignored(peer):
    other = bytes.fromhex("024f4d580077")
    peer.send_raw(build(peer.mode, HOST_QUERY, other, peer.mac, index=TOLD_INDEX, magic=1))
    peer.send(HOST_QUERY, index=TOLD_INDEX, magic=2)
    reply = peer.take(HOST_REPLY)
    peer.rules.check("host.query_for_another_is_ignored", "wire 4.12", "which query is answered", 2, reply["magic"])


def answer_query(peer, query, name, **over):
    fields = dict(length=len(name), index=TOLD_INDEX, magic=query["magic"])
    fields.update(over)
    peer.send_raw(build(peer.mode, HOST_REPLY, peer.subject_mac, peer.mac, name, **fields))


@case()
def names_are_asked_for(peer):
    """The subject asks for our name. It does not believe wrong answers."""
    peer.waiting(HOST_QUERY)
    peer.tell(f"name {peer.nic:x}")
    query = peer.take(HOST_QUERY)
    check = peer.rules.check
    check("host.query", "wire 4.12", "HOST_QUERY frame size", 60, len(query.raw))
    check("host.query", "wire 2.1", "HOST_QUERY F18 index is not 0xFFFF", True, query["index"] != UNKNOWN_INDEX)
    answer_query(peer, query, b"stale:0\0", magic=query["magic"] ^ 0x10000)
    answer_query(peer, query, b"")
    answer_query(peer, query, b"open:0!!")
    answer_query(peer, query, b"x" * 90 + b"\0")
    answer_query(peer, query, b"conform:0\0")
    check("host.answers_are_checked", "wire 4.12", "the name", "name conform:0", peer.told())
    check("host.names_are_kept", "wire 4.12", "the NIC of a name", f"nic {peer.nic:x}", peer.ask("nic conform:0"))


@case()
def packets_that_nobody_knows_are_dropped(peer):
    """Reserved and unknown types, broken frames and stray answers have no effect."""
    partner = peer.partner()
    partner.connect()
    sent = 0
    for kind in list(range(256)):
        if kind in (RAW, HOST_QUERY, HOST_REPLY, PROBE) or 35 <= kind <= 45:
            continue
        frame = bytearray(build(peer.mode, RAW, peer.subject_mac, peer.mac, bytes(60)))
        frame[16] = kind
        peer.send_raw(bytes(frame))
        sent += 1
    for kind in range(35, 46):
        peer.send_raw(peer.subject_mac + peer.mac + b"\x86\xdf\xff\xff" + bytes([kind]) + b"\xff" * 43)
        peer.send_raw(peer.subject_mac + peer.mac + b"\x86\xdf\0\0" + bytes([kind]))
    partner.tiny(b"alive", 0xB1)
    peer.ask("recv 1 b1 ffffffffffffffff 5 0")
    peer.rules.check("unknown.dropped", "wire 3", f"{sent} packets later a message of 5 bytes", ["done", "0", "b1", "5", "5"],
                     peer.ask("wait 1 8000").split()[:5])


@case()
def discovery_is_understood(peer):
    """The broadcast of the original's daemon: NIC id and serial number [wire 4.13]."""
    frame = bytearray(64)
    frame[0:12] = BROADCAST + peer.mac
    frame[12:17] = b"\x86\xdf\0\0\x01"
    frame[32:40] = peer.nic.to_bytes(8, "big")
    frame[40:44] = b"\x2b\x9a\x11\xc3"
    peer.send_raw(bytes(frame))
    peer.tell("nic conform:0")  # no packet announced our name
    answer_query(peer, peer.take(HOST_QUERY), b"conform:0\0")
    peer.rules.check("raw.discovery_is_read", "wire 4.13", "the NIC of a name", f"nic {peer.nic:x}", peer.told())
