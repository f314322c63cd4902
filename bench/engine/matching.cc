// SPDX-License-Identifier: BSD-3-Clause
// omx_matching: measures a match when many receives are posted or many messages wait (Google Benchmark). Each
// iteration removes an entry and adds it again, so that the depth stays. Entries are removed in random order,
// the worst case for lists and caches.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <vector>

#include "base/random.h"
#include "protocol/state/matching.h"

namespace {

using omx::Random;
using omx::protocol::PostedReceives;
using omx::protocol::Request;
using omx::protocol::RequestKind;
using omx::protocol::Unexpected;
using omx::protocol::UnexpectedQueue;

constexpr std::uint32_t kAnySession = 0xFFFFFFFF;  // session of a receive from any source
constexpr std::uint64_t kExact = ~std::uint64_t{0};
// MPI libraries use such a mask for a receive from any source: communicator and tag must match, the rank need
// not.
constexpr std::uint64_t kAnySource = 0xFFFF0000FFFFFFFF;

std::uint64_t info_of(std::uint64_t i) {
  return i << 32 | (0x1234 + i);  // rank and tag
}

std::vector<std::uint64_t> shuffled(std::size_t count) {
  std::vector<std::uint64_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  Random random(7);
  for (std::size_t i = count - 1; i > 0; i--) std::swap(order[i], order[random.below(i + 1)]);
  return order;
}

class Posted {
 public:
  explicit Posted(std::size_t depth, std::uint64_t mask) {
    for (std::uint64_t i = 0; i < depth; i++) post(info_of(i), mask);
  }
  ~Posted() {
    while (Request* r = table.any()) table.remove(*r);
  }
  Posted(const Posted&) = delete;
  Posted& operator=(const Posted&) = delete;
  void post(std::uint64_t info, std::uint64_t mask) {
    Request& r = *requests_.emplace_back(std::make_unique<Request>(RequestKind::receive));
    r.match_info = info & mask;
    r.rx.match_mask = mask;
    table.add(r);
  }
  PostedReceives table;

 private:
  std::vector<std::unique_ptr<Request>> requests_;
};

void posted(benchmark::State& state, std::uint64_t mask) {
  const auto depth = static_cast<std::size_t>(state.range(0));
  Posted posted(depth, mask);
  const auto order = shuffled(depth);
  std::size_t i = 0;
  for (auto _ : state) {
    Request* r = posted.table.find(info_of(order[i]), nullptr, kAnySession, 0);
    if (!r) {
      state.SkipWithError("no match");
      break;
    }
    posted.table.remove(*r);
    posted.table.add(*r);
    if (++i == depth) i = 0;
  }
}

// Finds a receive for any message, posted behind many exact receives that do not match.
void posted_behind(benchmark::State& state) {
  Posted posted(static_cast<std::size_t>(state.range(0)), kExact);
  posted.post(0, 0);
  for (auto _ : state) {
    Request* r = posted.table.find(kExact, nullptr, kAnySession, 0);
    if (!r) {
      state.SkipWithError("no match");
      break;
    }
    posted.table.remove(*r);
    posted.table.add(*r);
  }
}

class Waiting {
 public:
  explicit Waiting(std::size_t depth) {
    for (std::uint64_t i = 0; i < depth; i++) {
      Unexpected& u = *messages_.emplace_back(std::make_unique<Unexpected>());
      u.match_info = info_of(i);
      queue.add(u);
    }
  }
  ~Waiting() {
    while (Unexpected* u = queue.front()) queue.remove(*u);
  }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;
  UnexpectedQueue queue;

 private:
  std::vector<std::unique_ptr<Unexpected>> messages_;
};

void unexpected(benchmark::State& state, std::uint64_t mask) {
  const auto depth = static_cast<std::size_t>(state.range(0));
  Waiting waiting(depth);
  const auto order = shuffled(depth);
  std::size_t i = 0;
  for (auto _ : state) {
    Unexpected* u = waiting.queue.find(info_of(order[i]) & mask, mask, nullptr, kAnySession, 0);
    if (!u) {
      state.SkipWithError("no match");
      break;
    }
    waiting.queue.remove(*u);
    waiting.queue.add(*u);
    if (++i == depth) i = 0;
  }
}

// Searches for a message that has not arrived: the cost of posting such a receive.
void unexpected_none(benchmark::State& state) {
  Waiting waiting(static_cast<std::size_t>(state.range(0)));
  std::uint64_t info = 0;
  for (auto _ : state) benchmark::DoNotOptimize(waiting.queue.find(--info, kExact, nullptr, kAnySession, 0));
}

void depths(benchmark::internal::Benchmark* b) {
  for (const int depth : {10, 1000, 100'000}) b->Arg(depth);
}

BENCHMARK_CAPTURE(posted, exact, kExact)->Apply(depths);
BENCHMARK_CAPTURE(posted, any_source, kAnySource)->Apply(depths);
BENCHMARK(posted_behind)->Name("posted/anything_behind_exact")->Apply(depths);
BENCHMARK_CAPTURE(unexpected, exact, kExact)->Apply(depths);
BENCHMARK_CAPTURE(unexpected, any_source, kAnySource)->Apply(depths);
BENCHMARK_CAPTURE(unexpected, anything, 0)->Apply(depths);
BENCHMARK(unexpected_none)->Name("unexpected/exact_none")->Apply(depths);

}  // namespace

BENCHMARK_MAIN();
