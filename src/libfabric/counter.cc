// SPDX-License-Identifier: BSD-3-Clause
#include "libfabric/counter.h"

#include <algorithm>

#include "libfabric/domain.h"
#include "libfabric/fence.h"
#include "libfabric/object_calls.h"
#include "libfabric/provider.h"
#include "runtime/clock.h"

namespace omx::fabric {

Counter::Counter(Domain& domain) : fid_cntr{}, Waitable(domain) {}

void Counter::set(std::uint64_t value) {
  value_.store(value, std::memory_order_release);
  added();
  wake();
}

std::uint64_t Counter::errors_read() {
  seen();
  const std::uint64_t count = errors();
  errors_told_.store(count, std::memory_order_relaxed);
  return count;
}

void Counter::set_error(std::uint64_t value) {
  errors_.store(value, std::memory_order_release);
  errors_told_.store(std::min(errors_told_.load(), value), std::memory_order_relaxed);
  added();
  wake();
}

bool Counter::something_since_armed() {
  // Adding 0 changes nothing, but has a place in the order of additions.
  value_.fetch_add(0, std::memory_order_acq_rel);
  errors_.fetch_add(0, std::memory_order_acq_rel);
  return something();
}

bool Counter::something() const {
  return value() >= wanted_.load(std::memory_order_relaxed) ||
         errors() != errors_seen_.load(std::memory_order_relaxed);
}

namespace {
using protocol::TimeNs;
constexpr TimeNs kShared = 5, kAlone = 1000;  // milliseconds of one sleep
}  // namespace

int Counter::wait_for(std::uint64_t threshold, int timeout_ms) {
  // An error that was not reported yet ends the wait, although it came before.
  const std::uint64_t errors_before = errors_told_.load(std::memory_order_relaxed);
  // Threads that wait for different values check again now and then.
  if (waiters_.fetch_add(1) > 0) wake();
  struct Leave {
    std::atomic<int>& waiters;
    ~Leave() { waiters.fetch_sub(1); }
  } const leave{waiters_};
  const auto end = deadline_of(timeout_ms);
  for (;;) {
    if (value() >= threshold) return 0;
    if (const std::uint64_t now = errors(); now != errors_before) {
      errors_told_.store(now, std::memory_order_relaxed);
      return -FI_EAVAIL;
    }
    const auto now = runtime::clock_now();
    if (now >= end) return -FI_ETIMEDOUT;
    // Another thread may wait for another value. Each checks again after the other's is reached.
    wanted_.store(threshold, std::memory_order_relaxed);
    errors_seen_.store(errors_before, std::memory_order_relaxed);
    const auto left = (end - now) / protocol::kMillisecond + 1;
    const TimeNs most = waiters_.load() > 1 ? kShared : kAlone;
    wait(static_cast<int>(std::min(left, most)));
  }
}

namespace {

Counter& counter_of(fid_cntr* counter) {
  return static_cast<Counter&>(*counter);
}

Counter& counter_of(fid* object) {
  return counter_of(reinterpret_cast<fid_cntr*>(object));
}

// Reads the value. That also makes progress, because some applications wait with nothing but this
// (docs/spec/libfabric.md 3.3).
std::uint64_t read(fid_cntr* counter) {
  counter_of(counter).domain().progress();
  counter_of(counter).seen();
  return counter_of(counter).value();
}

std::uint64_t read_error(fid_cntr* counter) {
  counter_of(counter).domain().progress();
  return counter_of(counter).errors_read();
}

int add(fid_cntr* counter, std::uint64_t value) {
  counter_of(counter).add(value);
  counter_of(counter).wake();
  return 0;
}

int set(fid_cntr* counter, std::uint64_t value) {
  counter_of(counter).set(value);
  return 0;
}

int add_error(fid_cntr* counter, std::uint64_t value) {
  counter_of(counter).add_error(value);
  counter_of(counter).wake();
  return 0;
}

int set_error(fid_cntr* counter, std::uint64_t value) {
  counter_of(counter).set_error(value);
  return 0;
}

int wait(fid_cntr* counter, std::uint64_t threshold, int timeout) {
  counter_of(counter).domain().progress();
  return counter_of(counter).wait_for(threshold, timeout);
}

int close(fid* object) {
  Counter& counter = counter_of(object);
  if (counter.references.any()) return -FI_EBUSY;
  delete &counter;
  return 0;
}

int control(fid* object, int command, void* argument) {
  return counter_of(object).control(command, argument);
}

const fi_ops kOps = closing_ops(close, no_bind, control);
const fi_ops_cntr kCounterOps = {
    sizeof(fi_ops_cntr), read, read_error, add, set, wait, add_error, set_error,
};

}  // namespace

int counter_open(fid_domain* object, fi_cntr_attr* attr, fid_cntr** opened, void* context) {
  return fenced([&] {
    if (attr && attr->flags) return refuse(kLogCounters, FI_EBADFLAGS, "fi_cntr_open: a flag is not known");
    if (attr && attr->events != FI_CNTR_EVENTS_COMP)
      return refuse(kLogCounters, FI_ENOSYS,
                    "fi_cntr_open: only completions are counted (FI_CNTR_EVENTS_COMP)");
    auto counter = std::make_unique<Counter>(domain_of(object));
    if (const int error = counter->wait_object_set(attr ? attr->wait_obj : FI_WAIT_NONE)) return error;
    counter->fid = {FI_CLASS_CNTR, context, table(kOps)};
    counter->ops = table(kCounterOps);
    *opened = counter.release();
    return 0;
  });
}

}  // namespace omx::fabric
