// SPDX-License-Identifier: BSD-3-Clause
// Measures a path by the probes of an agent's link.
#include <algorithm>
#include <array>

#include "base/clock.h"
#include "tools/cluster/judge.h"
#include "tools/cluster/probe_link.h"

namespace omx::tools {

namespace {

constexpr TimeNs kMillisecond = 1'000'000;
constexpr TimeNs kReachWait = 100 * kMillisecond;  // for an answer: much longer than any path, and than a
                                                   // busy host keeps a thread waiting
constexpr TimeNs kEchoWait = 20 * kMillisecond;    // a lost echo is only one sample less
constexpr std::uint32_t kReachTries = 5;
constexpr std::uint32_t kSizeTries = 3;
constexpr std::uint32_t kEchoes = 100;
constexpr std::uint32_t kBatch = 32;  // data frames per answer
constexpr std::uint32_t kBatchesAhead = 2;
constexpr std::uint32_t kUnknownWindow = 1 << 16;
constexpr std::uint32_t kEchoNumbers = 1U << 31;  // and above; data frames have the numbers below

}  // namespace

// An answer to a later frame will do: then that of this one is lost.
bool ProbeLink::await(std::uint32_t number, TimeNs until) {
  const auto answers = [number](std::uint32_t n) {
    return n >= number && (n & kEchoNumbers) == (number & kEchoNumbers);
  };
  ProbeLink* const self[] = {this};
  for (;;) {
    serve();
    if (std::any_of(replied_.begin(), replied_.end(), answers)) return true;
    if (clock_now() >= until) return false;
    sleep(self, -1, until);
  }
}

bool ProbeLink::echo(const ProbePeer& peer, std::uint32_t bytes, std::uint32_t tries, TimeNs wait) {
  for (std::uint32_t i = 0; i < tries; i++) {
    replied_.clear();
    const std::uint32_t number = next_++;
    frame_send({.to = peer.nic,
                .to_endpoint = peer.endpoint,
                .kind = ProbeKind::echo,
                .token = token_,
                .number = number},
               bytes);
    flush();
    if (await(number, clock_now() + wait)) return true;
  }
  return false;
}

std::uint32_t ProbeLink::largest_find(const ProbePeer& peer, std::uint32_t expected) {
  constexpr std::array<std::uint32_t, 5> kUsualMtus{9000, 8000, 4000, 1500, 1280};
  if (echo(peer, expected, kSizeTries, kReachWait)) return expected;
  for (const std::uint32_t mtu : kUsualMtus) {
    const auto bytes = static_cast<std::uint32_t>(mtu + wire::kEthernetHeader);
    if (bytes < expected && echo(peer, bytes, kSizeTries, kReachWait)) return bytes;
  }
  return wire::kMinFrame;
}

// Returns the median, or 0 without an answer.
double ProbeLink::half_round_trip(const ProbePeer& peer, TimeNs deadline) {
  std::vector<double> times;
  for (std::uint32_t i = 0; i < kEchoes && clock_now() < deadline; i++) {
    const TimeNs begin = clock_now();
    if (echo(peer, wire::kMinFrame, 1, kEchoWait))
      times.push_back(static_cast<double>(clock_now() - begin) / 2000);
  }
  return middle_of(std::move(times)).median;
}

// Sends batches, of which the receiver answers the last frame. No more are under way than it can hold, so
// that what is lost is lost on the way. Time in which an answer stays out does not count for the bandwidth.
void ProbeLink::data_send(const ProbePeer& peer, std::uint32_t frames, TimeNs deadline, ProbeResult& result) {
  const std::uint32_t room = std::max(1U, (peer.window ? peer.window : kUnknownWindow) / 2 / result.frame);
  const std::uint32_t batch = std::clamp(room / kBatchesAhead, 1U, kBatch);
  std::vector<std::uint32_t> awaited;
  const TimeNs begin = clock_now();
  TimeNs stalled = 0;
  replied_.clear();
  const auto settle = [&](std::size_t ahead) {
    while (awaited.size() > ahead) {
      const TimeNs from = clock_now();
      const std::uint32_t number = awaited.front();
      if (!await(number, from + kReachWait)) stalled += clock_now() - from;
      std::erase_if(replied_, [number](std::uint32_t n) { return n <= number; });
      awaited.erase(awaited.begin());
    }
  };
  for (std::uint32_t i = 0; i < frames && clock_now() < deadline; i++) {
    const bool last = (i + 1) % batch == 0 || i + 1 == frames;
    frame_send({.to = peer.nic,
                .to_endpoint = peer.endpoint,
                .kind = last ? ProbeKind::data_answered : ProbeKind::data,
                .token = token_,
                .number = i},
               result.frame);
    result.sent++;
    if (!last) continue;
    flush();
    awaited.push_back(i);
    settle(kBatchesAhead - 1);
  }
  flush();
  settle(0);
  const TimeNs busy = clock_now() - begin - stalled;
  if (busy > 0 && result.sent >= batch)
    result.gbps = static_cast<double>(result.sent) * result.frame * 8 / static_cast<double>(busy);
}

ProbeResult ProbeLink::measure(const ProbePeer& peer, std::uint32_t token, std::uint32_t frames,
                               TimeNs deadline) {
  ProbeResult result;
  token_ = token;
  next_ = kEchoNumbers;
  seen_.clear();
  constexpr std::uint32_t kMtuMost = 65535;  // of what PROBE can say
  const std::uint32_t mtu = std::min({link_->interface().mtu(), peer.mtu, kMtuMost});
  result.expected = std::max<std::uint32_t>(mtu + wire::kEthernetHeader, wire::kMinFrame);
  result.reached = echo(peer, wire::kMinFrame, kReachTries, kReachWait);
  if (!result.reached) return result;
  result.frame = largest_find(peer, result.expected);
  result.half_round_trip_us = half_round_trip(peer, deadline);
  data_send(peer, frames, deadline, result);
  return result;
}

}  // namespace omx::tools
