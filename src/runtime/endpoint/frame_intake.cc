// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/endpoint/frame_intake.h"

#include <cassert>
#include <new>

#include "wire/codec.h"

namespace omx::runtime {

void FrameIntake::on_frame(wire::Frame frame) {
  assert(core_.lock.owned());
  if (progression_.disabled()) return defer(0, frame);
  const bool ours = frame.size() >= kAddressedFrameLeast && wire::destination_endpoint(frame) == core_.id;
  if (!ours && answers_.on_frame(frame)) return;
  core_.engine->on_frame(core_.now, frame);  // the engine also counts frames that no endpoint wants
}

void FrameIntake::on_rail_frame(unsigned rail, wire::Frame frame) {
  assert(rail > 0);
  if (progression_.disabled()) return defer(rail, frame);
  core_.engine->on_frame_by(core_.now, rail, frame);
}

void FrameIntake::frames_marked(bool marked) {
  core_.engine->frames_marked(marked);
}

void FrameIntake::on_refused(wire::Frame frame) {
  if (!progression_.disabled()) core_.engine->connect_refused(core_.now, frame);
}

// Keeps a frame when the handler disabled progression in the middle of a batch. Frames cannot be handed back
// to the link. If there is no memory the frame is lost, and the protocol recovers it.
void FrameIntake::defer(unsigned rail, wire::Frame frame) {
  try {
    deferred_.emplace_back(rail, std::vector(frame.begin(), frame.end()));
  } catch (const std::bad_alloc&) {
  }
}

std::size_t FrameIntake::deferred_take() {
  decltype(deferred_) frames;
  frames.swap(deferred_);
  for (const auto& [rail, frame] : frames) {
    if (rail == 0)
      on_frame(frame);
    else
      on_rail_frame(rail, frame);
  }
  return frames.size();
}

}  // namespace omx::runtime
