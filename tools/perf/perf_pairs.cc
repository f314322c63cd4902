// SPDX-License-Identifier: BSD-3-Clause
#include "tools/perf/perf_pairs.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <latch>
#include <thread>

#include "tools/perf/perf_open.h"

namespace omx::tools {

namespace {

using Clock = std::chrono::steady_clock;

}  // namespace

Result<void> PerfPairs::connect() {
  for (unsigned i = 0; i < options_.threads; i++) {
    auto pair = std::make_unique<Pair>();
    auto way = way_open(options_, options_.peers.front(), i);
    if (!way) return tl::unexpected(way.error());
    pair->port = std::move(way->port);
    pair->talk.emplace(*pair->port, options_.peers.front(), options_.timeout_s * 1000);
    if (auto r = pair->talk->connect(way->nic, options_.peer_endpoint + i); !r)
      return tl::unexpected(thread_failure(options_, i, r.error()));
    pair->exchange.meet(*pair->port, pair->talk->server(), pair->talk->number());
    pairs_.push_back(std::move(pair));
  }
  return {};
}

Result<void> PerfPairs::leave() {
  for (const auto& pair : pairs_) {
    if (auto r = pair->talk->bye(); !r) return r;
  }
  return {};
}

Result<PerfTook> PerfPairs::run(const PerfStep& step, PerfHistogram* times) {
  PerfTook took;
  if (pairs_.size() == 1) {
    Pair& pair = *pairs_.front();
    if (auto r = ready(pair, step); !r) return tl::unexpected(r.error());
    meter_.start();
    if (auto r = go(pair, step, times); !r) return tl::unexpected(r.error());
    took.here = meter_.stop();
    took.seconds = pair.seconds;
  } else if (auto r = run_threads(step, times, took); !r) {
    return tl::unexpected(r.error());
  }
  took.there = pairs_.front()->answer.usage();
  for (std::size_t i = 1; i < pairs_.size(); i++) took.there.add(pairs_[i]->answer.usage());
  const auto test = static_cast<PerfTest>(step.test);
  const unsigned directions = test == PerfTest::pingpong || test == PerfTest::bistream ? 2 : 1;
  took.bytes_here = took.bytes_there = step.size * step.count * directions * pairs_.size();
  return took;
}

// Runs each pair in a thread of its own. All of them begin together, when every server is ready.
Result<void> PerfPairs::run_threads(const PerfStep& step, PerfHistogram* times, PerfTook& took) {
  // The time before all are ready is not measured.
  const auto all = static_cast<std::ptrdiff_t>(pairs_.size()) + 1;
  std::latch prepared(all), begin(all);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < pairs_.size(); i++) {
    threads.emplace_back([this, &step, &prepared, &begin, times, i] {
      Pair& pair = *pairs_[i];
      pair.failure.reset();
      pair.times.clear();
      if (options_.cpu >= 0 && !thread_pin(options_.cpu + static_cast<int>(i)))
        pair.failure = Failure{MX_FAILURE, fmt::format("cannot run on core {}", options_.cpu + i)};
      if (auto r = pair.failure ? Result<void>{} : ready(pair, step); !r) pair.failure = r.error();
      prepared.arrive_and_wait();
      begin.arrive_and_wait();
      if (pair.failure) return;
      if (auto r = go(pair, step, times ? &pair.times : nullptr); !r) pair.failure = r.error();
    });
  }
  prepared.arrive_and_wait();
  meter_.start();
  begin.arrive_and_wait();
  for (std::thread& thread : threads) thread.join();
  took.here = meter_.stop();
  for (const auto& pair : pairs_) {
    if (pair->failure) return tl::unexpected(*pair->failure);
    took.seconds = std::max(took.seconds, pair->seconds);
    if (times) times->merge(pair->times);
  }
  return {};
}

// Lets both ends prepare the step. Then the answer that ends it is expected.
Result<void> PerfPairs::ready(Pair& pair, const PerfStep& step) {
  pair.port->set_waiting(true, options_.timeout_s * 1000);
  const auto possible = pair.exchange.prepare(step);
  if (!possible) return tl::unexpected(possible.error());
  if (*possible) {
    const auto answer = pair.talk->ask(step);
    if (!answer) return tl::unexpected(answer.error());
    if (static_cast<PerfVerdict>(answer->verdict) == PerfVerdict::fine) return pair.talk->answer_expect();
  }
  return fail(MX_FAILURE, fmt::format("{} has no memory for {} messages of {} bytes at a time",
                                      *possible ? pair.talk->peer() : "this host", step.window, step.size));
}

Result<void> PerfPairs::go(Pair& pair, const PerfStep& step, PerfHistogram* times) {
  pair.port->set_waiting(step.blocking != 0, options_.timeout_s * 1000);
  const Clock::time_point start = Clock::now();
  if (auto r = pair.exchange.run(times); !r) return r;
  const auto answer = pair.talk->answer_take();
  if (!answer) return tl::unexpected(answer.error());
  pair.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  pair.answer = *answer;
  if (static_cast<PerfVerdict>(answer->verdict) == PerfVerdict::data_wrong)
    return PerfTalk::data_wrong(step.size, answer->message, answer->offset, pair.talk->peer());
  if (const auto& wrong = pair.exchange.mismatch())
    return PerfTalk::data_wrong(step.size, wrong->message, wrong->offset, "this host");
  return {};
}

}  // namespace omx::tools
