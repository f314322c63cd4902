-- SPDX-License-Identifier: BSD-3-Clause
-- Shows CONNECT and its extension block (docs/reference/wire.md 5).
return function(f, Peers, crc32c)
  local features = { "mark", "checksum", "header_ext", "sack", "probe", "pack", "bulk", "tail", "unscheduled", "share", "rails", "ahead", "park",
    "source", "gso_frame", "marks" }
  local kMagic = 0x4f4d5845
  local bxor = (bit32 or bit).bxor

  -- Returns whether damage hides the block: a few bits of its magic are wrong, where other peers send
  -- padding.
  local function hidden(frame)
    if frame.size < 76 or not frame:has(48, 4) then return false end
    local damage, count = bxor(frame:number(48, 4), kMagic) % 4294967296, 0
    while damage > 0 do
      count = count + damage % 2
      damage = math.floor(damage / 2)
    end
    return count <= 4
  end

  -- Shows the block as a receiver reads it. Returns its layout, or nil if there is none, and a reason if the
  -- block is damaged.
  local function show_block(frame, tree, p, length)
    if length < 44 or frame:number(48, 4) ~= kMagic then
      if not hidden(frame) then return nil end
      return nil, "its extension block is damaged: a few bits of the magic or of the length"
    end
    local size = frame:number(53, 1)
    if not size then return nil end
    if size < 28 or 16 + size > length then return nil, string.format("an extension block of %d bytes in %d", size, length - 16) end
    if not frame:has(48, size) then return nil end
    local block = frame:show(tree, f.ext, 48, size)
    block:set_text(string.format("Extension block, %d bytes", size))
    frame:show(block, f.ext_magic, 48, 4)
    frame:show(block, f.ext_version, 52, 1)
    frame:show(block, f.ext_size, 53, 1)
    local bits = frame:show(block, f.ext_features, 54, 2)
    for _, name in ipairs(features) do bits:add(f["feature_" .. name], frame:range(54, 2)) end
    frame:show(block, f.ext_max_frame, 56, 4)
    frame:show(block, f.ext_eager, 60, 2)
    frame:show(block, f.ext_pull_frames, 62, 1)
    frame:show(block, f.ext_layout, 63, 1)
    frame:show(block, f.ext_generation, 64, 4)
    frame:show(block, f.ext_peer_generation, 68, 4)
    frame:show(block, f.ext_peer_uses, 68, 4)
    local at, crc_at = 72, 48 + size - 4
    local has_bulk = math.floor(frame:number(54, 2) / 64) % 2 == 1
    if has_bulk and crc_at >= 92 then
      frame:show(block, f.ext_bulk_ip, 72, 16)
      frame:show(block, f.ext_bulk_port, 88, 2)
      frame:show(block, f.ext_bulk_frame, 90, 2)
      p.bulk_port = frame:number(88, 2)
      at = 92
    end
    local has_rails = math.floor(frame:number(54, 2) / 1024) % 2 == 1
    local rails_fit = crc_at >= at + 28
    if has_rails and rails_fit then
      frame:show(block, f.ext_rails_count, at, 1)
      for i = 0, math.min(frame:number(at, 1), 4) - 1 do frame:show(block, f.ext_rails_nic, at + 4 + 6 * i, 6) end
      at = at + 28
    end
    frame:show(block, f.ext_unknown, at, crc_at - at)
    local shown = frame:show(block, f.ext_crc, crc_at, 4)
    local right = crc32c("\134\223" .. frame:text(14, crc_at - 14))  -- the checksum covers the ethertype first
    if frame:number(crc_at, 4) ~= right then
      shown:append_text(string.format(" [wrong, should be 0x%08x]", right))
      return nil, "the CRC of the extension block is wrong"
    end
    shown:append_text(" [right]")
    if has_bulk and size < 48 then return nil, "the block announces a bulk path and has no room for its address" end
    if has_rails and not rails_fit then return nil, "the block announces rails and has no room for their addresses" end
    if frame:number(56, 4) < 188 or frame:number(60, 2) == 0 or frame:number(62, 1) == 0 then
      return nil, "sizes in the extension block that make no sense"
    end
    return frame:number(63, 1)
  end

  return {
    header = 48,
    show = function(frame, tree, p, first_pass)
      local is_reply = (frame:number(42, 1) or 0) ~= 0
      frame:show(tree, f.dst_endpoint, 17, 1)
      frame:show(tree, f.src_endpoint, 18, 1)
      frame:show(tree, f.connect_length, 20, 1)
      frame:show(tree, f.seq, 24, 2)
      frame:show(tree, f.seq_count, 24, 2)
      frame:show(tree, f.index_for_peer, 26, 2)
      frame:show(tree, f.connect_session, 32, 4)
      frame:show(tree, is_reply and f.connect_target or f.connect_key, 36, 4)
      frame:show(tree, f.connect_start, 40, 2)
      frame:show(tree, f.connect_reply, 42, 1)
      frame:show(tree, f.connect_seq, 43, 1)
      if is_reply then frame:show(tree, f.connect_status, 44, 1) end
      local length = frame:number(20, 1)
      if not length or not frame:has(0, 48) then return 48 end
      p.is_reply, p.connect_session, p.connect_seq = is_reply, frame:number(32, 4), frame:number(43, 1)
      p.status = is_reply and frame:number(44, 1) or 0
      if length < 16 then return nil, "the length of a CONNECT is at least 16" end
      if frame.size < 32 + length then return 32 + length end
      local layout, wrong = show_block(frame, tree, p, length)
      if wrong then return nil, wrong end
      p.extended = layout ~= nil
      if first_pass and frame:has(32, length) then
        Peers.connect(frame, p.src_endpoint, p.dst_endpoint, p.extended, layout)
      end
      return 32 + length
    end,
  }
end
