// SPDX-License-Identifier: BSD-3-Clause
#include "copy/dsa_records.h"

#include <sys/mman.h>

#include <atomic>

namespace omx::copy {

DevicePages::DevicePages(std::size_t bytes) : bytes_(bytes) {
  if (bytes == 0) return;
  void* at =
      ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (at != MAP_FAILED) at_ = at;
}

DevicePages::~DevicePages() {
  if (at_) ::munmap(at_, bytes_);
}

std::uint8_t dsa_status(const DsaRecord& record) {
  return std::atomic_ref(const_cast<std::uint8_t&>(record.status)).load(std::memory_order_acquire);
}

void dsa_record_clear(DsaRecord& record) {
  record.result = 0;
  record.bytes_completed = 0;
  record.fault_address = 0;
  std::atomic_ref(record.status).store(0, std::memory_order_release);
}

}  // namespace omx::copy
