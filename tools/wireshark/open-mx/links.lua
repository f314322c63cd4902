-- SPDX-License-Identifier: BSD-3-Clause
-- Shows what follows from other frames: the message to which a frame belongs, and where it was announced,
-- requested, answered and acknowledged. The last part of a message shows the whole message.
return function(f, e, Reassembly)
  local function link(tree, field, number)
    if number then tree:add(field, number):set_generated() end
  end

  local function show_whole(tree, message, note)
    local whole = message.whole
    if whole.reason then tree:add_proto_expert_info(e.not_kept, "Message " .. message.id .. " is not put together: " .. whole.reason) end
    if not whole.data then return end
    if whole.last ~= note then return link(tree, f.reassembled_in, whole.done_in) end
    for _, frame in ipairs(Reassembly.frames(whole)) do link(tree, f.fragment, frame) end
    tree:add(f.fragment_count, whole.count):set_generated()
    tree:add(f.reassembled_length, whole.length):set_generated()
    if whole.length > 0 then
      local bytes = ByteArray.new(whole.data, true):tvb("Message " .. message.id)
      tree:add(f.reassembled, bytes())
    end
  end

  local function show_message(tree, note, number, type)
    local message = note.message
    tree:add(f.message, message.id):set_generated()
    if message.rndv_in ~= number then link(tree, f.rndv_in, message.rndv_in) end
    if type == 40 then link(tree, f.first_pull, message.first_pull) end
    if message.notify_in ~= number then link(tree, f.notify_in, message.notify_in) end
    if message.whole and (type == 39 or type == 41 or type == 42) then show_whole(tree, message, note) end
  end

  local function show_again(tree, number)
    if not number then return end
    link(tree, f.again_of, number)
    tree:add_proto_expert_info(e.again)
  end

  local function show_record(tree, record)
    link(tree, f.acked_in, record.acked_in)
    if record.refused_in then link(tree, f.refused_in, record.refused_in) end
  end

  return function(note, tree, p, number)
    if note.message then show_message(tree, note, number, p.type) end
    if note.offset then tree:add(f.medium_offset, note.offset):set_generated() end
    if note.record then show_record(tree, note.record) end
    for i, one in ipairs(note.records or {}) do
      local sub = p.record_trees and p.record_trees[i] or tree
      sub:add(f.message, one.record.message.id):set_generated()
      show_again(sub, one.again_of)
      show_record(sub, one.record)
    end
    for _, record in ipairs(note.acked or {}) do
      -- A TRUC only acknowledges, so it belongs to the messages that it acknowledges.
      if p.type == 35 then tree:add(f.message, record.message.id):set_generated() end
      tree:add(f.acked_message, record.message.id):set_generated()
      link(tree, f.ack_of, record.frame)
    end
    if note.block then
      link(tree, f.first_reply, note.block.first_reply)
      link(tree, f.refused_in, note.block.refused_in)
    end
    link(tree, f.pull_in, note.pull)
    link(tree, f.refuses, note.refuses)
    if note.request then link(tree, f.request_in, note.request.frame) end
    if note.request_self then link(tree, f.reply_in, note.request_self.reply_in) end
    if p.type == 44 or p.type == 45 then tree:add_proto_expert_info(e.refused) end
    show_again(tree, note.again_of)
  end
end
