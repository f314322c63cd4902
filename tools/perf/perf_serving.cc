// SPDX-License-Identifier: BSD-3-Clause
#include "tools/perf/perf_serving.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace omx::tools {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint32_t kStopSliceMs = 100;

double since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace

// Returns false if `stop` became true.
Result<bool> PerfServing::hello_wait(std::string& client, const std::atomic<bool>* stop) {
  port_.set_waiting(true, stop ? kStopSliceMs : 0);
  port_.forget_peer();
  std::byte buffer[kDialogueBytes] = {};  // a shorter message must not look like an earlier one
  const auto request =
      port_.receive(buffer, encoded_bytes<PerfHello>(), match_of(PerfKind::hello, 0), kKindMask);
  if (!request) return tl::unexpected(request.error());
  auto status = port_.complete(*request);
  while (!status && stop && status.error().mx_code == MX_TIMEOUT) {
    if (*stop) return false;
    status = port_.complete(*request);
  }
  if (!status) return tl::unexpected(status.error());
  const auto hello = decode<PerfHello>(buffer);
  std::uint64_t nic = 0;
  mx_decompose_endpoint_addr(status->source, &nic, nullptr);
  client = "client " + nic_text(nic);
  client_ = status->source;
  number_ = hello.number();
  const bool known = hello.version == kDialogueFirst;
  dialogue_ = known ? std::min(hello.dialogue(), kDialogueNewest) : kDialogueFirst;
  port_.set_waiting(true, timeout_ms_);
  seat_.exchange.meet(port_, client_, number_);
  const PerfVerdict verdict = known ? PerfVerdict::fine : PerfVerdict::version_differs;
  if (auto r = answer({static_cast<std::uint64_t>(verdict), kDialogueNewest}); !r)
    return tl::unexpected(r.error());
  if (known) return true;
  return fail(MX_FAILURE,
              fmt::format("its omx perf speaks dialogue {} only, this one {} and older: install the "
                          "same Open-MX on both",
                          hello.version, kDialogueNewest));
}

Result<void> PerfServing::serve(std::string& client, const std::atomic<bool>* stop) {
  const auto came = hello_wait(client, stop);
  if (!came) return tl::unexpected(came.error());
  for (bool stays = *came; stays;) {
    const auto served = request();
    if (!served) return tl::unexpected(served.error());
    stays = *served;
  }
  return {};
}

Result<bool> PerfServing::request() {
  port_.set_waiting(true, timeout_ms_);
  std::byte buffer[kDialogueBytes] = {};
  const auto request = port_.receive(buffer, sizeof buffer, match_of(PerfKind::control, number_));
  if (!request) return tl::unexpected(request.error());
  if (auto status = port_.complete(*request); !status) return tl::unexpected(status.error());
  const auto wanted = decode<PerfStep>(buffer);
  Result<void> served;
  switch (static_cast<PerfAsk>(wanted.ask)) {
    case PerfAsk::bye:
      return false;
    case PerfAsk::step:
      served = step(wanted);
      break;
    case PerfAsk::member:
      served = member(decode<PerfMember>(buffer));
      break;
    case PerfAsk::group_step:
      served = group_step(wanted);
      break;
    default:
      served = answer(PerfVerdict::step_refused);
  }
  if (!served) return tl::unexpected(served.error());
  return true;
}

Result<void> PerfServing::step(const PerfStep& wanted) {
  const auto ready = seat_.exchange.prepare(wanted);
  if (!ready) return tl::unexpected(ready.error());
  if (auto r = answer(*ready ? PerfVerdict::fine : PerfVerdict::step_refused); !r || !*ready) return r;
  port_.set_waiting(wanted.blocking != 0, timeout_ms_);
  meter_.start();
  const Clock::time_point start = Clock::now();
  if (auto r = seat_.exchange.run(nullptr); !r) return r;
  const double seconds = since(start);
  return result(seat_.exchange.mismatch(), meter_.stop(), seconds);
}

Result<void> PerfServing::member(const PerfMember& member) {
  const auto added = seat_.group.member_add(port_, member, timeout_ms_);
  if (!added) return answer(PerfVerdict::unreached);
  return answer(*added ? PerfVerdict::fine : PerfVerdict::step_refused);
}

Result<void> PerfServing::group_step(const PerfStep& wanted) {
  const auto ready = seat_.group.prepare(wanted);
  if (!ready) return tl::unexpected(ready.error());
  if (!*ready) return answer(PerfVerdict::step_refused);
  // Expected before the answer, after which it may come at any time.
  std::byte buffer[kDialogueBytes];
  const auto go = port_.receive(buffer, sizeof buffer, match_of(PerfKind::go, number_));
  if (!go) return tl::unexpected(go.error());
  if (auto r = answer(PerfVerdict::fine); !r) return r;
  if (auto status = port_.complete(*go); !status) return tl::unexpected(status.error());
  port_.set_waiting(wanted.blocking != 0, timeout_ms_);
  meter_.start();
  const Clock::time_point start = Clock::now();
  if (auto r = seat_.group.run(); !r) return r;
  const double seconds = since(start);
  return result(seat_.group.mismatch(), meter_.stop(), seconds);
}

Result<void> PerfServing::result(const std::optional<Mismatch>& wrong, const PerfUsage& usage,
                                 double seconds) {
  PerfAnswer what;
  if (wrong) what = {static_cast<std::uint64_t>(PerfVerdict::data_wrong), wrong->message, wrong->offset};
  what.set_usage(usage);
  what.took_ns = static_cast<std::uint64_t>(seconds * 1e9);
  return answer(what);
}

Result<void> PerfServing::answer(const PerfAnswer& what) {
  std::byte buffer[kDialogueBytes];
  const std::size_t whole = encode(what, buffer);
  const std::size_t size = dialogue_ == kDialogueFirst ? kFirstAnswerBytes : whole;
  const auto request = port_.send(client_, buffer, size, match_of(PerfKind::answer, number_), false);
  if (!request) return tl::unexpected(request.error());
  if (auto status = port_.complete(*request); !status) return tl::unexpected(status.error());
  return {};
}

}  // namespace omx::tools
