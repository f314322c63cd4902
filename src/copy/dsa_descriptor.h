// SPDX-License-Identifier: BSD-3-Clause
// The structures that a Data Streaming Accelerator reads and writes (docs/spec/copy-offload.md 5, 6). They
// are little endian, as are all machines that have such a device. tests/copy/dsa_descriptor_test.cc compares
// the offsets with <linux/idxd.h>.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace omx::copy {

enum class DsaOpcode : std::uint8_t { no_op = 0, batch = 1, drain = 2, move = 3 };

// Flags, 24 bits.
inline constexpr std::uint32_t kDsaFence = 0x0001;            // in a batch: wait for earlier descriptors
inline constexpr std::uint32_t kDsaBlockOnFault = 0x0002;     // not used: it stalls all users of the engine
inline constexpr std::uint32_t kDsaCompletionValid = 0x0004;  // the record's address is valid
inline constexpr std::uint32_t kDsaCompletionWanted = 0x0008;
inline constexpr std::uint32_t kDsaCacheControl = 0x0100;  // the destination goes to cache

struct DsaDescriptor {
  std::uint32_t pasid_and_privilege;  // zero: the processor or the kernel fills it in
  std::uint32_t flags_and_opcode;     // opcode in the upper 8 bits
  std::uint64_t record;               // virtual addresses
  std::uint64_t source;
  std::uint64_t destination;
  std::uint32_t bytes;  // 1 to the queue's limit; of a batch: its members
  std::uint16_t interrupt_handle;
  std::uint16_t reserved;
  std::uint64_t specific[3];
};
static_assert(sizeof(DsaDescriptor) == 64);
static_assert(offsetof(DsaDescriptor, flags_and_opcode) == 4 && offsetof(DsaDescriptor, record) == 8);
static_assert(offsetof(DsaDescriptor, source) == 16 && offsetof(DsaDescriptor, destination) == 24);
static_assert(offsetof(DsaDescriptor, bytes) == 32 && offsetof(DsaDescriptor, interrupt_handle) == 36);
static_assert(offsetof(DsaDescriptor, specific) == 40);

// The device writes the status last. Read it with acquire order before the other fields.
struct alignas(32) DsaRecord {
  std::uint8_t status;  // 0 until done; bit 7: the faulting access was a write
  std::uint8_t result;  // of a move; not zero: it went from the end to the beginning
  std::uint16_t reserved;
  std::uint32_t bytes_completed;
  std::uint64_t fault_address;
  std::uint64_t specific[2];
};
static_assert(sizeof(DsaRecord) == 32);
static_assert(offsetof(DsaRecord, bytes_completed) == 4 && offsetof(DsaRecord, fault_address) == 8);

inline constexpr std::uint8_t kDsaStatusMask = 0x7f;
inline constexpr std::uint8_t kDsaStatusWrite = 0x80;

enum class DsaStatus : std::uint8_t {
  none = 0x00,
  success = 0x01,
  page_fault = 0x03,  // not blocking: the copy is partial
  page_fault_blocking = 0x04,
  batch_incomplete = 0x05,  // some members were not successful: their records say which
  batch_fault = 0x06,
  record_fault = 0x1a,
  read_back_fault = 0x1f,
  hardware_first = 0x20,
  hardware_last = 0x22,
};

inline DsaDescriptor dsa_describe(DsaOpcode opcode, std::uint32_t flags, const DsaRecord* record) {
  DsaDescriptor d{};
  d.flags_and_opcode = flags | static_cast<std::uint32_t>(opcode) << 24;
  d.record = reinterpret_cast<std::uintptr_t>(record);
  return d;
}

}  // namespace omx::copy
