// SPDX-License-Identifier: BSD-3-Clause
// The completion records of an engine: memory that the device writes by itself.
#pragma once

#include <cstddef>
#include <cstdint>

#include "copy/dsa_descriptor.h"

namespace omx::copy {

// The memory is shared, because after a fork() the kernel takes private pages away from the device, and
// completions would be lost.
class DsaRecords {
 public:
  explicit DsaRecords(std::size_t count);
  ~DsaRecords();
  DsaRecords(const DsaRecords&) = delete;
  DsaRecords& operator=(const DsaRecords&) = delete;

  DsaRecord* at(std::size_t i) const { return records_ + i; }
  // Returns whether the system had memory for them.
  bool present() const { return records_ != nullptr; }
  // Keeps the memory mapped until the process ends, for a device that may still write.
  void keep_mapped() { records_ = nullptr; }

 private:
  DsaRecord* records_ = nullptr;
  std::size_t bytes_;
};

// Returns the status byte, with the order that the device wrote it in.
std::uint8_t dsa_status(const DsaRecord& record);
void dsa_record_clear(DsaRecord& record);

}  // namespace omx::copy
