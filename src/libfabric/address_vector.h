// SPDX-License-Identifier: BSD-3-Clause
// fi_av: numbers for addresses. Maps and tables are the same: a number is an index, counted up from 0.
// Reading takes no lock, as each message does it.
#pragma once

#include <rdma/fi_domain.h>

#include <array>
#include <atomic>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "libfabric/address.h"
#include "libfabric/domain.h"

namespace omx::fabric {

class EventQueue;

class AddressVector : public fid_av {
 public:
  // `events`: insertions are reported to an event queue, which must be bound before the first.
  AddressVector(Domain& domain, std::uint32_t format, bool events);
  ~AddressVector();

  struct Entry {
    Address address;
    // Which address has this number: changes when it is removed; 0: none.
    std::atomic<std::uint32_t> generation{0};
  };
  // nullptr: no such number.
  const Entry* entry(fi_addr_t number) const;
  // FI_ADDR_NOTAVAIL: it was not inserted. Of several numbers the first whose generation is not below
  // `since`; if all are below, the first.
  fi_addr_t find(const Address& address, std::uint32_t since);

  fi_addr_t insert(const Address& address);
  int remove(fi_addr_t number);
  // The generation that the next address gets: those inserted so far have lower ones.
  std::uint32_t next_generation();
  std::uint32_t format() const { return format_; }
  int event_queue_bind(EventQueue& queue);
  // To report to; nullptr: nobody asked for that.
  EventQueue* event_queue() { return events_ ? event_queue_ : nullptr; }
  bool queue_missing() const { return events_ && !event_queue_; }
  Domain& domain() { return domain_; }

  References references;

 private:
  static constexpr std::size_t kChunk = 1024, kChunks = 4096;
  using Chunk = std::array<Entry, kChunk>;

  Domain& domain_;
  std::uint32_t format_;
  bool events_;
  EventQueue* event_queue_ = nullptr;
  std::mutex mutex_;
  std::array<std::atomic<Chunk*>, kChunks> chunks_{};
  std::atomic<std::uint64_t> count_{0};
  std::uint32_t next_generation_ = 1;
  // By NIC and endpoint: the numbers, oldest first. Sessions are compared one by one.
  std::unordered_map<std::uint64_t, std::vector<fi_addr_t>> numbers_;
};

}  // namespace omx::fabric
