// SPDX-License-Identifier: BSD-3-Clause
// What the parts of an open endpoint share. The endpoint's lock guards all of it. Each part (receiving,
// waiting, reports, ...) keeps its state in its own class. It knows the core and the parts below it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "config/settings.h"
#include "link/transport.h"
#include "local/hub.h"
#include "protocol/endpoint.h"
#include "runtime/board/boards.h"
#include "runtime/board/claim.h"
#include "runtime/endpoint/completion_sink.h"
#include "runtime/endpoint/copies.h"
#include "runtime/endpoint/counters_shared.h"
#include "runtime/endpoint/router.h"
#include "runtime/wait/locked_clock.h"

namespace omx::runtime {

struct EndpointCore : LockedClock {
  EndpointCore(const Board& its_board, std::uint8_t its_id, const Settings& its_settings)
      : board(its_board), id(its_id), settings(its_settings) {}

  // Makes the copy that a send owes, so that the send need not wait for its acknowledgement. Returns false
  // when no send owes one.
  bool copy_end() {
    if (!engine->copy_owed()) return false;
    engine->copy_make(now);
    return true;
  }
  // Tells the engine whether its waiting threads sleep between frames.
  void set_sleeping(bool sleeps);
  bool sleeping() const { return sleeping_; }
  // Returns whether large messages come through the receive ring, not by paths from which the kernel copies
  // them.
  bool by_ring() const;

  Board board;
  const std::uint8_t id;
  const Settings& settings;
  std::unique_ptr<CounterSegment> segment;
  std::unique_ptr<link::Transport> link;
  std::unique_ptr<local::Hub> hub;  // nullptr: switched off
  std::unique_ptr<Router> out;      // what the engine sends through
  std::unique_ptr<Copies> copies;   // nullptr where the processor copies, as usual
  std::unique_ptr<protocol::Endpoint> engine;
  CompletionSink* sink = nullptr;
  Claim claim;
  std::uint64_t signals = 0;  // see EngineAccess::signal
  std::uint64_t calls = 0;    // operations of the application
  std::uint64_t turns = 0;    // of the engine
  TimeNs last_turn = 0;

 private:
  bool sleeping_ = false;
};

}  // namespace omx::runtime
