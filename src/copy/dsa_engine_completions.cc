// SPDX-License-Identifier: BSD-3-Clause
// What the device says, and what is done when it says nothing (copy-offload.md 6 and 7).
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "copy/dsa_engine.h"

namespace omx::copy {

namespace {

constexpr std::uint8_t kResubmissionsMost = 2;  // then the CPU is faster

std::uint64_t page_of(std::uint64_t address) {
  static const auto size = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return address / size;
}

// Faults in places where they are neither partial nor repaired by touching the piece's pages.
bool odd_fault(std::uint8_t code) {
  switch (static_cast<DsaStatus>(code)) {
    case DsaStatus::page_fault_blocking:
    case DsaStatus::batch_fault:
    case DsaStatus::record_fault:
    case DsaStatus::read_back_fault:
      return true;
    default:
      return false;
  }
}

}  // namespace

std::uint8_t dsa_status(const DsaRecord& record) {
  return std::atomic_ref(const_cast<std::uint8_t&>(record.status)).load(std::memory_order_acquire);
}

void dsa_record_clear(DsaRecord& record) {
  record.result = 0;
  record.bytes_completed = 0;
  record.fault_address = 0;
  std::atomic_ref(record.status).store(0, std::memory_order_release);
}

std::uint32_t DsaEngine::poll(std::uint32_t budget) {
  const Ticket before = completed_;
  if (forked() || completed_ == submitted_) return static_cast<std::uint32_t>(completed_ - before);
  const TimeNs now = surroundings_.now();
  const Ticket end = completed_ + std::min<Ticket>(budget, submitted_ - completed_);
  for (Ticket t = completed_ + 1; t <= end; t++) {
    if (slots_[index_of(t)].state == State::in_flight) record_read(index_of(t), now);
  }
  flush(now);
  if (drain_ != Drain::none) lost_look(now);
  advance();
  return static_cast<std::uint32_t>(completed_ - before);
}

void DsaEngine::advance() {
  while (completed_ != submitted_) {
    Slot& slot = slots_[index_of(completed_ + 1)];
    if (slot.state != State::done && slot.state != State::lost) break;
    slot.state = State::free;
    completed_++;
  }
}

void DsaEngine::record_read(std::size_t index, TimeNs now) {
  Slot& slot = slots_[index];
  const DsaRecord& record = *records_.at(index);
  const std::uint8_t status = dsa_status(record);
  const std::uint8_t code = status & kDsaStatusMask;
  if (status == 0) {
    if (elapsed(slot.since, now) < options_.lost_ns || drain_ != Drain::none) return;
    stop(fmt::format("no completion of {} bytes came within {} ms", slot.part, options_.lost_ns / 1'000'000));
    drain_ = Drain::wanted;
    drain_until_ = now + options_.lost_ns;
  } else if (code == static_cast<std::uint8_t>(DsaStatus::success)) {
    part_begin(slot);
    if (slot.part == 0)
      slot.state = State::done;
    else if (reason_.empty())
      stage(index);
    else
      finish_by_cpu(slot, Counter::cpu_stopped);
  } else if (code == static_cast<std::uint8_t>(DsaStatus::page_fault)) {
    page_fault(slot, index, record);
  } else if (odd_fault(code)) {
    counters_.add(status & kDsaStatusWrite ? Counter::faults_write : Counter::faults_read);
    finish_by_cpu(slot, Counter::cpu_fault);
    if (++odd_faults_ >= options_.faults_most)
      stop(fmt::format("{} page faults that cannot be repaired, the last with status 0x{:02x}", odd_faults_,
                       code));
  } else {
    broken(slot, code);
  }
}

// The device stopped at a page. What it has done is kept; the rest is touched and given to it again.
void DsaEngine::page_fault(Slot& slot, std::size_t index, const DsaRecord& record) {
  const bool write = dsa_status(record) & kDsaStatusWrite;
  counters_.add(write ? Counter::faults_write : Counter::faults_read);
  if (record.bytes_completed > slot.part) return broken(slot, dsa_status(record) & kDsaStatusMask);
  if (record.result == 0) slot.at += record.bytes_completed;
  slot.part -= record.bytes_completed;  // copied from the end: the beginning is left
  const std::uint64_t page = page_of(record.fault_address);
  const bool again = slot.resubmissions > 0 && page == slot.fault_page;
  if (again || slot.resubmissions == kResubmissionsMost || !reason_.empty())
    return finish_by_cpu(slot, Counter::cpu_fault);
  slot.fault_page = page;
  slot.resubmissions++;
  counters_.add(Counter::resubmissions);
  // All that is left of the piece, so that this does not happen page by page.
  surroundings_.touch(slot.source + slot.at, slot.part, false);
  surroundings_.touch(slot.destination + slot.at, slot.part, true);
  if (slot.part == 0) part_begin(slot);
  if (slot.part == 0)
    slot.state = State::done;
  else
    stage(index);
}

// An error of the device, or of what we told it. It is done with this descriptor, so the memory is ours.
void DsaEngine::broken(Slot& slot, std::uint8_t code) {
  const bool hardware = code >= static_cast<std::uint8_t>(DsaStatus::hardware_first) &&
                        code <= static_cast<std::uint8_t>(DsaStatus::hardware_last);
  finish_by_cpu(slot, Counter::cpu_error);
  stop(fmt::format("{} with status 0x{:02x}", hardware ? "its device failed" : "it refused a descriptor",
                   code));
}

void DsaEngine::finish_by_cpu(Slot& slot, Counter cause) {
  const auto copy = [&](std::size_t from, std::size_t bytes) {
    if (bytes) std::memcpy(slot.destination + from, slot.source + from, bytes);
    counters_.add(Counter::cpu_bytes, bytes);
  };
  copy(slot.at, slot.part);
  copy(slot.next, slot.bytes - slot.next);
  slot.state = State::done;
  counters_.add(cause);
}

// A completion did not come. Whether the device is done with everything is what a drain descriptor tells:
// until then it may still write. Without its answer the pieces are failed.
void DsaEngine::lost_look(TimeNs now) {
  if (drain_ == Drain::wanted) drain_send(now);
  if (drain_ == Drain::sent) {
    const std::uint8_t status = dsa_status(*records_.at(slots_.size()));
    if (status == static_cast<std::uint8_t>(DsaStatus::success)) drain_ = Drain::confirmed;
    if (status != 0 && drain_ == Drain::sent) drain_ = Drain::given_up;  // it answered, with an error
  }
  if (drain_ != Drain::confirmed && now >= drain_until_) drain_ = Drain::given_up;
  if (drain_ != Drain::confirmed && drain_ != Drain::given_up) return;
  for (Ticket t = completed_ + 1; t <= submitted_; t++) {
    Slot& slot = slots_[index_of(t)];
    if (slot.state != State::in_flight) continue;
    // What completed before the drain did says so by now.
    record_read(index_of(t), now);
    if (slot.state != State::in_flight) continue;
    finish_by_cpu(slot, Counter::cpu_lost);
    if (drain_ == Drain::confirmed) continue;
    slot.state = State::lost;
    failed_.push_back(t);
    counters_.add(Counter::failed);
  }
}

void DsaEngine::drain_send(TimeNs now) {
  if (now >= drain_until_) return;
  DsaRecord* const record = records_.at(slots_.size());
  dsa_record_clear(*record);
  const DsaDescriptor d = dsa_describe(DsaOpcode::drain, kDsaCompletionValid | kDsaCompletionWanted, record);
  const PortalAnswer answer = portal_->submit(std::span(&d, 1));
  if (answer.accepted) drain_ = Drain::sent;
  if (answer.error) drain_until_ = now;
}

}  // namespace omx::copy
