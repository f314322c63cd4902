// SPDX-License-Identifier: BSD-3-Clause
#include "tools/perf/perf_talk.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

namespace omx::tools {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kRetryPause{100};

}  // namespace

Result<void> PerfTalk::connect(std::uint64_t nic, std::uint32_t endpoint) {
  const Clock::time_point deadline = Clock::now() + std::chrono::milliseconds(timeout_ms_);
  auto met = meet(nic, endpoint);
  // Once it is known that the server runs another version, asking again changes nothing.
  while (!met && met.error().mx_code != MX_TIMEOUT && met.error().mx_code != MX_BAD_LIB_VERSION &&
         server_seen_ && Clock::now() < deadline) {
    std::this_thread::sleep_for(kRetryPause);
    met = meet(nic, endpoint);
  }
  return met;
}

Result<void> PerfTalk::meet(std::uint64_t nic, std::uint32_t endpoint) {
  const auto server = port_.connect(nic, endpoint, timeout_ms_);
  if (!server) return tl::unexpected(server.error());
  server_seen_ = true;
  server_ = *server;
  port_.set_peer(server_);
  if (::getrandom(&number_, sizeof number_, 0) != sizeof number_)
    return fail(MX_FAILURE, "the system gives no random number");
  port_.set_waiting(true, timeout_ms_);
  if (auto r = answer_expect(); !r) return r;
  // A synchronous hello fails if the server closes its endpoint before it has read the hello.
  const Clock::time_point asked = Clock::now();
  if (auto r = tell(PerfKind::hello, PerfHello::of(number_), true); !r) return r;
  const auto answer = answer_take();
  round_trip_s_ = std::chrono::duration<double>(Clock::now() - asked).count();
  if (!answer && answer.error().mx_code == MX_TIMEOUT) {
    return fail(MX_TIMEOUT,
                fmt::format("the server on {} does not answer: it may be serving another client", peer_));
  }
  if (!answer) return tl::unexpected(answer.error());
  const std::uint64_t theirs = std::max(answer->message, kDialogueFirst);
  if (static_cast<PerfVerdict>(answer->verdict) != PerfVerdict::fine) {
    return fail(
        MX_BAD_LIB_VERSION,
        fmt::format("the omx perf of {} speaks dialogue {} and refuses that of this one, {}: install the "
                    "same Open-MX on both",
                    peer_, theirs, kDialogueNewest));
  }
  dialogue_ = std::min(theirs, kDialogueNewest);
  return {};
}

Result<void> PerfTalk::bye() {
  port_.set_peer(server_);
  port_.set_waiting(true, timeout_ms_);
  PerfStep step;
  step.ask = static_cast<std::uint64_t>(PerfAsk::bye);
  return tell(PerfKind::control, step);
}

Result<void> PerfTalk::require(std::uint64_t dialogue, const char* what) const {
  if (dialogue_ >= dialogue) return {};
  return fail(
      MX_BAD_LIB_VERSION,
      fmt::format("the omx perf of {} speaks dialogue {}, this one dialogue {}, and {} needs dialogue {}: "
                  "install the same Open-MX on both",
                  peer_, dialogue_, kDialogueNewest, what, dialogue));
}

Result<void> PerfTalk::answer_expect() {
  std::memset(answer_, 0, sizeof answer_);  // dialogue 1 sends fewer words
  const auto request =
      port_.receive(answer_, encoded_bytes<PerfAnswer>(), match_of(PerfKind::answer, number_));
  if (!request) return tl::unexpected(request.error());
  expected_ = *request;
  return {};
}

Result<PerfAnswer> PerfTalk::answer_take() {
  if (auto status = port_.complete(expected_); !status) return tl::unexpected(status.error());
  return decode<PerfAnswer>(answer_);
}

Result<void> PerfTalk::send(PerfKind kind, const std::byte* data, std::size_t size, bool sync) {
  const auto request = port_.send(server_, data, size, match_of(kind, number_), sync);
  if (!request) return tl::unexpected(request.error());
  if (auto status = port_.complete(*request); !status) return tl::unexpected(status.error());
  return {};
}

tl::unexpected<Failure> PerfTalk::data_wrong(std::uint64_t size, std::uint64_t message, std::uint64_t offset,
                                             const std::string& where) {
  const std::string what = offset < size ? fmt::format("byte {} is wrong", offset)
                                         : std::string("bytes behind its buffer were overwritten");
  return fail(MX_FAILURE,
              fmt::format("message {} of {} bytes arrived damaged at {}: {}", message, size, where, what));
}

}  // namespace omx::tools
