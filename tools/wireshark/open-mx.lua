-- SPDX-License-Identifier: BSD-3-Clause
-- Wireshark dissector for Open-MX (docs/how-to/capture.md): shows frames of ethertype 0x86DF in both layouts,
-- and frames in UDP datagrams. It needs the folder open-mx beside this file.
local here = (__DIR__ or "./"):gsub("[/\\]*$", "/")
local function part(name) return assert(loadfile(here .. "open-mx/" .. name .. ".lua"))() end

local proto = Proto("omx", "Open-MX")
local f, e, types, nacks = part("fields")(proto)
local Frame, Peers, Reassembly, crc32c = part("frame"), part("peers"), part("reassembly"), part("crc32c")
local Messages = part("messages")(Peers, Reassembly)
local packets = part("packets")(f, types, Peers)
packets[36] = part("connect")(f, Peers, crc32c)
local links = part("links")(f, e, Reassembly)

local layouts = { { 1, "as the frame suggests", -1 }, { 2, "omx", 1 }, { 3, "mxoe", 0 } }
proto.prefs.layout = Pref.enum("Layout where no CONNECT tells", -1, "Both ends of a connection tell it, if both have extension blocks",
  layouts, false)
proto.prefs.extended = Pref.bool("Peers whose CONNECT is missing have flags", true,
  "Where the capture began after the connection: whether the flags byte means something")
proto.prefs.reassemble = Pref.bool("Put messages together", true, "MEDIUM and pulled messages")
proto.prefs.limit = Pref.uint("Largest message that is put together (MiB)", 16, "Larger ones are followed all the same")
proto.prefs.checksums = Pref.bool("Verify checksums", true, "CRC-32C of frames that have one")

local notes = {}  -- by packet number and place in the packet: what was learned when the frame was first seen
local bulk_ports = {}

function proto.init()
  notes = {}
  Peers.reset()
  Messages.reset()
  Reassembly.reset()
  Reassembly.on, Reassembly.limit = proto.prefs.reassemble, proto.prefs.limit * 1048576
end

-- Returns whether the flags byte has a meaning, and the layout, as far as both ends have announced them.
local function learn(frame, p)
  if p.type == 44 then
    p.src_endpoint, p.dst_endpoint = frame:number(17, 1), frame:number(25, 1)
  else
    p.dst_endpoint, p.src_endpoint = frame:number(17, 1), frame:number(18, 1)
  end
  local extended, layout
  if p.type == 42 or p.type == 45 then
    if frame:has(24, 8) then
      extended = Messages.extended_of_transfer(frame.dst, { handle = frame:number(24, 4), magic = frame:number(28, 4) })
    end
  elseif p.src_endpoint and p.dst_endpoint then
    extended, layout = Peers.known(frame.src, p.src_endpoint, frame.dst, p.dst_endpoint)
  end
  if extended == nil then extended = proto.prefs.extended end
  if layout == nil and proto.prefs.layout >= 0 then layout = proto.prefs.layout end
  return { extended = extended, layout = layout }
end

-- Shows the checksum behind the first `covered` bytes. Returns whether a receiver accepts the frame.
local function show_checksum(frame, tree, covered)
  local shown = frame:show(tree, f.crc, covered, 4)
  if not shown or not frame:has(14, covered - 14) then return true end
  local status = 2
  if proto.prefs.checksums then
    local right = crc32c("\134\223" .. frame:text(14, covered - 14))  -- the checksum covers the ethertype first
    status = frame:number(covered, 4) == right and 1 or 0
    shown:append_text(status == 1 and " [right]" or string.format(" [wrong, should be 0x%08x]", right))
    if status == 0 then tree:add_proto_expert_info(e.checksum) end
  end
  tree:add(f.crc_status, frame:range(covered, 4), status):set_generated()
  return status ~= 0
end

local function summary(p)
  local text = types[p.type] or string.format("type %d", p.type)
  if p.type == 36 then text = p.is_reply and "CONNECT reply" or "CONNECT" end
  if p.type == 36 and p.status and p.status ~= 0 then text = text .. ", wrong key" end
  if p.type == 64 and p.is_reply then text = "PROBE answer" end
  if p.src_endpoint and p.dst_endpoint and p.type >= 35 and p.type ~= 42 and p.type ~= 45 then
    text = text .. string.format(" %d > %d", p.src_endpoint, p.dst_endpoint)
  end
  if p.seq then text = text .. " Seq=" .. p.seq % 16384 end
  if p.ack then text = text .. " Ack=" .. p.ack % 16384 end
  if p.fragment then text = text .. string.format(" Fragment=%d", p.fragment) end
  if p.reply_offset then text = text .. string.format(" Offset=%d", p.reply_offset) end
  if p.block_length then text = text .. string.format(" Frames from %d", p.frame_index) end
  if p.records then text = text .. string.format(p.packets and " Packets=%d" or " Messages=%d", p.records) end
  local length = p.msg_length or p.block_length or p.total_length or p.fragment_length or p.size
  if p.type == 37 or p.type == 38 then length = p.length end
  if length then text = text .. " Len=" .. length end
  if p.code then text = text .. ": " .. (nacks[p.code] or "reason " .. p.code) end
  if p.marks then text = text .. " [" .. table.concat(p.marks, ", ") .. "]" end
  return text
end

local function dissect_body(frame, tree, p, first_pass)
  local packet = packets[p.type]
  if not packet then
    tree:add_proto_expert_info(e.unknown, types[p.type] and "A type that is reserved and never sent" or "An unknown type")
    frame:show_bytes(tree, f.data, 17, frame.size - 17)
    return nil
  end
  local covered, wrong = packet.show(frame, tree, p, first_pass)
  if frame.size < packet.header then
    covered, wrong = nil, string.format("a %s has at least %d bytes, this frame %d", types[p.type], packet.header, frame.size)
  end
  local trailer = covered and p.flags and p.flags % 4 >= 2 and 4 or 0
  if covered and frame.size < covered + trailer then
    covered, wrong = nil, string.format("it announces %d bytes, and the frame has %d", covered + trailer, frame.size)
  end
  if not covered then
    tree:add_proto_expert_info(e.malformed, "Malformed: " .. wrong)
    return nil
  end
  if frame.captured < math.min(covered + trailer, frame.size) then tree:add_proto_expert_info(e.cut) end
  local good = trailer == 0 or show_checksum(frame, tree, covered)
  if p.wrong_later then tree:add_proto_expert_info(e.malformed, "Malformed: " .. p.wrong_later) end
  if p.type ~= 64 then return covered + trailer, good end
  return p.size, good
end

local dissect_packets

-- Shows one frame. Returns its length, or nil if it cannot be known.
local function dissect_frame(frame, pinfo, root, key, by_udp)
  local tree = root:add(proto, frame.tvb(math.max(frame.zero, 0)))
  if by_udp then
    frame:show(tree, f.eth_dst, 0, 6)
    frame:show(tree, f.eth_src, 6, 6)
    frame:show(tree, f.eth_type, 12, 2)
    tree:add(f.bulk_frame, true):set_generated()
  end
  local type = frame:number(16, 1)
  if not type then
    if frame.size < 17 then
      tree:add_proto_expert_info(e.malformed, "Malformed: the frame ends before its packet type")
    else
      tree:add_proto_expert_info(e.cut)
    end
    return nil, "frame without a type"
  end
  if type ~= 42 then frame:show(tree, f.peer_index, 14, 2) end  -- a PULL_REPLY has its source endpoint and flags there
  frame:show(tree, f.type, 16, 1)
  local note = notes[key]
  local p = { type = type }
  local first_pass = not note
  if not note then
    note = learn(frame, p)
    notes[key] = note
  else
    learn(frame, p)
  end
  p.extended, p.layout = note.extended, note.layout
  local length, good = dissect_body(frame, tree, p, first_pass)
  if first_pass and length and good and not p.cut and frame:has(0, packets[type].header) then
    note.layout, note.extended = p.layout, p.extended
    if p.data_at and frame:has(p.data_at, p.data_length) then p.data = frame:text(p.data_at, p.data_length) end
    Messages.note(note, frame, p, pinfo.number)
  end
  if p.layout then tree:add(f.layout, p.layout):set_generated() end
  if type ~= 1 and type ~= 3 and type ~= 4 then tree:add(f.extended, p.extended and true or false):set_generated() end
  links(note, tree, p, pinfo.number)
  local text = summary(p)
  tree:set_text("Open-MX, " .. text)
  if length then
    tree:set_len(math.max(0, math.min(length - math.max(-frame.zero, 0), frame.tvb:len() - math.max(frame.zero, 0))))
    if not by_udp then frame:show_bytes(tree, f.padding, length, frame.size - length) end
  end
  if p.packets then text = dissect_packets(frame, pinfo, tree, key, p.packets) or text end
  return length, text, p
end

-- Shows each packet of a PACK like a frame of its own, behind the Ethernet header of the PACK.
dissect_packets = function(frame, pinfo, tree, key, packets)
  local head = ByteArray.new(frame.dst .. frame.src .. "86df")
  local texts = {}
  for i, packet in ipairs(packets) do
    local bytes = head .. frame:range(packet.at, packet.length):bytes()
    local inner = Frame.new(bytes:tvb("Packet " .. i), 0, frame.src, frame.dst)
    local type = inner:number(16, 1)
    if type == 35 or type == 40 or type == 41 or type == 43 then
      local _, text = dissect_frame(inner, pinfo, tree, string.format("%s/%d", key, i), true)
      texts[i] = text
    else
      tree:add_proto_expert_info(e.malformed, string.format("Malformed: packet %d is none that may be in a PACK", i))
      return nil
    end
  end
  return #texts > 0 and string.format("%d packets: %s", #texts, table.concat(texts, "; ")) or nil
end

local function mac_text(range) return tostring(range:bytes()) end

-- MAC addresses identify the peers of a frame. The dissector gets only the bytes behind them, and Wireshark's
-- text of an address may be a name. A heuristic dissector sees the whole Ethernet frame first, so it notes
-- the addresses.
local addresses = {}
local function look_at_ethernet(tvb, pinfo)
  if tvb:len() < 14 then return false end
  addresses = { number = pinfo.number, dst = mac_text(tvb(0, 6)), src = mac_text(tvb(6, 6)) }
  return false
end

-- Shows what follows an Ethernet header; Wireshark calls this.
function proto.dissector(tvb, pinfo, root)
  pinfo.cols.protocol = "OMX"
  local src, dst = tostring(pinfo.dl_src), tostring(pinfo.dl_dst)  -- for captures without Ethernet headers
  if addresses.number == pinfo.number then src, dst = addresses.src, addresses.dst end
  local frame = Frame.new(tvb, -14, src, dst)
  local _, text = dissect_frame(frame, pinfo, root, pinfo.number * 65536, false)
  pinfo.cols.info = text
  return tvb:len()
end

-- Shows a UDP datagram of Open-MX. It holds one frame, or a GSO batch of frames that the kernel had not split
-- yet.
local udp = Proto("omx_udp", "Open-MX by UDP")
function udp.dissector(tvb, pinfo, root)
  local at, texts = 0, {}
  while tvb:len() - at >= 14 and tvb(at + 12, 2):uint() == 0x86DF do
    local frame = Frame.new(tvb(at):tvb(), 0, mac_text(tvb(at + 6, 6)), mac_text(tvb(at, 6)))
    local length, text, p = dissect_frame(frame, pinfo, root, pinfo.number * 65536 + at, true)
    texts[#texts + 1] = text
    if p and p.bulk_port and not bulk_ports[p.bulk_port] then
      bulk_ports[p.bulk_port] = true
      DissectorTable.get("udp.port"):add(p.bulk_port, udp)
    end
    at = at + math.max(length or tvb:len(), 17)  -- at least 17 bytes on, so that the loop ends
  end
  if #texts == 0 then return 0 end
  pinfo.cols.protocol = "OMX"
  pinfo.cols.info = (#texts > 1 and #texts .. " frames: " or "") .. texts[1]
  return tvb:len()
end

local function looks_like_a_frame(tvb, pinfo, root)
  if tvb:len() < 17 or tvb(12, 2):uint() ~= 0x86DF or not packets[tvb(16, 1):uint()] then return false end
  udp.dissector(tvb, pinfo, root)
  return true
end

DissectorTable.get("ethertype"):add(0x86DF, proto)
DissectorTable.get("udp.port"):add("27200-27711", udp)
proto:register_heuristic("eth", look_at_ethernet)
udp:register_heuristic("udp", looks_like_a_frame)
