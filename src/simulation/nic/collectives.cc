// SPDX-License-Identifier: BSD-3-Clause
#include "simulation/nic/collectives.h"

#include <algorithm>
#include <cstring>

#include "base/random.h"
#include "simulation/nic/measurement.h"

namespace omx::simulation::nic {

namespace {

using protocol::Completion;
using protocol::Request;
using protocol::RequestKind;
using protocol::Status;
using Bytes = std::vector<std::byte>;
using Keys = std::vector<std::uint32_t>;

constexpr std::uint32_t kKeyBits = 23;

// One of all processes, and the exchange that it takes part in.
struct Rank {
  Process* process = nullptr;
  std::uint32_t host = 0, index = 0;
  std::vector<Bytes> out, in;  // for and from each rank
  std::uint64_t round = 0, sends = 0;
  std::uint64_t receives = 0;
};

class Collective {
 public:
  explicit Collective(const WorkOptions& options) : m_(options), options_(options) {
    const std::uint32_t each = m_.network.host(0).process_count();
    ranks_.resize(std::size_t{each} * m_.network.host_count());
    for (std::uint32_t i = 0; i < ranks_.size(); i++) {
      Rank& r = ranks_[i];
      r.host = i / each;
      r.index = i % each;
      r.process = &m_.network.process(r.host, r.index);
      r.out.resize(ranks_.size());
      r.in.resize(ranks_.size());
      r.process->on_progress = [this, i] { reap(i); };
    }
  }
  virtual ~Collective() = default;

  WorkResult run(std::uint32_t rounds) {
    rounds_ = rounds;
    if (!m_.ready()) return m_.end(0);
    m_.begin();
    for (std::uint32_t i = 0; i < ranks_.size(); i++) start(i);
    if (!m_.network.run_until([this] { return ended_ == ranks_.size() || bad_ || !m_.ready(); }) || bad_)
      return m_.failed("a collective operation did not complete");
    return m_.end(rounds);
  }

 protected:
  // Prepares what the rank sends in the round, and room for what it receives (also from ranks of its own
  // host). Returns the time that the rank computes before the exchange.
  virtual double prepare(std::uint32_t rank) = 0;

  std::size_t count() const { return ranks_.size(); }
  bool here(std::uint32_t a, std::uint32_t b) const { return ranks_[a].host == ranks_[b].host; }

  Measurement m_;
  const WorkOptions& options_;
  std::vector<Rank> ranks_;
  bool bad_ = false;

 private:
  std::uint64_t match(std::uint32_t from, std::uint64_t round) const { return round << 16 | from; }

  void start(std::uint32_t i) {
    Rank& r = ranks_[i];
    const double ns = prepare(i);
    r.sends = 0;
    for (std::uint32_t from = 0; from < ranks_.size(); from++) {
      if (here(i, from)) continue;
      r.process->call(m_.operation_ns(), [this, i, from, round = r.round] {
        m_.receive(*ranks_[i].process, ranks_[i].in[from], match(from, round));
      });
    }
    if (ns > 0) r.process->compute(ns, [] {});
    for (std::uint32_t n = 1; n <= ranks_.size(); n++) {
      // Each rank begins with a different peer.
      const auto to = static_cast<std::uint32_t>((i + n) % ranks_.size());
      if (here(i, to)) {
        r.process->call_copying(i == to ? 0 : m_.operation_ns(), ranks_[to].process->core(), r.out[to].size(),
                                [] {});
        continue;
      }
      r.process->call(m_.operation_ns(), [this, i, to, round = r.round] {
        Rank& me = ranks_[i];
        m_.send(*me.process, m_.network.peer(me.host, me.index, ranks_[to].host, ranks_[to].index),
                me.out[to], match(i, round));
      });
    }
    // Data through memory are there when all other data are.
    r.process->call(0, [this, i] { done_check(i); });
  }

  void reap(std::uint32_t i) {
    Rank& r = ranks_[i];
    while (Request* request = r.process->engine().peek_done()) {
      const Completion c = r.process->engine().consume(request);
      bad_ = bad_ || c.status != Status::success;
      if (c.kind == RequestKind::send)
        r.sends++;
      else
        r.receives++;
    }
    done_check(i);
  }

  void done_check(std::uint32_t i) {
    Rank& r = ranks_[i];
    const std::uint64_t others = ranks_.size() - m_.network.host(0).process_count();
    if (r.sends < others || r.receives < others) return;
    r.sends = r.receives = 0;
    if (++r.round == rounds_) {
      ended_++;
      return;
    }
    start(i);
  }

  std::uint64_t rounds_ = 0, ended_ = 0;
};

class Alltoall final : public Collective {
 public:
  explicit Alltoall(const WorkOptions& options) : Collective(options) {}
  double prepare(std::uint32_t rank) override {
    for (std::uint32_t other = 0; other < count(); other++) {
      ranks_[rank].out[other].resize(options_.size);
      ranks_[rank].in[other].resize(options_.size);
    }
    return 0;
  }
};

class Sort final : public Collective {
 public:
  explicit Sort(const WorkOptions& options) : Collective(options) {
    const std::size_t each = options.size / count();
    Random random(options.network.seed);
    for (std::uint32_t i = 0; i < count(); i++) {
      Keys keys(each);
      for (std::uint32_t& key : keys) {
        key = 0;
        for (int n = 0; n < 4; n++) key += static_cast<std::uint32_t>(random.below(1U << (kKeyBits - 2)));
      }
      keys_.push_back(std::move(keys));
    }
    // Makes ranges of about equal numbers of keys, as the bucket counts would: from the keys of all ranks.
    Keys all;
    for (const Keys& keys : keys_) all.insert(all.end(), keys.begin(), keys.end());
    std::sort(all.begin(), all.end());
    for (std::size_t i = 1; i < count(); i++) limits_.push_back(all[i * all.size() / count()]);
    for (std::uint32_t i = 0; i < count(); i++) {
      std::vector<Keys> parts(count());
      for (const std::uint32_t key : keys_[i]) parts[range(key)].push_back(key);
      parts_.push_back(std::move(parts));
    }
  }

  // Prepares counts in every even round, keys in every odd one.
  double prepare(std::uint32_t rank) override {
    const bool counts = ranks_[rank].round % 2 == 0;
    for (std::uint32_t other = 0; other < count(); other++) {
      const Keys& part = parts_[rank][other];
      auto& out = ranks_[rank].out[other];
      out.resize(counts ? sizeof(std::uint32_t) : part.size() * sizeof(std::uint32_t));
      if (counts) {
        const auto size = static_cast<std::uint32_t>(part.size());
        std::memcpy(out.data(), &size, sizeof size);
      } else {
        std::memcpy(out.data(), part.data(), out.size());
      }
      ranks_[rank].in[other].resize(counts ? sizeof(std::uint32_t)
                                           : parts_[other][rank].size() * sizeof(std::uint32_t));
    }
    const double keys = static_cast<double>(keys_[rank].size());
    return counts ? keys * options_.network.parameters.key_ns : 0;
  }

  // Returns whether every key arrived at the rank of its range.
  bool sorted() const {
    for (std::uint32_t i = 0; i < count(); i++) {
      for (std::uint32_t from = 0; from < count(); from++) {
        if (here(i, from)) continue;
        const Keys& sent = parts_[from][i];
        const Bytes& came = ranks_[i].in[from];
        if (came.size() != sent.size() * sizeof(std::uint32_t)) return false;
        if (!sent.empty() && std::memcmp(came.data(), sent.data(), came.size()) != 0) return false;
        for (const std::uint32_t key : sent)
          if (range(key) != i) return false;
      }
    }
    return true;
  }

 private:
  std::size_t range(std::uint32_t key) const {
    return static_cast<std::size_t>(std::upper_bound(limits_.begin(), limits_.end(), key) - limits_.begin());
  }
  std::vector<Keys> keys_;
  std::vector<std::vector<Keys>> parts_;  // of each rank for each rank
  Keys limits_;
};

}  // namespace

WorkResult alltoall(const WorkOptions& options) {
  Alltoall work(options);
  return work.run(options.iterations);
}

WorkResult sort(const WorkOptions& options) {
  Sort work(options);
  WorkResult result = work.run(options.iterations * 2);
  if (result.failure.empty() && !work.sorted()) result.failure = "the keys did not arrive where they belong";
  return result;
}

}  // namespace omx::simulation::nic
