// SPDX-License-Identifier: BSD-3-Clause
#include "copy/calibration.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <vector>

#include "base/clock.h"
#include "base/own_fd.h"

namespace omx::copy {

namespace {

constexpr std::uint32_t kSizes[] = {1024, 4096, 8192, 32768};
constexpr TimeNs kTimeOfMeasure = 300'000;
constexpr std::size_t kFar = 4 << 20;  // each of two buffers: more than the caches next to a processor hold
constexpr unsigned kBatch = 8;         // pieces in a row, and datagrams per call

// Returns the median duration of `action`. `after` is not counted.
template <class Action, class After>
TimeNs median_ns(Action action, After after) {
  std::vector<TimeNs> took;
  const TimeNs end = clock_now() + kTimeOfMeasure;
  do {
    const TimeNs before = clock_now();
    action();
    took.push_back(clock_now() - before);
    after();
  } while (clock_now() < end);
  const auto middle = took.begin() + static_cast<std::ptrdiff_t>(took.size() / 2);
  std::nth_element(took.begin(), middle, took.end());
  return *middle;
}

void copy_piece(std::byte* to, const std::byte* from, std::size_t bytes) {
  std::memcpy(to, from, bytes);
  asm volatile("" : : "r"(to) : "memory");
}

// Measures datagrams that go through the kernel and are received into their final place.
class Placing {
 public:
  Placing() {
    int fds[2];
    if (::socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds) < 0) return;
    in_ = OwnFd(fds[0]);
    out_ = OwnFd(fds[1]);
    const int bytes = 1 << 20;
    ::setsockopt(out_.get(), SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
  }
  TimeNs measure(std::vector<std::byte>& to, const std::vector<std::byte>& from, std::size_t bytes) {
    if (!in_.open()) return 0;
    std::size_t at = 0;
    unsigned sent = 0;
    const auto fill = [&] {
      for (sent = 0; sent < kBatch; sent++)
        if (::send(out_.get(), from.data() + at, bytes, 0) < 0) break;
    };
    fill();
    if (sent == 0) return 0;
    const unsigned batch = sent;
    const TimeNs each = median_ns(
        [&] {
          mmsghdr messages[kBatch] = {};
          iovec places[kBatch];
          for (unsigned i = 0; i < batch; i++) {
            places[i] = {to.data() + at, bytes};
            messages[i].msg_hdr.msg_iov = &places[i];
            messages[i].msg_hdr.msg_iovlen = 1;
            at = at + 2 * bytes <= to.size() ? at + bytes : 0;
          }
          [[maybe_unused]] const int got = ::recvmmsg(in_.get(), messages, batch, 0, nullptr);
        },
        fill);
    char byte;
    while (::recv(in_.get(), &byte, 1, 0) >= 0) {
    }
    return each / batch;
  }

 private:
  OwnFd in_, out_;
};

}  // namespace

const Calibration::Row& Calibration::row_for(std::uint32_t bytes) const {
  const Row* found = rows.data();
  for (const Row& row : rows)
    if (row.bytes <= bytes) found = &row;
  return *found;
}

void Calibration::judge() {
  // Two measurements of one speed differ by some per cent, and a helper thread copies as fast as its owner.
  constexpr TimeNs kSlower = 125, kHundred = 100;
  least_piece = ~0U;
  too_slow = false;
  for (auto row = rows.rbegin(); row != rows.rend(); ++row) {
    if (row->submit_ns == 0 || row->submit_ns >= row->memcpy_out_ns) break;
    if (row->engine_ns * kHundred > row->memcpy_out_ns * kSlower) {
      too_slow = least_piece == ~0U;
      break;
    }
    least_piece = row->bytes;
  }
}

Calibration calibrate(CopyEngine& engine) {
  Calibration result;
  const bool asynchronous = engine.capabilities().asynchronous;
  std::vector<std::byte> from(kFar, std::byte{1}), to(kFar, std::byte{2});
  Placing placing;
  for (std::size_t i = 0; i < std::size(kSizes); i++) {
    Calibration::Row& row = result.rows[i];
    const std::size_t bytes = row.bytes = kSizes[i];
    std::size_t at = 0;
    const auto next = [&] { at = at + 2 * bytes <= kFar ? at + bytes : 0; };
    row.memcpy_in_ns = median_ns([&] { copy_piece(to.data(), from.data(), bytes); }, [] {});
    row.memcpy_out_ns = median_ns([&] { copy_piece(to.data() + at, from.data() + at, bytes); }, next);
    row.place_ns = placing.measure(to, from, bytes);
    if (!asynchronous) continue;
    // Submits as many pieces in a row as the smallest offloaded message has. The first one may have to wake
    // the engine.
    unsigned accepted = 0;
    const TimeNs several = median_ns(
        [&] {
          for (accepted = 0; accepted < kBatch; accepted++) {
            if (engine.submit({from.data() + at, to.data() + at, bytes}).answer != Answer::accepted) break;
            next();
          }
          engine.poll(1);
        },
        [&] { engine.drain(kNever); });
    if (accepted == 0) return result;  // the engine was switched off
    row.submit_ns = several / accepted;
    const TimeNs before = clock_now();
    const Ticket first = engine.completed();
    while (clock_now() - before < kTimeOfMeasure) {
      if (engine.submit({from.data() + at, to.data() + at, bytes}).answer != Answer::accepted)
        engine.drain(kNever);
      next();
    }
    engine.drain(kNever);
    const Ticket done = engine.completed() - first;
    row.engine_ns = done > 0 ? (clock_now() - before) / done : 0;
  }
  result.judge();
  return result;
}

const Calibration& calibration(EngineKind kind, CopyEngine& engine) {
  static std::mutex mutex;
  static std::map<EngineKind, Calibration> known;
  const std::lock_guard held(mutex);
  const auto found = known.find(kind);
  return found != known.end() ? found->second : known.emplace(kind, calibrate(engine)).first->second;
}

}  // namespace omx::copy
