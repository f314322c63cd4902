-- SPDX-License-Identifier: BSD-3-Clause
-- Remembers what endpoints announced in their CONNECTs: the layout of later frames, and whether the flags
-- byte has a meaning. If a capture began later, most frames show their layout themselves.
local Peers = {}

local mxoe, omx = 0, 1
local told = {}  -- "address/endpoint>address/endpoint": the last announcement of the first to the second

function Peers.reset()
  told = {}
end

local function direction(src, src_endpoint, dst, dst_endpoint)
  return src .. "/" .. src_endpoint .. ">" .. dst .. "/" .. dst_endpoint
end
Peers.direction = direction

function Peers.connect(frame, src_endpoint, dst_endpoint, extended, layout)
  told[direction(frame.src, src_endpoint, frame.dst, dst_endpoint)] = { extended = extended, layout = layout }
end

-- Returns nil for `extended` if no CONNECT was captured.
function Peers.known(src, src_endpoint, dst, dst_endpoint)
  local one = told[direction(src, src_endpoint, dst, dst_endpoint)]
  local other = told[direction(dst, dst_endpoint, src, src_endpoint)]
  if not one and not other then return nil, nil end
  local extended = (not one or one.extended) and (not other or other.extended)
  if not (extended and one and other) then return extended, nil end
  return true, (one.layout == omx and other.layout == omx) and omx or mxoe
end

-- Finds the layout of a MEDIUM. In mxoe its 16-bit length and its pipeline fit the fragment exactly. In omx
-- the upper half of the 32-bit length and the padding lie there, which do not fit.
function Peers.layout_of_medium(frame)
  local length, pipeline = frame:number(20, 2), frame:number(43, 1)
  local part, number = frame:number(40, 2), frame:number(42, 1)
  if not (length and pipeline and part and number) then return omx end
  if pipeline == 0 or pipeline > 15 then return omx end
  local unit = 2 ^ pipeline
  return number * unit <= length and part == math.min(unit, length - number * unit) and mxoe or omx
end

-- Finds the layout of a PULL by the place of its magic.
function Peers.layout_of_pull(frame)
  if frame:number(44, 3) == 0x210719 then return omx end
  if frame:number(36, 3) == 0x210719 then return mxoe end
  return frame.size < 60 and mxoe or omx
end

return Peers
