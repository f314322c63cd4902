-- SPDX-License-Identifier: BSD-3-Clause
-- One Open-MX frame in a packet: bytes by their offset from the start of the Ethernet header, as docs/wire.md
-- counts them, wherever that header lies. Nothing here reads beyond what was captured.
local Frame = {}
Frame.__index = Frame

-- `zero`: where byte F0 would lie in the buffer; -14 for what Wireshark hands over behind an Ethernet header.
function Frame.new(tvb, zero, src, dst)
  return setmetatable({
    tvb = tvb,
    zero = zero,
    size = tvb:reported_len() - zero,  -- as it was on the wire
    captured = tvb:len() - zero,
    src = src,
    dst = dst,
  }, Frame)
end

function Frame:has(offset, length)
  return offset >= 0 and length >= 0 and offset + length <= self.captured
end

function Frame:range(offset, length)
  return self.tvb(self.zero + offset, length)
end

-- A number of up to four bytes, or nil where the capture ends before it.
function Frame:number(offset, length)
  if not self:has(offset, length) then return nil end
  return self:range(offset, length):uint()
end

function Frame:text(offset, length)
  return self.tvb:raw(self.zero + offset, length)
end

-- Shows a field, if it was captured whole.
function Frame:show(tree, field, offset, length)
  if length <= 0 or not self:has(offset, length) then return nil end
  return tree:add(field, self:range(offset, length))
end

-- Shows what is there of bytes of any length.
function Frame:show_bytes(tree, field, offset, length)
  local there = math.min(length, self.captured - offset)
  if there <= 0 or offset < 0 then return nil end
  return tree:add(field, self:range(offset, there))
end

return Frame
