// SPDX-License-Identifier: BSD-3-Clause
// A client's conversation with one server of `omx perf` (perf_dialogue.h).
#pragma once

#include <cstdint>
#include <string>

#include "tools/perf/perf_dialogue.h"
#include "tools/perf/perf_mx.h"

namespace omx::tools {

class PerfTalk {
 public:
  // `peer` is the name by which the user called the server's host.
  PerfTalk(MxPort& port, std::string peer, std::uint32_t timeout_ms)
      : port_(port), peer_(std::move(peer)), timeout_ms_(timeout_ms) {}

  // Connects and says hello. A server that has just lost its client opens its endpoint again, so connecting
  // is tried again as long as the time-out lets it.
  Result<void> connect(std::uint64_t nic, std::uint32_t endpoint);
  Result<void> bye();

  // Asks and waits for the answer.
  template <class T>
  Result<PerfAnswer> ask(const T& what) {
    if (auto r = answer_expect(); !r) return tl::unexpected(r.error());
    if (auto r = tell(PerfKind::control, what); !r) return tl::unexpected(r.error());
    return answer_take();
  }
  // The parts of ask(). An answer must be expected before it can be taken.
  Result<void> answer_expect();
  Result<PerfAnswer> answer_take();
  template <class T>
  Result<void> tell(PerfKind kind, const T& what, bool sync = false) {
    std::byte buffer[kDialogueBytes];
    const std::size_t size = encode(what, buffer);
    return send(kind, buffer, size, sync);
  }

  // Returns the failure for an answer that reports wrong data.
  static tl::unexpected<Failure> data_wrong(std::uint64_t size, std::uint64_t message, std::uint64_t offset,
                                            const std::string& where);
  // Fails if the server is too old for `what`.
  Result<void> require(std::uint64_t dialogue, const char* what) const;

  const std::string& peer() const { return peer_; }
  const mx_endpoint_addr_t& server() const { return server_; }
  std::uint32_t number() const { return number_; }
  std::uint64_t dialogue() const { return dialogue_; }  // what both ends know
  double round_trip_s() const { return round_trip_s_; }

 private:
  Result<void> meet(std::uint64_t nic, std::uint32_t endpoint);
  Result<void> send(PerfKind kind, const std::byte* data, std::size_t size, bool sync);

  MxPort& port_;
  const std::string peer_;
  const std::uint32_t timeout_ms_;
  mx_endpoint_addr_t server_{};
  bool server_seen_ = false;
  std::uint32_t number_ = 0;
  std::uint64_t dialogue_ = kDialogueFirst;
  double round_trip_s_ = 0;  // of the hello
  mx_request_t expected_ = nullptr;
  std::byte answer_[kDialogueBytes];
};

}  // namespace omx::tools
