// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/process/open_endpoints.h"

#include <algorithm>
#include <cassert>

#include "base/no_cancel.h"
#include "runtime/endpoint/endpoint_impl.h"

namespace omx::runtime {

namespace {
// How often the other endpoints get turns while one is closed, since it may wait for them.
constexpr TimeNs kHelpPeriod = 1 * protocol::kMillisecond;
}  // namespace

OpenEndpoints::OpenEndpoints(std::function<void(Endpoint&)> closed)
    : closed_(std::move(closed)), slots_(new std::atomic<Endpoint*>[kSlots]()) {}

std::optional<std::uint32_t> OpenEndpoints::slot_find() {
  for (std::uint32_t i = 0; i < kSlots; i++) {
    const std::uint32_t slot = (slot_next_ + i) % kSlots;
    if (slots_[slot].load(std::memory_order_relaxed)) continue;
    slot_next_ = (slot + 1) % kSlots;
    return slot;
  }
  return std::nullopt;
}

Endpoint* OpenEndpoints::add(std::unique_ptr<Endpoint> endpoint) {
  const std::lock_guard guard(mutex_);
  assert(!slots_[endpoint->slot()].load(std::memory_order_relaxed));
  open_.push_back(endpoint.get());
  slots_[endpoint->slot()].store(endpoint.get(), std::memory_order_release);
  return endpoint.release();
}

bool OpenEndpoints::owns(const Endpoint* endpoint) const {
  const std::lock_guard guard(mutex_);
  return std::find(open_.begin(), open_.end(), endpoint) != open_.end();
}

Endpoint* OpenEndpoints::at(std::uint32_t slot) const {
  return slot < kSlots ? slots_[slot].load(std::memory_order_acquire) : nullptr;
}

// Pins one endpoint at a time: a handler that runs here may close any of the others.
void OpenEndpoints::help() {
  if (mark_.forked()) return;
  for (std::size_t i = 0;; i++) {
    Endpoint::Impl* impl = nullptr;
    {
      const std::lock_guard guard(mutex_);
      if (i >= open_.size()) return;
      impl = &open_[i]->impl();
      impl->lifecycle.pin();
    }
    impl->turn_if_free();
    impl->lifecycle.unpin();
  }
}

void OpenEndpoints::visit(const std::function<void(Endpoint&)>& callback) {
  if (mark_.forked()) return;
  for (std::size_t i = 0;; i++) {
    std::optional<Endpoint::Pin> pin;
    Endpoint* endpoint = nullptr;
    {
      const std::lock_guard guard(mutex_);
      if (i >= open_.size()) return;
      endpoint = open_[i];
      pin.emplace(*endpoint);
    }
    callback(*endpoint);
  }
}

bool OpenEndpoints::close(Endpoint* endpoint, RunningDeadline& deadline) {
  if (mark_.forked()) return false;
  const NoCancel no_cancel;
  {
    const std::lock_guard guard(mutex_);
    const auto it = std::find(open_.begin(), open_.end(), endpoint);
    if (it == open_.end() || endpoint->in_handler()) return false;
    open_.erase(it);
    slots_[endpoint->slot()].store(nullptr, std::memory_order_release);
  }
  endpoint->impl().lifecycle.close_begin();
  while (!endpoint->impl().lifecycle.close_drive(kHelpPeriod) && !deadline.passed(clock_now())) help();
  endpoint->impl().lifecycle.close_end();
  closed_(*endpoint);
  delete endpoint;
  return true;
}

void OpenEndpoints::close_all(RunningDeadline& deadline) {
  while (!open_.empty() && close(open_.back(), deadline)) {
  }
}

}  // namespace omx::runtime
