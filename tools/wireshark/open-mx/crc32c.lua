-- SPDX-License-Identifier: BSD-3-Clause
-- Computes CRC-32C (Castagnoli), the checksum of frames and extension blocks.
local bits = bit32 or bit
local bxor, band, rshift = bits.bxor, bits.band, bits.rshift
local byte = string.byte

local table_of_bytes = {}
for n = 0, 255 do
  local crc = n
  for _ = 1, 8 do
    crc = band(crc, 1) == 1 and bxor(rshift(crc, 1), 0x82F63B78) or rshift(crc, 1)
  end
  table_of_bytes[n] = crc
end

-- Returns the CRC of a string.
return function(data)
  local crc = 0xFFFFFFFF
  for i = 1, #data do
    crc = bxor(rshift(crc, 8), table_of_bytes[band(bxor(crc, byte(data, i)), 0xFF)])
  end
  return bxor(crc, 0xFFFFFFFF) % 4294967296  -- the bit operations of some Wireshark versions are signed
end
