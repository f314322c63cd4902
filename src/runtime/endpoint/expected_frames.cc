// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/endpoint/expected_frames.h"

#include <algorithm>

namespace omx::runtime {

// Converts what `expect` says of the next frames into what a link needs.
template <class Expect>
std::size_t ExpectedFrames::places_from(Expect expect, std::span<iovec> places) {
  if (progression_.disabled()) return 0;
  const std::size_t known = expect(std::span(frames_).first(std::min(places.size(), frames_.size())));
  for (std::size_t i = 0; i < known; i++) places[i] = {frames_[i].place, frames_[i].length};
  return known;
}

std::size_t ExpectedFrames::places(std::span<iovec> places, unsigned rail) {
  return places_from([&](auto room) { return core_.engine->expected_replies(room, rail); }, places);
}

std::size_t ExpectedFrames::udp_bulk_places(std::span<iovec> places, std::size_t& header) {
  const std::size_t known =
      places_from([&](auto room) { return core_.engine->expected_by_bulk(core_.now, room); }, places);
  header = known ? frames_[0].header : 0;
  return known;
}

}  // namespace omx::runtime
