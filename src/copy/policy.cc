// SPDX-License-Identifier: BSD-3-Clause
#include "copy/policy.h"

#include <algorithm>
#include <cstring>

namespace omx::copy {

namespace {

constexpr std::uint32_t kOutstandingMost = 32;  // one process must not fill a shared queue
constexpr std::size_t kLine = 64;

std::size_t share_of(const Policy& policy, const Piece& piece) {
  if (policy.cpu_share == 0) return 0;
  const std::size_t bytes = piece.bytes / policy.cpu_share;
  const std::size_t beyond = (reinterpret_cast<std::uintptr_t>(piece.destination) + bytes) % kLine;
  return bytes > beyond ? bytes - beyond : 0;
}

}  // namespace

std::uint32_t outstanding_most(std::uint32_t threshold, std::uint32_t processes) {
  const std::uint32_t share = threshold / std::max(processes, 1U);
  return std::clamp(share > 1 ? share - 1 : 1, 1U, kOutstandingMost);
}

bool copy_wait(CopyEngine& engine, const Policy& policy, const Piece& piece, Ticket* ticket) {
  const std::size_t mine = share_of(policy, piece);
  Piece rest = piece;
  rest.source += mine;
  rest.destination += mine;
  rest.bytes -= mine;
  const Submission submission = engine.submit(rest);
  if (ticket) *ticket = submission.ticket;
  engine.poll(1);  // starts the piece if it was kept back
  if (mine) std::memcpy(piece.destination, piece.source, mine);
  if (submission.answer != Answer::accepted) {
    if (rest.bytes) std::memcpy(rest.destination, rest.source, rest.bytes);
    return true;
  }
  engine.drain(kNever);
  return !engine.failed(submission.ticket);
}

}  // namespace omx::copy
