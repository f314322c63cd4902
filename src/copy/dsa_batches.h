// SPDX-License-Identifier: BSD-3-Clause
// Lists of descriptors that a device fetches by itself (docs/spec/copy-offload.md 8): one entry of its queue,
// and one instruction of ours, for many pieces. Only portals take them.
//
//   free -> filled -> in flight -> answered -> free      once the records of all its members have been read
//              \-> free                                  the queue is full
//
// Members have records of their own. The record of the batch says whether the device is done with all, which
// it may be without having begun with some.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "copy/dsa_descriptor.h"
#include "copy/dsa_records.h"

namespace omx::copy {

class DsaBatches {
 public:
  static constexpr std::uint32_t kMembersMost = 32;

  // `members`: of a batch, at most kMembersMost. Less than 2: there are no batches. Throws std::bad_alloc.
  DsaBatches(std::size_t lists, std::uint32_t members);

  // Returns whether the system had memory for all.
  bool present() const { return members_ < 2 || (records_.present() && descriptors_.present()); }
  std::uint32_t members() const { return members_; }
  // Returns a free list, if there is one.
  std::optional<std::uint8_t> free_list() const;
  // Fills a free list. Returns its descriptor, which the queue may take or not.
  DsaDescriptor fill(std::uint8_t list, std::span<const DsaDescriptor> members);
  // Notes that the queue took the list with that many members.
  void sent(std::uint8_t list, std::size_t members);
  // Notes that the record of a member was read, or that it is not awaited any more.
  void left(std::uint8_t list) { lists_[list].unread--; }
  // Returns whether it is called the first time for this list in flight.
  bool judge(std::uint8_t list);
  // Returns the status of a batch in flight; 0: not answered yet.
  std::uint8_t status(std::uint8_t list) const { return dsa_status(*records_.at(list)); }
  // Returns whether the device may still write a record or read a list.
  bool outstanding() const;
  // Keeps the memory mapped until the process ends, for a device that may still use it.
  void keep_mapped();

 private:
  struct List {
    bool in_flight = false;
    bool judged = false;
    std::uint32_t unread = 0;
  };

  const std::uint32_t members_;
  std::vector<List> lists_;
  DsaRecords records_;
  DeviceMemory<DsaDescriptor> descriptors_;
};

}  // namespace omx::copy
