-- SPDX-License-Identifier: BSD-3-Clause
-- Reads one Open-MX frame in a packet. Offsets count from the start of the Ethernet header, as in
-- docs/reference/wire.md, even where that header is not in the buffer. No function reads beyond the captured
-- bytes.
local Frame = {}
Frame.__index = Frame

-- `zero` is where the Ethernet header begins in the buffer: -14 if the buffer begins behind it.
function Frame.new(tvb, zero, src, dst)
  return setmetatable({
    tvb = tvb,
    zero = zero,
    size = tvb:reported_len() - zero,  -- size on the wire
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

-- Returns a number of up to four bytes, or nil if it was not captured whole.
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

-- Shows the captured part of a field of any length.
function Frame:show_bytes(tree, field, offset, length)
  local there = math.min(length, self.captured - offset)
  if there <= 0 or offset < 0 then return nil end
  return tree:add(field, self:range(offset, there))
end

return Frame
