// SPDX-License-Identifier: BSD-3-Clause
// Refuses what is sent to endpoints of the board that no process has open, as MX does (docs/spec/wire.md 7).
// So a peer that sends to a process that is gone learns it at once. One endpoint of the board, the
// responder, listens for such frames. It learns which other endpoints exist when frames for them reach it.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "link/transport.h"
#include "runtime/board/boards.h"
#include "wire/codec.h"

namespace omx::runtime {

class ClosedEndpoints {
 public:
  // The link must outlive this object. Nothing happens before listen().
  ClosedEndpoints(const Board& board, std::uint8_t own, std::uint32_t endpoints_max, wire::Mode mode,
                  link::Transport& link)
      : board_(board), own_(own), endpoints_max_(endpoints_max), mode_(mode), link_(link) {}

  bool listens() const { return listens_; }
  void listen();
  // Checks whether endpoints that were open have closed. Call it about once a second.
  void check();
  // Handles a frame for another endpoint than ours. The peer wants to be addressed with `peer_index`.
  // Returns whether the frame was answered; the caller flushes.
  bool on_frame(wire::Frame frame, std::uint16_t peer_index = wire::kUnknownPeerIndex);

 private:
  bool open(std::uint32_t endpoint) const;
  void tell_link();
  bool refuse(NicId to, std::uint16_t peer_index, wire::Frame frame, wire::NackCode code);

  const Board& board_;
  std::uint8_t own_;
  std::uint32_t endpoints_max_;
  wire::Mode mode_;
  link::Transport& link_;
  bool listens_ = false;
  std::vector<std::uint8_t> others_;  // open at the last check
  std::size_t next_ = 0;              // index in others_ of the next one to check
};

}  // namespace omx::runtime
