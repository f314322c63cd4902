-- SPDX-License-Identifier: BSD-3-Clause
-- Reassembles messages from their parts, which may come in any order, twice, and with different bounds.
local Reassembly = { limit = 16 * 1048576, on = true }

local kept = 0  -- bytes of all messages
local kMost = 1024 * 1048576

function Reassembly.reset()
  kept = 0
end

function Reassembly.begin(length)
  return { length = length, parts = {}, bytes = 0, count = 0 }
end

-- Returns the message if the parts cover it without a gap.
local function join(whole)
  local offsets = {}
  for offset in pairs(whole.parts) do offsets[#offsets + 1] = offset end
  table.sort(offsets)
  local pieces, at = {}, 0
  for _, offset in ipairs(offsets) do
    local data = whole.parts[offset].data
    if offset > at then return nil end
    if offset + #data > at then
      pieces[#pieces + 1] = data:sub(at - offset + 1)
      at = offset + #data
    end
  end
  if at < whole.length then return nil end
  return table.concat(pieces):sub(1, whole.length)
end

-- Adds a part. Returns whether it is new. `data` is nil if the capture cut the frame.
function Reassembly.add(whole, offset, length, data, number)
  if length == 0 and whole.length > 0 then return true end
  local before = whole.parts[offset]
  if before and before.length >= length then return false, before.number end
  if whole.reason or whole.data then return true end
  if not Reassembly.on then
    whole.reason = "reassembly is switched off in the preferences"
  elseif not data or #data < length then
    whole.reason = "frame " .. number .. " was cut by the capture"
  elseif whole.length > Reassembly.limit then
    whole.reason = "it is larger than the limit of the preferences"
  elseif kept + length > kMost then
    whole.reason = "the messages of this capture are more than 1 GiB"
  end
  if whole.reason then
    for _, part in pairs(whole.parts) do
      kept = kept - #part.data
      part.data = ""
    end
  else
    kept = kept + length
  end
  whole.parts[offset] = { length = length, data = whole.reason and "" or data, number = number }
  whole.count = whole.count + 1
  whole.bytes = whole.bytes + length
  if whole.reason or whole.bytes < whole.length then return true end
  local data_of_all = join(whole)
  if data_of_all then
    whole.data, whole.done_in = data_of_all, number
    kept = kept - whole.bytes + whole.length
    for _, part in pairs(whole.parts) do part.data = "" end
  end
  return true
end

-- Returns the frames that contain the parts, in the order of the message.
function Reassembly.frames(whole)
  local offsets, frames = {}, {}
  for offset in pairs(whole.parts) do offsets[#offsets + 1] = offset end
  table.sort(offsets)
  for i, offset in ipairs(offsets) do frames[i] = whole.parts[offset].number end
  return frames
end

return Reassembly
