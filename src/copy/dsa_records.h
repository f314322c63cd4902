// SPDX-License-Identifier: BSD-3-Clause
// The memory of an engine that its device uses: completion records, which the device writes, and lists of
// descriptors.
#pragma once

#include <cstddef>
#include <cstdint>

#include "copy/dsa_descriptor.h"

namespace omx::copy {

// Memory that a device reads or writes by itself. It is shared, because after a fork() the kernel takes
// private pages away from the device, and completions would be lost.
class DevicePages {
 public:
  explicit DevicePages(std::size_t bytes);
  ~DevicePages();
  DevicePages(const DevicePages&) = delete;
  DevicePages& operator=(const DevicePages&) = delete;

  void* at() const { return at_; }
  // Keeps the memory mapped until the process ends, for a device that may still write.
  void keep_mapped() { at_ = nullptr; }

 private:
  void* at_ = nullptr;
  std::size_t bytes_;
};

template <class T>
class DeviceMemory {
 public:
  explicit DeviceMemory(std::size_t count) : pages_(count * sizeof(T)) {}
  T* at(std::size_t i) const { return static_cast<T*>(pages_.at()) + i; }
  // Returns whether the system had memory for them. No elements have none.
  bool present() const { return pages_.at() != nullptr; }
  void keep_mapped() { pages_.keep_mapped(); }

 private:
  DevicePages pages_;
};

using DsaRecords = DeviceMemory<DsaRecord>;

// Returns the status byte, with the order that the device wrote it in.
std::uint8_t dsa_status(const DsaRecord& record);
void dsa_record_clear(DsaRecord& record);

}  // namespace omx::copy
