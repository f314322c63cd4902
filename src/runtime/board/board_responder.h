// SPDX-License-Identifier: BSD-3-Clause
// Answers what is asked of the board, not of an endpoint: its name, and connection requests to endpoint ids
// that no process has open. The frames reach every endpoint of the board, and the one that holds the
// responder's claim answers. The holder's process may compute without calling us, so another endpoint
// answers a question that comes again. Answers may be sent more than once.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <utility>

#include "runtime/board/boards.h"
#include "runtime/board/claim.h"
#include "runtime/board/peer_table.h"
#include "runtime/clock.h"
#include "wire/codec.h"
#include "wire/frame_io.h"

namespace omx::runtime {

// Encodes into `out`, of wire::kMinFrame bytes at least, the refusal of a request to connect to an endpoint
// that no process has open. Returns its length.
std::size_t connect_refuse(std::byte* out, const wire::Head& request, const wire::Connect& connect,
                           std::uint32_t endpoints_max);

// The peer index in a broker's HOST_REPLY, so that processes that use brokers prefer it. No other receiver
// looks at it.
inline constexpr std::uint16_t kBrokerIndex = 1;

class BoardResponder {
 public:
  // All arguments must outlive the responder. Answers go to the sink; the caller flushes it.
  BoardResponder(const Board& board, std::uint32_t endpoints_max, PeerTable& peers, wire::FrameSink& sink,
                 TimeNs (*clock)() = clock_now)
      : board_(board), endpoints_max_(endpoints_max), peers_(peers), sink_(sink), clock_(clock) {}

  // Returns whether this endpoint answers for the board. Takes the role over when no endpoint has it.
  bool responsible();
  // Returns false when the frame does not concern the responder.
  bool on_frame(wire::Frame frame);

  // Makes this responder, a broker's, answer for the board alone, without a claim. `open` returns whether a
  // process has an endpoint open.
  void alone(std::function<bool(std::uint32_t endpoint)> open) { open_ = std::move(open); }

  // Gives the claims up, because the board's interface has another index now.
  void board_moved() { claim_ = Claim(), answer_ = Claim(); }

  // From now on, asks each host that queries our name for its own name.
  void ask_back() { asks_back_ = true; }
  // Asks a NIC for its name, or all NICs with kBroadcastNic. The answers fill the table.
  void query(NicId nic);
  // Makes the discovery daemons of legacy hosts announce their NICs. Each call needs another serial.
  void announce(std::uint32_t serial);

 private:
  // A question that this endpoint left to the responder.
  struct RecentQuestion {
    NicId asker = 0;
    std::uint64_t question = 0;
    TimeNs first = 0;
  };

  bool repeated(NicId asker, std::uint64_t question, TimeNs now);
  // Returns whether this endpoint should answer.
  bool answers(NicId asker, std::uint64_t question);
  void on_query(wire::Frame frame, const wire::Head& head);
  void reply(const wire::Head& to, const wire::HostQuery& query);
  void on_reply(wire::Frame frame, const wire::Head& head);
  void on_discovery(wire::Frame frame);
  void on_connect(wire::Frame frame, const wire::Head& head);

  const Board& board_;
  std::uint32_t endpoints_max_;
  PeerTable& peers_;
  wire::FrameSink& sink_;
  TimeNs (*clock_)();
  Claim claim_;
  Claim answer_;  // to the last question that was answered in the responder's place
  std::array<RecentQuestion, 16> questions_{};  // the oldest is forgotten first
  std::size_t questions_next_ = 0;
  bool asks_back_ = false;
  std::function<bool(std::uint32_t)> open_;
};

}  // namespace omx::runtime
