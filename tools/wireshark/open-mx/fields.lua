-- SPDX-License-Identifier: BSD-3-Clause
-- Lists what the dissector shows: every field of docs/reference/wire.md, and generated fields that follow
-- from several frames.

-- Wireshark loads every .lua file in its plugin folders, this one too. So this file does nothing until it is
-- called.
return function(proto)
  local hex, dec = base.HEX, base.DEC
  local types = {
    [1] = "RAW", [2] = "MFM_NIC_REPLY", [3] = "HOST_QUERY", [4] = "HOST_REPLY",
    [32] = "ETHER_UNICAST", [33] = "ETHER_MULTICAST", [34] = "ETHER_NATIVE",
    [35] = "TRUC", [36] = "CONNECT", [37] = "TINY", [38] = "SMALL", [39] = "MEDIUM", [40] = "RNDV",
    [41] = "PULL", [42] = "PULL_REPLY", [43] = "NOTIFY", [44] = "NACK_LIB", [45] = "NACK_MCP",
    [64] = "PROBE", [65] = "PACK",
  }
  local nacks = {
    [0] = "none", [1] = "bad endpoint", [2] = "endpoint closed", [3] = "bad session", [4] = "bad RDMA window",
  }
  local layouts = { [0] = "mxoe", [1] = "omx" }
  local classes = {
    [0] = "MX", [1] = "libfabric tagged", [2] = "libfabric untagged", [3] = "memory request", [4] = "memory answer",
    [5] = "memory data",
  }
  local f = {}

  -- The common head.
  f.eth_dst = ProtoField.ether("omx.eth.dst", "Destination in the datagram")
  f.eth_src = ProtoField.ether("omx.eth.src", "Source in the datagram")
  f.eth_type = ProtoField.uint16("omx.eth.type", "Ethertype in the datagram", hex)
  f.peer_index = ProtoField.uint16("omx.peer_index", "Peer index", dec)
  f.type = ProtoField.uint8("omx.type", "Packet type", dec, types)
  f.dst_endpoint = ProtoField.uint8("omx.dst_endpoint", "Destination endpoint", dec)
  f.src_endpoint = ProtoField.uint8("omx.src_endpoint", "Source endpoint", dec)
  f.endpoint_of_magic = ProtoField.uint8("omx.magic.endpoint", "Endpoint of the puller, by the magic", dec)

  -- The flags byte.
  f.flags = ProtoField.uint8("omx.flags", "Flags", hex)
  f.unread = ProtoField.uint8("omx.flags.unread", "Byte that plain MXoE leaves undefined", hex)
  local function flag(name, text, bit)
    f["flag_" .. name] = ProtoField.bool("omx.flags." .. name, text, 8, nil, bit)
  end
  flag("urgent", "Urgent", 0x01)
  flag("checksum", "Checksum trailer", 0x02)
  flag("header_ext", "Header extension", 0x04)
  flag("gap", "Gap: asks again, as later frames have arrived", 0x08)
  flag("quiet", "Quiet: the last frame of the answer is not urgent", 0x10)
  flag("bulk", "Bulk path", 0x20)
  flag("bulk_probe", "Bulk path probe", 0x40)
  flag("announce", "Announce the end of an answer by the bulk path", 0x80)

  -- The matching header.
  f.length = ProtoField.uint32("omx.length", "Length", dec)
  f.debug_checksum = ProtoField.uint16("omx.debug_checksum", "Debug checksum of Open-MX 1.x", hex)
  f.seq = ProtoField.uint16("omx.seq", "Message number", dec, nil, 0x3fff)
  f.seq_count = ProtoField.uint16("omx.seq.count", "Session count of the number", dec, nil, 0xc000)
  f.ack = ProtoField.uint16("omx.ack", "Next number wanted (acknowledgement)", dec, nil, 0x3fff)
  f.ack_count = ProtoField.uint16("omx.ack.count", "Session count of the acknowledgement", dec, nil, 0xc000)
  f.match = ProtoField.uint64("omx.match", "Match information", hex)
  f.session = ProtoField.uint32("omx.session", "Session of the destination", hex)
  f.data = ProtoField.bytes("omx.data", "Data")
  f.padding = ProtoField.bytes("omx.padding", "Padding")

  f.medium_frag_length = ProtoField.uint16("omx.medium.fragment_length", "Fragment length", dec)
  f.medium_frag = ProtoField.uint8("omx.medium.fragment", "Fragment number", dec)
  f.medium_pipeline = ProtoField.uint8("omx.medium.pipeline", "Pipeline (log2 of the unit)", dec)
  f.medium_unit = ProtoField.uint16("omx.medium.unit", "Unit of fragment numbers", dec)
  f.medium_offset = ProtoField.uint32("omx.medium.offset", "Offset in the message", dec)

  f.msg_length = ProtoField.uint32("omx.rndv.length", "Message length", dec)
  f.tail = ProtoField.bytes("omx.rndv.tail", "Last bytes of the message")
  f.unscheduled_unit = ProtoField.uint16("omx.rndv.unscheduled.unit", "Data of a full frame that follows unscheduled", dec)
  f.unscheduled_frames = ProtoField.uint8("omx.rndv.unscheduled.frames", "Frames that follow unscheduled", dec)
  f.rdma_id = ProtoField.uint32("omx.rdma.id", "Region", dec)
  f.rdma_seq = ProtoField.uint8("omx.rdma.generation", "Region generation", dec)
  f.rdma_page = ProtoField.uint16("omx.rdma.page", "Region page", dec)
  f.rdma_offset = ProtoField.uint32("omx.rdma.offset", "Offset in the region", dec)

  f.total_length = ProtoField.uint32("omx.pull.total_length", "Bytes of the transfer", dec)
  f.handle = ProtoField.uint32("omx.pull.handle", "Pull handle", hex)
  f.magic = ProtoField.uint32("omx.pull.magic", "Pull magic", hex)
  f.first_offset = ProtoField.uint32("omx.pull.first_frame_offset", "Offset in the first frame", dec)
  f.block_length = ProtoField.uint32("omx.pull.block_length", "Bytes of the block", dec)
  f.frame_index = ProtoField.uint32("omx.pull.frame_index", "First frame", dec)
  f.reply_max = ProtoField.uint16("omx.pull.reply_max", "Data of a full reply", dec)
  f.reply_seq = ProtoField.uint8("omx.reply.frame", "Frame number (mod 256)", dec)
  f.reply_length = ProtoField.uint16("omx.reply.length", "Frame data length", dec)
  f.reply_offset = ProtoField.uint32("omx.reply.offset", "Offset in the message", dec)
  f.notify_length = ProtoField.uint32("omx.notify.total_length", "Bytes that arrived", dec)

  f.truc_length = ProtoField.uint8("omx.truc.length", "Length", dec)
  f.truc_type = ProtoField.uint8("omx.truc.type", "Kind of data", hex, { [0x55] = "acknowledgement" })
  f.truc_session = ProtoField.uint32("omx.truc.session", "Session again", hex)
  f.truc_acknum = ProtoField.uint32("omx.truc.acknum", "Number of this acknowledgement", dec)
  f.truc_send_seq = ProtoField.uint16("omx.truc.send_seq", "Next number wanted, again", dec)
  f.truc_resent = ProtoField.uint8("omx.truc.resent", "Resent", dec)
  f.truc_sack = ProtoField.bytes("omx.truc.sack", "Bitmap of messages that arrived early")
  f.truc_early = ProtoField.uint16("omx.truc.early", "Arrived early", dec)

  f.nack_code = ProtoField.uint8("omx.nack.code", "Refused because", dec, nacks)
  f.nack_refusing = ProtoField.uint8("omx.nack.refusing", "Refusing endpoint", dec)
  f.nack_peer_index = ProtoField.uint16("omx.nack.peer_index", "Peer index again", dec)
  f.index_for_peer = ProtoField.uint16("omx.index_for_peer", "Peer index that the receiver shall use", dec)
  f.host_magic = ProtoField.uint32("omx.host.magic", "Magic", hex)
  f.host_name_length = ProtoField.uint8("omx.host.name_length", "Name length, with NUL", dec)
  f.host_name = ProtoField.string("omx.host.name", "Name")
  f.raw_nic = ProtoField.uint64("omx.raw.nic", "NIC id", hex)
  f.raw_serial = ProtoField.uint32("omx.raw.serial", "Serial number of the daemon", hex)

  f.connect_length = ProtoField.uint8("omx.connect.length", "Data length", dec)
  f.connect_session = ProtoField.uint32("omx.connect.session", "Session of the requester", hex)
  f.connect_key = ProtoField.uint32("omx.connect.key", "Connection key", hex)
  f.connect_target = ProtoField.uint32("omx.connect.target_session", "Session of the responder", hex)
  f.connect_start = ProtoField.uint16("omx.connect.first_number", "First number that the sender expects", hex)
  f.connect_reply = ProtoField.uint8("omx.connect.is_reply", "Reply", dec)
  f.connect_seq = ProtoField.uint8("omx.connect.number", "Number of the request", dec)
  f.connect_status = ProtoField.uint8("omx.connect.status", "Status", dec, { [0] = "accepted", [11] = "wrong key" })

  -- The extension block of CONNECT.
  f.ext = ProtoField.bytes("omx.ext", "Extension block")
  f.ext_magic = ProtoField.uint32("omx.ext.magic", "Magic", hex)
  f.ext_version = ProtoField.uint8("omx.ext.version", "Version", dec)
  f.ext_size = ProtoField.uint8("omx.ext.size", "Size of the block", dec)
  f.ext_features = ProtoField.uint16("omx.ext.features", "Features", hex)
  for bit, name in pairs({ [0] = "mark", "checksum", "header_ext", "sack", "probe", "pack", "bulk", "tail", "unscheduled", "share", "rails", "ahead", "park", "source", "gso_frame", "marks" }) do
    f["feature_" .. name] = ProtoField.bool("omx.ext.features." .. name, name, 16, nil, 2 ^ bit)
  end
  f.ext_max_frame = ProtoField.uint32("omx.ext.max_frame", "Largest frame it can receive", dec)
  f.ext_eager = ProtoField.uint16("omx.ext.eager_frames", "Eager frames it can hold", dec)
  f.ext_pull_frames = ProtoField.uint8("omx.ext.pull_frames", "Frames per PULL that it serves", dec)
  f.ext_layout = ProtoField.uint8("omx.ext.layout", "Layout", dec, layouts)
  f.ext_generation = ProtoField.uint32("omx.ext.generation", "Generation of the sender's count", hex)
  f.ext_peer_generation = ProtoField.uint32("omx.ext.peer_generation", "Generation of the receiver's count", hex, nil, 0x7fffffff)
  f.ext_peer_uses = ProtoField.bool("omx.ext.peer_generation.used", "The sender uses it", 32, nil, 0x80000000)
  f.ext_bulk_ip = ProtoField.ipv6("omx.ext.bulk.ip", "Address of the bulk path")
  f.ext_bulk_port = ProtoField.uint16("omx.ext.bulk.port", "UDP port of the bulk path", dec)
  f.ext_bulk_frame = ProtoField.uint16("omx.ext.bulk.frame", "Largest frame of the bulk path", dec)
  f.ext_rails_count = ProtoField.uint8("omx.ext.rails.count", "Boards of the endpoint", dec)
  f.ext_rails_nic = ProtoField.ether("omx.ext.rails.nic", "Board")
  f.ext_unknown = ProtoField.bytes("omx.ext.unknown", "Fields of a later version")
  f.ext_crc = ProtoField.uint32("omx.ext.crc", "CRC-32C of the CONNECT", hex)

  f.header_ext = ProtoField.bytes("omx.header_ext", "Header extension")
  f.header_class = ProtoField.uint8("omx.header_ext.class", "Message class", dec, classes)
  f.header_valid = ProtoField.uint8("omx.header_ext.data_valid", "Completion data are valid", dec)
  f.header_data = ProtoField.uint64("omx.header_ext.data", "Completion data", hex)

  f.probe_size = ProtoField.uint32("omx.probe.size", "Frame size", dec)
  f.probe_cookie = ProtoField.uint32("omx.probe.cookie", "Cookie", hex)
  f.probe_reply = ProtoField.uint8("omx.probe.is_reply", "Answer", dec)

  f.pack_length = ProtoField.uint16("omx.pack.length", "Bytes of all records", dec)
  f.pack_record = ProtoField.bytes("omx.pack.record", "Record")
  f.pack_count = ProtoField.uint16("omx.pack.count", "Messages", dec)
  f.pack_packets = ProtoField.uint16("omx.pack.packets", "Packets", dec)
  f.record_length = ProtoField.uint16("omx.pack.record.length", "Bytes of data", dec)
  f.record_flags = ProtoField.uint8("omx.pack.record.flags", "Flags of the record", hex)

  f.crc = ProtoField.uint32("omx.checksum", "Checksum (CRC-32C)", hex)
  f.crc_status = ProtoField.uint8("omx.checksum.status", "Checksum status", dec, { [0] = "bad", [1] = "good", [2] = "unverified" })

  -- Generated from several frames.
  local link = function(name, text, kind) return ProtoField.framenum(name, text, base.NONE, kind) end
  f.layout = ProtoField.uint8("omx.layout", "Layout", dec, layouts)
  f.extended = ProtoField.bool("omx.extended", "Between peers that exchanged extension blocks")
  f.bulk_frame = ProtoField.bool("omx.by_udp", "By UDP")
  f.message = ProtoField.uint32("omx.message", "Message (in this capture)", dec)
  f.acked_message = ProtoField.uint32("omx.ack.message", "Acknowledges message", dec)
  f.ack_of = link("omx.ack.frame", "Acknowledges frame", frametype.ACK)
  f.acked_in = link("omx.acked_in", "Acknowledged in frame", frametype.ACK)
  f.again_of = link("omx.sent_again_of", "Sent before in frame", frametype.RETRANS_PREV)
  f.request_in = link("omx.request_in", "Request in frame", frametype.REQUEST)
  f.reply_in = link("omx.reply_in", "Answer in frame", frametype.RESPONSE)
  f.rndv_in = link("omx.rndv_in", "Announced in frame", frametype.REQUEST)
  f.pull_in = link("omx.pull_in", "Asked for in frame", frametype.REQUEST)
  f.first_pull = link("omx.first_pull_in", "First asked for in frame", frametype.RESPONSE)
  f.first_reply = link("omx.first_reply_in", "First frame of the answer", frametype.RESPONSE)
  f.notify_in = link("omx.notify_in", "Reported whole in frame", frametype.RESPONSE)
  f.refused_in = link("omx.refused_in", "Refused in frame", frametype.RESPONSE)
  f.refuses = link("omx.refuses", "Refuses frame", frametype.REQUEST)
  f.reassembled_in = link("omx.reassembled_in", "Message is whole in frame")
  f.fragment = link("omx.fragment", "Part in frame")
  f.fragment_count = ProtoField.uint32("omx.fragment.count", "Parts", dec)
  f.reassembled_length = ProtoField.uint32("omx.reassembled.length", "Bytes of the whole message", dec)
  f.reassembled = ProtoField.bytes("omx.reassembled.data", "Whole message")

  local list = {}
  for _, field in pairs(f) do list[#list + 1] = field end
  proto.fields = list

  local group, severity = expert.group, expert.severity
  local e = {
    malformed = ProtoExpert.new("omx.malformed", "Malformed frame", group.MALFORMED, severity.ERROR),
    cut = ProtoExpert.new("omx.cut", "Cut by the capture", group.UNDECODED, severity.NOTE),
    unknown = ProtoExpert.new("omx.unknown_type", "Unknown packet type", group.UNDECODED, severity.WARN),
    checksum = ProtoExpert.new("omx.bad_checksum", "Wrong checksum", group.CHECKSUM, severity.WARN),
    again = ProtoExpert.new("omx.sent_again", "Sent again", group.SEQUENCE, severity.NOTE),
    refused = ProtoExpert.new("omx.refused", "Refused", group.RESPONSE_CODE, severity.WARN),
    not_kept = ProtoExpert.new("omx.not_reassembled", "Not put together", group.REASSEMBLE, severity.NOTE),
  }
  local experts = {}
  for _, info in pairs(e) do experts[#experts + 1] = info end
  proto.experts = experts
  return f, e, types, nacks
end
