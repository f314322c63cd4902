-- SPDX-License-Identifier: BSD-3-Clause
-- Shows the packet types and collects the values by which messages are followed. Each function returns the
-- size of header, extension and data, or nil and the reason why a receiver would refuse the frame.
return function(f, types, Peers)
  local packets = {}
  local kUrgent, kChecksum, kHeaderExt, kUnscheduled, kPage = 1, 2, 4, 8, 16  -- bits of the flags byte
  local kPacket = 8  -- bit of a record's flags byte
  local mxoe = 0
  local function bit_of(flags, bit) return flags % (bit * 2) >= bit end

  local function rows(frame, tree, list)
    for _, row in ipairs(list) do frame:show(tree, row[1], row[2], row[3]) end
  end

  local flag_fields = { f.flag_urgent, f.flag_checksum, f.flag_header_ext, f.flag_gap, f.flag_quiet, f.flag_bulk,
    f.flag_bulk_probe, f.flag_announce }
  local function show_flags(frame, tree, offset, p)
    if not p.extended then
      frame:show(tree, f.unread, offset, 1)
      p.flags = 0
      return
    end
    p.flags = frame:number(offset, 1) or 0
    local sub = frame:show(tree, f.flags, offset, 1)
    if not sub then return end
    local names = {}
    for i, name in ipairs({ "urgent", "checksum", "header extension", "gap", "quiet", "bulk path", "bulk path probe", "announce" }) do
      sub:add(flag_fields[i], frame:range(offset, 1))
      if name == "gap" and (p.type == 40 or p.type == 43) then name = "unscheduled" end
      if name == "gap" and p.type == 64 then name = "rail" end
      if name == "gap" and p.type == 35 then name = "park" end
      if name == "quiet" and (p.type == 40 or p.type == 43) then name = "page" end
      if name == "quiet" and p.type == 35 then name = "marked" end
      if name == "announce" and p.type >= 37 and p.type <= 40 then name = "ask for the acknowledgement" end
      if bit_of(p.flags, 2 ^ (i - 1)) then names[#names + 1] = name end
    end
    if #names > 0 then
      sub:append_text(" (" .. table.concat(names, ", ") .. ")")
      p.marks = names
    end
  end

  local function show_numbers(frame, tree, seq, ack)
    if seq then
      frame:show(tree, f.seq, seq, 2)
      frame:show(tree, f.seq_count, seq, 2)
    end
    if ack then
      frame:show(tree, f.ack, ack, 2)
      frame:show(tree, f.ack_count, ack, 2)
    end
  end

  local function show_endpoints(frame, tree)
    rows(frame, tree, { { f.dst_endpoint, 17, 1 }, { f.src_endpoint, 18, 1 } })
  end

  -- Shows the matching header of TINY, SMALL, MEDIUM, RNDV and PACK.
  local function matching_header(frame, tree, p, length_bytes)
    show_endpoints(frame, tree)
    show_flags(frame, tree, 19, p)
    frame:show(tree, p.type == 65 and f.pack_length or f.length, 20, length_bytes)
    if length_bytes == 2 and p.type ~= 39 and p.type ~= 65 then frame:show(tree, f.debug_checksum, 22, 2) end
    show_numbers(frame, tree, 24, 26)
    if p.type ~= 65 then frame:show(tree, f.match, 28, 8) end
    frame:show(tree, f.session, 36, 4)
    p.length = frame:number(20, length_bytes)
    p.seq, p.ack, p.session = frame:number(24, 2), frame:number(26, 2), frame:number(36, 4)
  end

  local function header_extension(frame, tree, at)
    local sub = frame:show(tree, f.header_ext, at, 16)
    if not sub then return end
    rows(frame, sub, { { f.header_class, at, 1 }, { f.header_valid, at + 1, 1 }, { f.header_data, at + 8, 8 } })
  end

  -- Shows a header extension if the flags announce one. Returns where the data begin.
  local function extension_at(frame, tree, at, p)
    if not bit_of(p.flags, kHeaderExt) then return at end
    header_extension(frame, tree, at)
    return at + 16
  end

  local function data_at(frame, tree, at, length, p)
    frame:show_bytes(tree, f.data, at, length)
    p.data_at, p.data_length = at, length
    return at + length
  end

  local function whole(most)
    return function(frame, tree, p)
      matching_header(frame, tree, p, 2)
      if not p.length then return 40 end
      if p.length > most then
        return nil, string.format("a %s holds at most %d bytes, not %d", types[p.type], most, p.length)
      end
      return data_at(frame, tree, extension_at(frame, tree, 40, p), p.length, p)
    end
  end
  packets[37] = { header = 40, show = whole(32) }
  packets[38] = { header = 40, show = whole(128) }

  local function fragment_wrong(p)
    if p.fragment_length > p.length then return "the fragment is longer than its message" end
    if p.fragment_length == 0 and p.length > 0 then return "an empty fragment of a message that is not" end
    if not p.unit then return nil end
    local offset = p.fragment * p.unit
    if offset > p.length or p.fragment_length ~= math.min(p.unit, p.length - offset) then
      return string.format("fragment %d of %d bytes is not where or not as long as its number says", p.fragment,
        p.fragment_length)
    end
    return nil
  end

  packets[39] = {
    header = 48,
    show = function(frame, tree, p)
      p.layout = p.layout or Peers.layout_of_medium(frame)
      matching_header(frame, tree, p, p.layout == mxoe and 2 or 4)
      rows(frame, tree, { { f.medium_frag_length, 40, 2 }, { f.medium_frag, 42, 1 } })
      p.fragment_length, p.fragment = frame:number(40, 2), frame:number(42, 1)
      if p.layout == mxoe then
        frame:show(tree, f.medium_pipeline, 43, 1)
        local pipeline = frame:number(43, 1)
        if pipeline and pipeline > 15 then return nil, "a pipeline is at most 15" end
        p.unit = pipeline and 2 ^ pipeline
      elseif p.extended then
        frame:show(tree, f.medium_unit, 46, 2)
        p.unit = frame:number(46, 2)
        if p.unit == 0 then p.unit = nil end
      end
      frame:show(tree, f.debug_checksum, 44, 2)
      if not frame:has(0, 48) then return 48 end
      local wrong = fragment_wrong(p)
      if wrong then return nil, wrong end
      return data_at(frame, tree, extension_at(frame, tree, 48, p), p.fragment_length, p)
    end,
  }

  packets[40] = {
    header = 48,
    show = function(frame, tree, p, first_pass)
      matching_header(frame, tree, p, 2)
      rows(frame, tree, { { f.msg_length, 40, 4 }, { f.rdma_id, 44, 1 }, { f.rdma_seq, 45, 1 }, { f.rdma_offset, 46, 2 } })
      if not p.length or not frame:has(0, 48) then return 48 end
      if p.length < 8 then return nil, "the length of a RNDV is at least 8" end
      p.msg_length, p.rdma_id, p.rdma_seq = frame:number(40, 4), frame:number(44, 1), frame:number(45, 1)
      local at, more = 48, p.length - 8
      if bit_of(p.flags, kUnscheduled) then
        if more < 4 then return nil, "the length of a RNDV with unscheduled data is at least 12" end
        rows(frame, tree, { { f.unscheduled_unit, 48, 2 }, { f.unscheduled_frames, 50, 1 } })
        if not frame:has(48, 4) then return 48 end
        p.unscheduled = frame:number(48, 2) * frame:number(50, 1)
        at, more = 52, more - 4
      end
      if bit_of(p.flags, kPage) then
        if more < 4 then return nil, "the page of a RNDV's region has 4 bytes" end
        frame:show(tree, f.rdma_page, at, 2)
        if not frame:has(at, 4) then return 48 end
        p.rdma_id = p.rdma_id + frame:number(at, 2) * 256
        at, more = at + 4, more - 4
      end
      frame:show_bytes(tree, f.tail, at, more)
      if first_pass and p.extended and more <= 120 and more <= p.msg_length and frame:has(at, more) then
        p.tail = more > 0 and frame:text(at, more) or nil
      end
      return extension_at(frame, tree, at + more, p)
    end,
  }

  packets[41] = {
    header = 48,  -- 60 in layout omx
    show = function(frame, tree, p)
      p.layout = p.layout or Peers.layout_of_pull(frame)
      show_endpoints(frame, tree)
      show_flags(frame, tree, 19, p)
      rows(frame, tree, { { f.session, 20, 4 }, { f.total_length, 24, 4 } })
      local at = p.layout == mxoe and { 28, 1, 29, 30, 2, 32, 40, 2, 44 } or { 28, 4, 32, 36, 4, 40, 48, 4, 56 }
      local id, id_bytes, generation, offset, offset_bytes, handle, first, first_bytes, index = table.unpack(at)
      rows(frame, tree, { { f.rdma_id, id, id_bytes }, { f.rdma_seq, generation, 1 },
        { f.rdma_offset, offset, offset_bytes }, { f.handle, handle, 4 }, { f.magic, handle + 4, 4 } })
      rows(frame, tree, { { f.first_offset, first, first_bytes }, { f.block_length, first + first_bytes, first_bytes },
        { f.frame_index, index, 4 } })
      if p.layout ~= mxoe and p.extended then frame:show(tree, f.reply_max, 34, 2) end
      local size = index + 4
      if frame.size < size then
        return nil, string.format("a PULL of this layout has %d bytes, this frame %d", size, frame.size)
      end
      p.cut = not frame:has(0, size)
      if p.cut then return size end
      p.total_length, p.rdma_id, p.rdma_seq = frame:number(24, 4), frame:number(id, id_bytes), frame:number(generation, 1)
      p.rdma_offset, p.handle, p.magic = frame:number(offset, offset_bytes), frame:number(handle, 4), frame:number(handle + 4, 4)
      p.first_offset, p.frame_index = frame:number(first, first_bytes), frame:number(index, 4)
      p.block_length = frame:number(first + first_bytes, first_bytes)
      p.reply_max = p.layout == mxoe and 4096 or p.extended and frame:number(34, 2) or 0
      if p.reply_max == 0 then p.reply_max = nil end
      return size
    end,
  }

  local function magic(frame, tree, p, at)
    rows(frame, tree, { { f.handle, at, 4 }, { f.magic, at + 4, 4 } })
    p.handle, p.magic = frame:number(at, 4), frame:number(at + 4, 4)
    if not frame:has(at + 7, 1) then return end
    local low = frame:number(at + 7, 1)
    p.puller_endpoint = low >= 128 and low - 128 or low + 128  -- XOR 80h
    tree:add(f.endpoint_of_magic, frame:range(at + 7, 1), p.puller_endpoint):set_generated()
  end

  packets[42] = {
    header = 32,
    show = function(frame, tree, p)
      show_flags(frame, tree, 15, p)
      if p.extended then frame:show(tree, f.src_endpoint, 14, 1) end
      rows(frame, tree, { { f.reply_seq, 17, 1 }, { f.reply_length, 18, 2 }, { f.reply_offset, 20, 4 } })
      magic(frame, tree, p, 24)
      if not frame:has(0, 32) then return 32 end
      p.reply_seq, p.fragment_length, p.reply_offset = frame:number(17, 1), frame:number(18, 2), frame:number(20, 4)
      if p.fragment_length == 0 then return nil, "an empty PULL_REPLY" end
      return data_at(frame, tree, 32, p.fragment_length, p)
    end,
  }

  packets[43] = {
    header = 40,
    show = function(frame, tree, p)
      show_endpoints(frame, tree)
      show_flags(frame, tree, 19, p)
      rows(frame, tree, { { f.session, 20, 4 }, { f.notify_length, 24, 4 }, { f.rdma_id, 28, 1 }, { f.rdma_seq, 29, 1 } })
      show_numbers(frame, tree, 34, 36)
      p.session, p.total_length = frame:number(20, 4), frame:number(24, 4)
      p.rdma_id, p.rdma_seq = frame:number(28, 1), frame:number(29, 1)
      if bit_of(p.flags, kPage) then
        frame:show(tree, f.rdma_page, 30, 2)
        if p.rdma_id and frame:has(30, 2) then p.rdma_id = p.rdma_id + frame:number(30, 2) * 256 end
      end
      p.seq, p.ack = frame:number(34, 2), frame:number(36, 2)
      return 40
    end,
  }

  -- Shows the records of a PACK, up to the first that does not fit.
  local function show_records(frame, tree, p, at, finish)
    p.records = 0
    while at < finish do
      if finish - at < 12 then return string.format("%d bytes that are no record", finish - at) end
      if not frame:has(at, 12) then return nil end
      local length, flags = frame:number(at + 8, 2), frame:number(at + 10, 1)
      local packet = bit_of(flags, kPacket)
      local start = at + 12 + (not packet and bit_of(flags, kHeaderExt) and 16 or 0)
      local most = packet and 256 or 128
      if packet ~= (p.packets ~= nil) and p.records > 0 then return "messages and packets in one PACK" end
      if length > most then return string.format("record %d: a record holds at most %d bytes, not %d", p.records + 1, most, length) end
      if packet and length < 18 then return string.format("record %d: a packet has at least 18 bytes, not %d", p.records + 1, length) end
      if start + length > finish then return string.format("record %d reaches beyond the others", p.records + 1) end
      if not frame:has(at, start + length - at) then return nil end
      local sub = frame:show(tree, f.pack_record, at, start + length - at)
      p.records = p.records + 1
      sub:set_text(string.format("Record %d: %d bytes", p.records, length))
      p.record_trees[p.records] = sub
      rows(frame, sub, { { f.match, at, 8 }, { f.record_length, at + 8, 2 }, { f.record_flags, at + 10, 1 } })
      if start > at + 12 then header_extension(frame, sub, at + 12) end
      frame:show(sub, f.data, start, length)
      if packet then
        p.packets = p.packets or {}
        p.packets[p.records] = { at = start, length = length }
      end
      at = start + length
    end
    return nil
  end

  packets[65] = {
    header = 40,
    show = function(frame, tree, p)
      p.extended = true  -- only a receiver that announced it gets this packet
      matching_header(frame, tree, p, 2)
      p.record_trees = {}
      if not p.length then return 40 end
      local finish = 40 + p.length
      if p.length < 12 then return nil, "a PACK holds at least one record, which has 12 bytes" end
      if frame.size < finish then return finish end
      local wrong = show_records(frame, tree, p, 40, finish)
      tree:add(p.packets and f.pack_packets or f.pack_count, p.records):set_generated()
      p.wrong_later = wrong  -- the records before the wrong one are valid
      return finish
    end,
  }

  packets[35] = {
    header = 44,
    show = function(frame, tree, p)
      show_endpoints(frame, tree)
      show_flags(frame, tree, 19, p)
      rows(frame, tree, { { f.truc_length, 20, 1 }, { f.session, 24, 4 }, { f.truc_type, 28, 1 } })
      show_numbers(frame, tree, nil, 30)
      rows(frame, tree, { { f.truc_session, 32, 4 }, { f.truc_acknum, 36, 4 }, { f.truc_send_seq, 40, 2 },
        { f.truc_resent, 42, 1 } })
      local length = frame:number(20, 1)
      p.ack, p.session = frame:number(30, 2), frame:number(24, 4)
      if not frame:has(0, 44) then return 44 end
      if length < 16 then return nil, "the length of a TRUC is at least 16" end
      if frame:number(28, 1) ~= 0x55 then return nil, "its data are no acknowledgement" end
      if frame:number(32, 4) ~= p.session then return nil, "it names two sessions" end
      if length >= 48 and p.extended then
        local sub = frame:show(tree, f.truc_sack, 44, 32)
        for i = 0, sub and 255 or -1 do
          local at = 44 + math.floor(i / 8)
          if bit_of(frame:number(at, 1), 2 ^ (i % 8)) then
            sub:add(f.truc_early, frame:range(at, 1), (p.ack + 1 + i) % 16384):set_generated()
          end
        end
      end
      return 28 + length
    end,
  }

  packets[44] = {
    header = 32,
    show = function(frame, tree, p)
      rows(frame, tree, { { f.src_endpoint, 17, 1 } })
      show_flags(frame, tree, 18, p)
      rows(frame, tree, { { f.nack_code, 19, 1 }, { f.dst_endpoint, 25, 1 }, { f.nack_peer_index, 26, 2 } })
      show_numbers(frame, tree, 28, nil)
      p.code, p.seq = frame:number(19, 1), frame:number(28, 2)
      return 32
    end,
  }

  packets[45] = {
    header = 32,
    show = function(frame, tree, p)
      rows(frame, tree, { { f.src_endpoint, 17, 1 } })
      show_flags(frame, tree, 18, p)
      frame:show(tree, f.nack_code, 19, 1)
      if p.extended then frame:show(tree, f.nack_refusing, 20, 1) end
      magic(frame, tree, p, 24)
      p.code = frame:number(19, 1)
      return 32
    end,
  }

  packets[64] = {
    header = 48,
    show = function(frame, tree, p)
      p.extended = true
      show_endpoints(frame, tree)
      show_flags(frame, tree, 19, p)
      rows(frame, tree, { { f.session, 20, 4 }, { f.probe_size, 24, 4 }, { f.probe_cookie, 28, 4 }, { f.probe_reply, 32, 1 } })
      p.size, p.cookie, p.is_reply = frame:number(24, 4), frame:number(28, 4), frame:number(32, 1) ~= 0
      if not p.size then return 48 end
      if p.size < 60 or p.size > 65549 then return nil, "the size of a PROBE is 60 to 65549" end
      if frame.size < p.size then
        return nil, string.format("a PROBE of %d bytes was cut to %d on its way", p.size, frame.size)
      end
      return 48
    end,
  }

  packets[3] = {
    header = 32,
    show = function(frame, tree, p)
      rows(frame, tree, { { f.index_for_peer, 18, 2 }, { f.host_magic, 24, 4 } })
      p.host_magic = frame:number(24, 4)
      return 32
    end,
  }

  packets[4] = {
    header = 32,
    show = function(frame, tree, p)
      rows(frame, tree, { { f.host_name_length, 17, 1 }, { f.index_for_peer, 18, 2 }, { f.host_magic, 24, 4 } })
      p.host_magic = frame:number(24, 4)
      local length = frame:number(17, 1)
      if not length then return 32 end
      if length == 0 or length > 80 then return nil, "a name has 1 to 80 bytes, with its NUL" end
      if frame.size < 32 + length then return 32 + length end
      frame:show(tree, f.host_name, 32, length)
      if frame:has(32, length) and frame:number(31 + length, 1) ~= 0 then return nil, "the name has no NUL at its end" end
      return 32 + length
    end,
  }

  packets[1] = {
    header = 17,
    show = function(frame, tree, p)
      if frame.size == 64 then
        rows(frame, tree, { { f.raw_nic, 32, 8 }, { f.raw_serial, 40, 4 } })
      else
        frame:show_bytes(tree, f.data, 17, frame.size - 17)
      end
      return frame.size
    end,
  }

  return packets
end
