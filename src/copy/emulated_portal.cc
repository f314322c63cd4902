// SPDX-License-Identifier: BSD-3-Clause
#include "copy/emulated_portal.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <iterator>

namespace omx::copy {

namespace {

constexpr std::size_t kDescriptorBytes = 64;

std::uint64_t little(const std::byte* at, std::size_t bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes; i-- > 0;) value = value << 8 | std::to_integer<std::uint64_t>(at[i]);
  return value;
}

EmulatedWork decode(const std::byte* bytes) {
  EmulatedWork work;
  work.pasid = static_cast<std::uint32_t>(little(bytes, 4));
  work.flags = static_cast<std::uint32_t>(little(bytes + 4, 3));
  work.opcode = std::to_integer<std::uint8_t>(bytes[7]);
  work.record = little(bytes + 8, 8);
  work.source = little(bytes + 16, 8);
  work.destination = little(bytes + 24, 8);
  work.bytes = static_cast<std::uint32_t>(little(bytes + 32, 4));
  for (std::size_t i = 36; i < kDescriptorBytes; i++) work.reserved_zero &= bytes[i] == std::byte{0};
  return work;
}

std::byte* memory(std::uint64_t address) {
  return reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(address));
}

}  // namespace

PortalAnswer EmulatedDevice::submit(std::span<const std::byte> descriptors) {
  if (script_.busy_first > 0) {
    script_.busy_first--;
    return {};
  }
  PortalAnswer answer;
  while (descriptors.size() >= kDescriptorBytes && answer.accepted < script_.accept_most) {
    if (accepted_ >= script_.error_after) {
      answer.error = answer.accepted ? 0 : script_.error;
      break;
    }
    EmulatedWork work = decode(descriptors.data());
    // The kernel refuses these, and also batches while the device counts as unsafe.
    const bool misaligned = work.record % 32 != 0;
    if (misaligned || (work.opcode == 1 && script_.list_limit == 0)) {
      violations_ += misaligned;
      answer.error = answer.accepted ? 0 : EINVAL;
      break;
    }
    if (pending_ >= script_.queue_depth) break;
    if (work.pasid != 0) violations_++;
    answer.accepted++;
    descriptors = descriptors.subspan(kDescriptorBytes);
    pending_++;
    if (work.opcode == 1)
      accept_list(work);
    else
      accept(work);
  }
  forget();
  return answer;
}

void EmulatedDevice::accept(const EmulatedWork& decoded, std::uint64_t list) {
  EmulatedWork work = decoded;
  work.number = accepted_++;
  work.at = now_;
  work.list = list;
  seen_.push_back(work);
  const bool lost = script_.lost_chance > 0 && random_.chance(script_.lost_chance);
  if (lost) seen_.back().at = kNever;
  if (!lost && script_.completion == EmulatedScript::Completion::at_once) work_do(seen_.back());
}

// Takes a list and its members. The list is completed with its last member.
void EmulatedDevice::accept_list(const EmulatedWork& decoded) {
  EmulatedWork list = decoded;
  list.number = accepted_++;
  list.at = kNever;
  std::uint8_t status = list_refusal(list);
  if (status) violations_++;
  if (const auto injected = script_.inject.find(list.number); injected != script_.inject.end())
    status = injected->second;
  list.left = status ? 0 : list.bytes;
  list.completed = status != 0;
  seen_.push_back(list);
  if (status) {
    pending_--;
    return record_write(list, status, 0, 0, 0);
  }
  for (std::uint32_t i = 0; i < list.bytes; i++) {
    const EmulatedWork member = decode(memory(list.source + i * kDescriptorBytes));
    if (member.pasid != 0 || member.record % 32 != 0 || member.opcode == 1) violations_++;
    accept(member, list.number);
  }
}

// Returns the status that the device would give a list, or 0 if it accepts it.
std::uint8_t EmulatedDevice::list_refusal(const EmulatedWork& list) const {
  if ((list.flags & ~0x000dU) || !(list.flags & 0x0004)) return 0x11;
  if (!list.reserved_zero || list.destination != 0) return 0x12;
  if (list.bytes < 2 || list.bytes > script_.list_limit) return 0x14;
  return list.source % kDescriptorBytes ? 0x17 : 0;
}

// Notes the end of a work: it frees a place of the queue, or is one member less of its list.
void EmulatedDevice::ended(const EmulatedWork& work, End end) {
  if (work.list == ~0ULL) {
    pending_--;
    return;
  }
  for (EmulatedWork& list : seen_) {
    if (list.number != work.list) continue;
    list.spoiled |= end == End::failure;
    list.silent |= end == End::silence;
    if (--list.left > 0) return;
    list.completed = true;
    pending_--;
    if (!list.silent) record_write(list, list.spoiled ? 0x05 : 0x01, 0, 0, 0);
    return;
  }
}

void EmulatedDevice::forget() {
  while (!script_.remember && !seen_.empty() && seen_.front().completed) seen_.pop_front();
}

void EmulatedDevice::step(TimeNs now) {
  using Completion = EmulatedScript::Completion;
  now_ = now;
  if (pending_ == 0 || script_.completion == Completion::never) return;
  for (EmulatedWork& work : seen_) {
    if (work.completed || work.at == kNever) continue;
    if (script_.completion == Completion::after && elapsed(work.at, now) < script_.delay_ns) continue;
    if (script_.completion == Completion::shuffled && random_.chance(0.5)) continue;
    work_do(work);
    if (script_.completion == Completion::in_order) break;
  }
  forget();
}

void EmulatedDevice::complete_late() {
  for (EmulatedWork& work : seen_)
    if (!work.completed && work.opcode != 1) work_do(work);
}

void EmulatedDevice::work_do(EmulatedWork& work) {
  work.completed = true;
  if (work.opcode == 2 && !script_.drains_answer) {
    work.completed = false;
    work.at = kNever;
    return;
  }
  if (const auto injected = script_.inject.find(work.number); injected != script_.inject.end())
    return complete(work, injected->second);
  if (const std::uint8_t status = refusal(work)) {
    violations_++;
    return complete(work, status);
  }
  if (work.opcode == 3) return move(work);
  if (work.opcode == 2) drain_before(work);
  complete(work, 0x01);
}

// Completes all older work, because the answer to a drain means that nothing older is outstanding. Lost
// completions never come after that.
void EmulatedDevice::drain_before(const EmulatedWork& drain) {
  for (EmulatedWork& work : seen_) {
    if (work.number >= drain.number || work.completed) continue;
    if (work.at != kNever) {
      work_do(work);
    } else if (work.opcode != 1) {
      work.completed = true;
      ended(work, End::silence);
    }
  }
}

// Returns the status code that the device would give, or 0 if it accepts the work.
std::uint8_t EmulatedDevice::refusal(const EmulatedWork& work) {
  constexpr std::uint32_t kKnown = 0x0001 | 0x0002 | 0x0004 | 0x0008 | 0x0100;
  if (work.opcode != 0 && work.opcode != 2 && work.opcode != 3) return 0x10;
  if ((work.flags & ~kKnown) || !(work.flags & 0x0004)) return 0x11;
  if ((work.flags & 0x0002) && !script_.block_on_fault_allowed) return 0x11;
  if (!work.reserved_zero) return 0x12;
  if (work.opcode != 3) return work.source || work.destination || work.bytes ? 0x12 : 0;
  if (work.bytes == 0 || work.bytes > script_.transfer_limit) return 0x13;
  const bool overlap =
      work.source < work.destination + work.bytes && work.destination < work.source + work.bytes;
  return overlap && !script_.overlap_allowed ? 0x16 : 0;
}

bool EmulatedDevice::absent(std::uint64_t address) {
  const std::uint64_t page = address / page_bytes();
  if (script_.fault_chance > 0 && random_.chance(script_.fault_chance)) absent_.emplace(page, false);
  return absent_.count(page) != 0;
}

// Copies page by page, in the device's direction, up to the first absent page.
void EmulatedDevice::move(const EmulatedWork& work) {
  std::uint32_t done = 0;
  while (done < work.bytes) {
    // The next byte to copy. From there `room` counts the bytes up to the end of a page.
    const std::uint64_t offset = script_.backward ? work.bytes - done - 1 : done;
    const std::uint64_t source = work.source + offset, destination = work.destination + offset;
    const bool read_fault = absent(source);
    if (read_fault || absent(destination)) {
      const std::uint8_t write = read_fault ? 0 : 0x80;
      return complete(work, 0x03 | write, script_.backward ? 1 : 0, done, read_fault ? source : destination);
    }
    const auto room = [&](std::uint64_t at) {
      return script_.backward ? at % page_bytes() + 1 : page_bytes() - at % page_bytes();
    };
    const std::uint64_t bytes = std::min({room(source), room(destination), std::uint64_t{work.bytes - done}});
    const std::uint64_t back = script_.backward ? bytes - 1 : 0;
    std::memcpy(memory(destination - back), memory(source - back), bytes);
    done += static_cast<std::uint32_t>(bytes);
  }
  complete(work, 0x01);
}

void EmulatedDevice::complete(const EmulatedWork& work, std::uint8_t status, std::uint8_t result,
                              std::uint32_t bytes, std::uint64_t fault) {
  record_write(work, status, result, bytes, fault);
  ended(work, status == 0x01 ? End::success : End::failure);
}

// Writes bytes 1 to 31, then the status, as the device does.
void EmulatedDevice::record_write(const EmulatedWork& work, std::uint8_t status, std::uint8_t result,
                                  std::uint32_t bytes, std::uint64_t fault) {
  std::byte* const record = memory(work.record);
  std::byte rest[31] = {};
  rest[0] = std::byte{result};
  std::memcpy(rest + 3, &bytes, sizeof bytes);
  std::memcpy(rest + 7, &fault, sizeof fault);
  std::memcpy(record + 1, rest, sizeof rest);
  std::atomic_ref(*reinterpret_cast<std::uint8_t*>(record)).store(status, std::memory_order_release);
}

void EmulatedDevice::page_absent(const void* at, bool stays) {
  absent_[reinterpret_cast<std::uintptr_t>(at) / page_bytes()] = stays;
}

void EmulatedDevice::touched(const void* at, std::size_t bytes) {
  if (bytes == 0) return;
  const std::uint64_t first = reinterpret_cast<std::uintptr_t>(at) / page_bytes();
  const std::uint64_t last = (reinterpret_cast<std::uintptr_t>(at) + bytes - 1) / page_bytes();
  for (auto page = absent_.lower_bound(first); page != absent_.end() && page->first <= last;)
    page = page->second ? std::next(page) : absent_.erase(page);
}

void EmulatedSurroundings::touch(const std::byte* at, std::size_t bytes, bool write) {
  dsa_surroundings().touch(at, bytes, write);
  device_.touched(at, bytes);
}

}  // namespace omx::copy
