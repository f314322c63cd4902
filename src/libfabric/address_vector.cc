// SPDX-License-Identifier: BSD-3-Clause
#include "libfabric/address_vector.h"

#include <algorithm>
#include <cassert>

#include "libfabric/event_queue.h"

namespace omx::fabric {

namespace {

std::uint64_t place_of(const Address& address) {
  return address.nic << 16 | address.endpoint;
}

}  // namespace

AddressVector::AddressVector(Domain& domain, std::uint32_t format, bool events)
    : fid_av{}, domain_(domain), format_(format), events_(events) {
  domain_.references.add();
}

AddressVector::~AddressVector() {
  for (auto& chunk : chunks_) delete chunk.load(std::memory_order_relaxed);
  if (event_queue_) event_queue_->references.drop();
  domain_.references.drop();
}

const AddressVector::Entry* AddressVector::entry(fi_addr_t number) const {
  if (number >= count_.load(std::memory_order_acquire)) return nullptr;
  const Chunk* chunk = chunks_[number / kChunk].load(std::memory_order_relaxed);
  if (!chunk) return nullptr;
  const Entry& e = (*chunk)[number % kChunk];
  return e.generation.load(std::memory_order_acquire) ? &e : nullptr;
}

fi_addr_t AddressVector::find(const Address& address, std::uint32_t since) {
  const std::lock_guard guard(mutex_);
  const auto found = numbers_.find(place_of(address));
  if (found == numbers_.end()) return FI_ADDR_NOTAVAIL;
  fi_addr_t first = FI_ADDR_NOTAVAIL;
  for (const fi_addr_t number : found->second) {
    const Entry* e = entry(number);
    if (!e || (e->address.session != kAnySession && e->address.session != address.session)) continue;
    if (e->generation.load(std::memory_order_relaxed) >= since) return number;
    if (first == FI_ADDR_NOTAVAIL) first = number;
  }
  return first;
}

fi_addr_t AddressVector::insert(const Address& address) {
  const std::lock_guard guard(mutex_);
  const std::uint64_t number = count_.load(std::memory_order_relaxed);
  if (number >= kChunk * kChunks) return FI_ADDR_NOTAVAIL;
  std::atomic<Chunk*>& chunk = chunks_[number / kChunk];
  if (!chunk.load(std::memory_order_relaxed)) chunk.store(new Chunk, std::memory_order_relaxed);
  numbers_[place_of(address)].push_back(number);
  Entry& e = (*chunk.load(std::memory_order_relaxed))[number % kChunk];
  e.address = address;
  e.generation.store(next_generation_++, std::memory_order_release);
  count_.store(number + 1, std::memory_order_release);
  return number;
}

std::uint32_t AddressVector::next_generation() {
  const std::lock_guard guard(mutex_);
  return next_generation_;
}

int AddressVector::remove(fi_addr_t number) {
  const std::lock_guard guard(mutex_);
  const Entry* found = entry(number);
  if (!found) return -FI_EINVAL;
  auto& numbers = numbers_[place_of(found->address)];
  std::erase(numbers, number);
  if (numbers.empty()) numbers_.erase(place_of(found->address));
  const_cast<Entry*>(found)->generation.store(0, std::memory_order_release);
  return 0;
}

int AddressVector::event_queue_bind(EventQueue& queue) {
  if (event_queue_) return -FI_EINVAL;
  event_queue_ = &queue;
  queue.references.add();
  return 0;
}

}  // namespace omx::fabric
