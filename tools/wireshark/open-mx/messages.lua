-- SPDX-License-Identifier: BSD-3-Clause
-- Follows messages over their frames. Each frame is noted once, in the order of the capture. Facts from later
-- frames (acknowledged in, whole in) are in the same tables when the frame is displayed again.
return function(Peers, Reassembly)
  local Messages = {}
  local direction = Peers.direction

  local kNumbers = 16384  -- message numbers, after which they start again
  local kUnacknowledged = 1024  -- messages remembered; a capture of one direction shows no acknowledgements
  local kBlocks = 64  -- PULLs remembered for each transfer

  local count, counts, regions, transfers, requests
  function Messages.reset()
    count = 0
    counts = {}  -- by direction: the numbered packets of one session
    regions = {}  -- by direction and region: the message that announced the region
    transfers = {}  -- by puller, handle and magic: a transfer
    requests = {}  -- requests, by the key that their answers have, too
  end
  Messages.reset()

  local function ahead(a, b) return (a - b) % kNumbers end

  local function new_message(kind, number)
    count = count + 1
    return { id = count, kind = kind, frame = number }
  end

  -- Returns the count of a direction for this session and these session bits.
  local function count_of(key, session, bits)
    local now = counts[key]
    if not now or now.session ~= session or now.bits ~= bits then
      now = { session = session, bits = bits, by_number = {}, waiting = {} }
      counts[key] = now
    end
    return now
  end

  -- Returns the record of a message number, and whether it had been sent before. Makes a record for a new
  -- number.
  local function numbered(key, session, seq, make, number)
    local now = count_of(key, session, seq - seq % kNumbers)
    local low = seq % kNumbers
    if not now.newest then now.newest = low end
    local step = ahead(low, now.newest)
    if step > 0 and step < kNumbers / 2 then
      -- Numbers wrap around: the older records with these numbers are from the round before.
      for i = 1, step do now.by_number[(now.newest + i) % kNumbers] = nil end
      now.newest = low
    end
    local record = now.by_number[low]
    if record then return record, true end
    record = { number = low, frame = number, message = make() }
    now.by_number[low] = record
    now.waiting[#now.waiting + 1] = record
    if #now.waiting > kUnacknowledged then table.remove(now.waiting, 1) end
    return record, false
  end

  -- Marks all numbers before `ack` as acknowledged. Returns the records that were not acknowledged before.
  local function acknowledge(key, ack, number)
    local now = counts[key]
    if not now or now.bits ~= ack - ack % kNumbers or now.last_ack == ack then return nil end
    now.last_ack = ack
    local found, left = nil, {}
    for _, record in ipairs(now.waiting) do
      local behind = ahead(ack, record.number)
      if behind > 0 and behind < kNumbers / 2 then
        record.acked_in = number
        found = found or {}
        found[#found + 1] = record
      else
        left[#left + 1] = record
      end
    end
    if found then now.waiting = left end
    return found
  end

  local function again(note, number)
    if number then note.again_of = number end
  end

  -- Adds a part to a message. `note` belongs to the part's frame; the message keeps it if this part completes
  -- it.
  local function add_part(note, whole, offset, p, number)
    if offset + p.fragment_length > whole.length then return end
    local new, first = Reassembly.add(whole, offset, p.fragment_length, p.data, number)
    if not new then again(note, first) end
    if whole.data and not whole.last then whole.last = note end
  end

  -- Returns both directions of a frame that names both endpoints.
  local function directions(frame, p)
    return direction(frame.src, p.src_endpoint, frame.dst, p.dst_endpoint),
      direction(frame.dst, p.dst_endpoint, frame.src, p.src_endpoint)
  end

  local follow = {}

  local function follow_message(kind, note, frame, p, number)
    local there, back = directions(frame, p)
    local record, before = numbered(there, p.session, p.seq, function() return new_message(kind, number) end, number)
    note.record, note.message = record, record.message
    note.acked = acknowledge(back, p.ack, number)
    return record, before
  end

  local function follow_whole(kind)
    return function(note, frame, p, number)
      local record, before = follow_message(kind, note, frame, p, number)
      if before then again(note, record.frame) end
    end
  end
  follow[37] = follow_whole("TINY")
  follow[38] = follow_whole("SMALL")

  follow[39] = function(note, frame, p, number)
    local record = follow_message("MEDIUM", note, frame, p, number)
    local message = record.message
    if not message.whole then message.whole = Reassembly.begin(p.length) end
    local unit = p.unit
    if not unit then  -- the cluster's fragment size, which any fragment but the last shows
      message.unit = message.unit or (p.fragment_length < p.length and p.fragment == 0 and p.fragment_length) or nil
      unit = message.unit
      if not unit and p.fragment > 0 then
        -- All fragments before this last one were full.
        unit = math.floor((p.length - p.fragment_length) / p.fragment)
      end
    end
    note.offset = p.fragment * (unit or 0)
    add_part(note, message.whole, note.offset, p, number)
  end

  local function region_key(owner_to_puller, id, generation)
    return owner_to_puller .. "#" .. id .. "." .. generation
  end

  -- Makes the transfer of an RNDV whose data follow unscheduled, without a PULL. Those frames name the RNDV
  -- instead.
  local function follow_unscheduled(message, note, frame, p, number)
    local handle = p.seq * 65536 + p.rdma_seq * 256 + p.rdma_id
    local low = p.dst_endpoint >= 128 and p.dst_endpoint - 128 or p.dst_endpoint + 128  -- XOR 80h
    local magic = 0x55A50000 + p.src_endpoint * 256 + low
    transfers[frame.dst .. "/" .. handle .. "/" .. magic] = {
      message = message, owner = frame.src, owner_endpoint = p.src_endpoint, puller_endpoint = p.dst_endpoint,
      blocks = {}, extended = note.extended,
    }
    local tail = p.tail and #p.tail or 0
    message.whole = Reassembly.begin(p.msg_length - tail)
  end

  follow[40] = function(note, frame, p, number)
    local there = directions(frame, p)
    local record, before = follow_message("RNDV", note, frame, p, number)
    local message = record.message
    if before and message.rndv_in then
      again(note, record.frame)
    else
      -- The receiver refused the data that came with the first RNDV. They stay with the sender until they are
      -- requested.
      if before then message.whole = nil end
      message.length, message.rndv_in = p.msg_length, number
      message.tail = p.tail
      if p.unscheduled then follow_unscheduled(message, note, frame, p, number) end
      regions[region_key(there, p.rdma_id, p.rdma_seq)] = message
    end
  end

  follow[41] = function(note, frame, p, number)
    local _, back = directions(frame, p)
    local message = regions[region_key(back, note.extended and p.rdma_id or p.rdma_id % 256, p.rdma_seq)]
    local key = frame.src .. "/" .. p.handle .. "/" .. p.magic
    local transfer = transfers[key]
    if not transfer or transfer.message ~= message or transfer.owner ~= frame.dst then
      transfer = {
        message = message or new_message("PULL", number), owner = frame.dst, owner_endpoint = p.dst_endpoint,
        puller_endpoint = p.src_endpoint, blocks = {}, extended = note.extended,
      }
      transfers[key] = transfer
    end
    message = transfer.message
    note.message = message
    message.first_pull = message.first_pull or number
    if not message.whole then
      message.whole = Reassembly.begin(p.total_length)
      local tail, length = message.tail, message.length
      if tail and length and length == p.total_length and #tail > 0 then
        Reassembly.add(message.whole, length - #tail, #tail, tail, message.rndv_in)
      end
    end
    local block = { frame = number, first = p.frame_index }
    local unit = p.reply_max
    if unit then
      block.from = p.frame_index * unit - p.rdma_offset % unit + p.first_offset
      block.to = block.from + p.block_length
    end
    for _, earlier in ipairs(transfer.blocks) do
      if earlier.first == block.first and earlier.to == block.to then again(note, earlier.frame) end
    end
    table.insert(transfer.blocks, 1, block)
    transfer.blocks[kBlocks + 1] = nil
    note.block = block
  end

  -- Returns the newest PULL that requested this reply.
  local function block_of(transfer, p)
    for _, block in ipairs(transfer.blocks) do
      if block.from then
        if p.reply_offset >= block.from and p.reply_offset < block.to then return block end
      elseif (p.reply_seq - block.first) % 256 < 64 then
        return block
      end
    end
    return nil
  end

  local function transfer_of(puller, p)
    return transfers[puller .. "/" .. p.handle .. "/" .. p.magic]
  end

  -- Returns whether both ends of this transfer use extensions, or nil. The frames of a transfer do not show
  -- it.
  function Messages.extended_of_transfer(puller, p)
    local transfer = transfer_of(puller, p)
    if transfer then return transfer.extended end
    return nil
  end

  follow[42] = function(note, frame, p, number)
    local transfer = transfer_of(frame.dst, p)
    if not transfer then return end
    note.message = transfer.message
    local block = block_of(transfer, p)
    if block then
      note.pull = block.frame
      block.first_reply = block.first_reply or number
    end
    add_part(note, transfer.message.whole, p.reply_offset, p, number)
  end

  follow[43] = function(note, frame, p, number)
    local there, back = directions(frame, p)
    local message = regions[region_key(back, p.rdma_id, p.rdma_seq)]
    local record, before = numbered(there, p.session, p.seq, function()
      return message or new_message("NOTIFY", number)
    end, number)
    note.record, note.message = record, record.message
    if before then
      again(note, record.frame)
    else
      record.message.notify_in = number
    end
    note.acked = acknowledge(back, p.ack, number)
  end

  follow[35] = function(note, frame, p, number)
    local _, back = directions(frame, p)
    note.acked = acknowledge(back, p.ack, number)
  end

  follow[44] = function(note, frame, p, number)
    local now = counts[direction(frame.dst, p.dst_endpoint, frame.src, p.src_endpoint)]
    local record = now and now.by_number[p.seq % kNumbers]
    if p.seq == 0 or not record then return end
    note.refuses, note.message = record.frame, record.message
    record.refused_in = number
  end

  follow[45] = function(note, frame, p, number)
    local transfer = transfer_of(frame.dst, p)
    if not transfer then return end
    note.message = transfer.message
    local block = transfer.blocks[1]
    note.refuses, block.refused_in = block.frame, number
  end

  follow[65] = function(note, frame, p, number)
    if p.packets then return end  -- each packet in it is followed by itself
    local there, back = directions(frame, p)
    note.records = {}
    for i = 1, p.records do
      local record, before = numbered(there, p.session, p.seq - p.seq % kNumbers + (p.seq + i - 1) % kNumbers,
        function() return new_message("PACK", number) end, number)
      note.records[i] = { record = record, again_of = before and record.frame or nil }
    end
    note.acked = acknowledge(back, p.ack, number)
  end

  -- Links requests and answers, which have the same key.
  local function follow_request(key, note, is_answer, number)
    local request = requests[key]
    if is_answer then
      if not request then return end
      request.reply_in = request.reply_in or number
      note.request = request
    elseif request and not request.reply_in then
      note.request_self = request
      again(note, request.frame)
    else
      request = { frame = number }
      requests[key] = request
      note.request_self = request
    end
  end

  follow[36] = function(note, frame, p, number)
    local there, back = directions(frame, p)
    local key = p.is_reply and back or there
    follow_request("connect " .. key .. p.connect_session .. "." .. p.connect_seq, note, p.is_reply, number)
  end
  follow[64] = function(note, frame, p, number)
    if p.flags % 128 >= 64 then return end  -- an announcement, which has no answer
    local there, back = directions(frame, p)
    follow_request("probe " .. (p.is_reply and back or there) .. p.cookie, note, p.is_reply, number)
  end
  follow[3] = function(note, frame, p, number)
    follow_request("host " .. frame.src .. p.host_magic, note, false, number)
  end
  follow[4] = function(note, frame, p, number)
    follow_request("host " .. frame.dst .. p.host_magic, note, true, number)
  end

  -- Notes a frame. `p` has the values of a well-formed packet.
  function Messages.note(note, frame, p, number)
    local step = follow[p.type]
    if step then step(note, frame, p, number) end
  end

  return Messages
end
