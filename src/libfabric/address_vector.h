// SPDX-License-Identifier: BSD-3-Clause
// fi_av: numbers for addresses. Maps and tables are the same: a number is an index, counted up from 0.
// Reading takes no lock, because each message does it.
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

// Thread-safe.
class AddressVector : public fid_av {
 public:
  // With `events`, insertions are reported to an event queue, which must be bound before the first.
  AddressVector(Domain& domain, std::uint32_t format, bool events);
  ~AddressVector();

  struct Entry {
    Address address;
    // Says which address has this number. 0: none, or the address was removed.
    std::atomic<std::uint32_t> generation{0};
  };
  // Returns the entry with that number, which stays where it is. nullptr: there is none.
  const Entry* entry(fi_addr_t number) const;
  // Returns the number of an address. Of several it is the first whose generation is not below `since`, or
  // the first if all are below. FI_ADDR_NOTAVAIL: the address was not inserted.
  fi_addr_t find(const Address& address, std::uint32_t since);

  // Returns the number of a new entry. FI_ADDR_NOTAVAIL: there are as many as can be.
  fi_addr_t insert(const Address& address);
  // Removes an entry, whose number is not used again. Returns 0, or -FI_EINVAL if there is none.
  int remove(fi_addr_t number);
  // Returns the generation that the next address gets. Those inserted so far have lower ones.
  std::uint32_t next_generation();
  std::uint32_t format() const { return format_; }
  // Binds the event queue. Returns 0, or -FI_EINVAL if there is one.
  int event_queue_bind(EventQueue& queue);
  // Returns the queue that insertions are reported to. nullptr: the application did not ask for that.
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
  // The numbers by NIC and endpoint, oldest first. Sessions are compared one by one.
  std::unordered_map<std::uint64_t, std::vector<fi_addr_t>> numbers_;
};

}  // namespace omx::fabric
