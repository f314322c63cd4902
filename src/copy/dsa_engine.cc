// SPDX-License-Identifier: BSD-3-Clause
#include "copy/dsa_engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>

#include "base/log.h"

namespace omx::copy {

namespace {

constexpr int kNoResources = 15;  // MX_NO_RESOURCES
constexpr std::uint32_t kSlotsMost = 64;
constexpr std::uint8_t kResubmissionsMost = 2;  // after that the CPU is faster
constexpr std::size_t kLists = 4;               // with fewer pieces each than slots: the rest travel alone

// Returns whether a fault is neither partial nor repaired by touching the piece's pages.
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

DsaEngine::DsaEngine(std::unique_ptr<Portal> portal, const DsaOptions& options, DsaSurroundings& surroundings)
    : portal_(std::move(portal)),
      options_(options),
      surroundings_(surroundings),
      slots_(std::bit_ceil(std::clamp(options.most_outstanding, 1U, kSlotsMost))),
      records_(slots_.size() + 1),
      batches_(kLists, portal_->takes_lists() ? options.max_list : 1) {
  options_.most_outstanding = std::clamp(options.most_outstanding, 1U, kSlotsMost);
  options_.max_transfer = std::max(options.max_transfer, 1U);
  // The only later allocation is the sentence that says why the engine was switched off.
  outbox_.reserve(slots_.size());
  outbox_slots_.reserve(slots_.size());
  failed_.reserve(slots_.size());
}

Result<std::unique_ptr<DsaEngine>> DsaEngine::create(std::unique_ptr<Portal> portal,
                                                     const DsaOptions& options,
                                                     DsaSurroundings& surroundings) {
  std::unique_ptr<DsaEngine> engine;
  try {
    engine.reset(new DsaEngine(std::move(portal), options, surroundings));
  } catch (const std::bad_alloc&) {
  }
  if (!engine || !engine->records_.present() || !engine->batches_.present())
    return fail(kNoResources, "copy engine dsa: no memory left for its records");
  return engine;
}

DsaEngine::~DsaEngine() {
  if (!forked()) drain(kNever);
  // A device answers for a list a little later than for its members.
  const TimeNs until = surroundings_.now() + options_.lost_ns;
  const bool answers = !mark_.forked() && !drain_.begun();
  for (unsigned times = 0; answers && batches_.outstanding() && surroundings_.now() < until; times++)
    surroundings_.wait(nullptr, times);
  if (drain_.outstanding() || !failed_.empty()) records_.keep_mapped();
  if (batches_.outstanding()) batches_.keep_mapped();
}

Capabilities DsaEngine::capabilities() const {
  return {.name = "dsa",
          .asynchronous = true,
          .cached = options_.cache_control,
          .least_piece = options_.least_piece,
          .most_outstanding = options_.most_outstanding};
}

// Ends all tickets in a forked child, and returns whether this is one. The device writes nothing there: its
// records belong to the parent's address space.
bool DsaEngine::forked() {
  if (!mark_.forked()) return false;
  for (Ticket t = completed_ + 1; t <= submitted_; t++) {
    if (slots_[index_of(t)].state == State::done) continue;
    failed_.push_back(t);
    counters_.add(Counter::failed);
  }
  completed_ = submitted_;
  outbox_.clear();
  outbox_slots_.clear();
  return true;
}

Submission DsaEngine::submit(const Piece& piece) {
  if (forked() || !reason_.empty()) return {};
  if (outstanding() == options_.most_outstanding) {
    counters_.add(Counter::busy);
    return {Answer::busy, 0};
  }
  counters_.add(Counter::pieces);
  counters_.add(Counter::bytes, piece.bytes);
  const Ticket ticket = ++submitted_;
  const std::size_t index = index_of(ticket);
  Slot& slot = slots_[index];
  slot = Slot{};
  slot.source = piece.source;
  slot.destination = piece.destination;
  slot.bytes = piece.bytes;
  part_begin(slot);
  if (slot.part == 0) {  // a device takes no empty descriptors
    slot.state = State::done;
    advance();
    return {Answer::accepted, ticket};
  }
  if (!piece.resident) {
    surroundings_.touch(piece.source, piece.bytes, false);
    surroundings_.touch(piece.destination, piece.bytes, true);
  }
  stage(index);
  if (outbox_.size() >= flush_at()) flush(surroundings_.now());
  return {Answer::accepted, ticket};
}

void DsaEngine::part_begin(Slot& slot) {
  slot.at = slot.next;
  slot.part = static_cast<std::uint32_t>(std::min<std::size_t>(slot.bytes - slot.at, options_.max_transfer));
  slot.next = slot.at + slot.part;
}

void DsaEngine::stage(std::size_t index) {
  Slot& slot = slots_[index];
  DsaRecord* const record = records_.at(index);
  dsa_record_clear(*record);
  std::uint32_t flags = kDsaCompletionValid | kDsaCompletionWanted;
  if (options_.cache_control) flags |= kDsaCacheControl;
  DsaDescriptor d = dsa_describe(DsaOpcode::move, flags, record);
  d.source = reinterpret_cast<std::uintptr_t>(slot.source + slot.at);
  d.destination = reinterpret_cast<std::uintptr_t>(slot.destination + slot.at);
  d.bytes = slot.part;
  slot.state = State::staged;
  slot.since = surroundings_.now();
  outbox_.push_back(d);
  outbox_slots_.push_back(index);
}

std::size_t DsaEngine::flush_at() const {
  return std::max<std::size_t>(portal_->batch(), batches_.members());
}

// Submits the first `count` staged descriptors, as the members of a list if there is one.
PortalAnswer DsaEngine::send(std::size_t count, std::optional<std::uint8_t> list) {
  const auto first = std::span(outbox_).first(count);
  if (!list) return portal_->submit(first);
  const DsaDescriptor batch = batches_.fill(*list, first);
  PortalAnswer answer = portal_->submit(std::span(&batch, 1));
  if (answer.accepted == 0) return answer;
  batches_.sent(*list, count);
  answer.accepted = count;
  return answer;
}

void DsaEngine::flush(TimeNs now) {
  while (!outbox_.empty() && reason_.empty()) {
    const bool lists = outbox_.size() >= 2 && batches_.members() >= 2;
    const std::optional<std::uint8_t> list = lists ? batches_.free_list() : std::nullopt;
    const std::size_t count =
        std::min<std::size_t>(outbox_.size(), list ? batches_.members() : portal_->batch());
    const PortalAnswer answer = send(count, list);
    for (std::size_t i = 0; i < answer.accepted; i++) {
      Slot& slot = slots_[outbox_slots_[i]];
      slot.state = State::in_flight;
      slot.since = now;
      slot.list = list;
    }
    const auto accepted = static_cast<std::ptrdiff_t>(answer.accepted);
    outbox_.erase(outbox_.begin(), outbox_.begin() + accepted);
    outbox_slots_.erase(outbox_slots_.begin(), outbox_slots_.begin() + accepted);
    if (answer.error) stop(fmt::format("its device refused work: {}", std::strerror(answer.error)));
    if (answer.accepted < count) {
      counters_.add(Counter::queue_full);
      break;
    }
  }
  unstage_late(now);
}

// Lets the CPU copy what the device did not take in time, and everything once the engine is switched off. The
// device never saw these descriptors.
void DsaEngine::unstage_late(TimeNs now) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < outbox_.size(); i++) {
    Slot& slot = slots_[outbox_slots_[i]];
    const bool stopped = !reason_.empty();
    if (stopped || elapsed(slot.since, now) >= options_.full_ns) {
      finish_by_cpu(slot, stopped ? Counter::cpu_stopped : Counter::cpu_busy);
    } else {
      outbox_[kept] = outbox_[i];
      outbox_slots_[kept++] = outbox_slots_[i];
    }
  }
  outbox_.resize(kept);
  outbox_slots_.resize(kept);
  advance();
}

void DsaEngine::stop(std::string reason) {
  if (!reason_.empty()) return;
  reason_ = std::move(reason);
  counters_.add(Counter::disabled);
  log(LogLevel::warn, "copy engine dsa ({}) is switched off: {}; from now on the processor copies",
      portal_->name(), reason_);
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
  if (drain_.begun()) lost_look(now);
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
  std::uint8_t status = dsa_status(record);
  if (slot.list && !answered(slot, index, status)) return;
  const std::uint8_t code = status & kDsaStatusMask;
  if (status == 0) {
    if (elapsed(slot.since, now) < options_.lost_ns || drain_.begun()) return;
    stop(fmt::format("no completion of {} bytes came within {} ms", slot.part, options_.lost_ns / 1'000'000));
    drain_.want(now + options_.lost_ns);
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
    unrepaired(slot, status);
  } else {
    broken(slot, code);
  }
}

// Looks whether a member of a list is over. Returns false when it ended here because the device is done with
// the list and never began with the member. `status` is that of its record, and may be read again.
bool DsaEngine::answered(Slot& slot, std::size_t index, std::uint8_t& status) {
  if (status == 0) {
    const std::uint8_t whole = batches_.status(*slot.list);
    if (whole == 0) return true;
    // The device writes the records of members before that of their list.
    status = dsa_status(*records_.at(index));
    if (status == 0) {
      untouched(slot, whole);
      return false;
    }
  }
  batches_.left(*slot.list);
  slot.list.reset();
  return true;
}

// Handles a member that the device never began with, although it is done with its list.
void DsaEngine::untouched(Slot& slot, std::uint8_t status) {
  const std::uint8_t list = *slot.list;
  const bool first = batches_.judge(list);
  batches_.left(list);
  slot.list.reset();
  if (!odd_fault(status & kDsaStatusMask))
    broken(slot, status & kDsaStatusMask);
  else if (first)
    unrepaired(slot, status);
  else
    finish_by_cpu(slot, Counter::cpu_fault);
}

// Handles a fault that touching the piece's pages does not repair.
void DsaEngine::unrepaired(Slot& slot, std::uint8_t status) {
  counters_.add(status & kDsaStatusWrite ? Counter::faults_write : Counter::faults_read);
  finish_by_cpu(slot, Counter::cpu_fault);
  if (++odd_faults_ >= options_.faults_most)
    stop(fmt::format("{} page faults that cannot be repaired, the last with status 0x{:02x}", odd_faults_,
                     status & kDsaStatusMask));
}

// Handles a stop of the device at an absent page. The bytes that it copied are kept. The rest is touched and
// submitted again.
void DsaEngine::page_fault(Slot& slot, std::size_t index, const DsaRecord& record) {
  const bool write = dsa_status(record) & kDsaStatusWrite;
  counters_.add(write ? Counter::faults_write : Counter::faults_read);
  if (record.bytes_completed > slot.part) return broken(slot, dsa_status(record) & kDsaStatusMask);
  if (record.result == 0) slot.at += record.bytes_completed;
  slot.part -= record.bytes_completed;  // copied from the end: the beginning is left
  const std::uint64_t page = record.fault_address / surroundings_.page_bytes();
  const bool again = slot.resubmissions > 0 && page == slot.fault_page;
  if (again || slot.resubmissions == kResubmissionsMost || !reason_.empty())
    return finish_by_cpu(slot, Counter::cpu_fault);
  slot.fault_page = page;
  slot.resubmissions++;
  counters_.add(Counter::resubmissions);
  // Touches all that is left of the piece, so that this does not happen for page after page.
  surroundings_.touch(slot.source + slot.at, slot.part, false);
  surroundings_.touch(slot.destination + slot.at, slot.part, true);
  if (slot.part == 0) part_begin(slot);
  if (slot.part == 0)
    slot.state = State::done;
  else
    stage(index);
}

// Handles an error of the device or of our descriptor. The device is done with this descriptor, so the memory
// is ours again.
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

// Handles a completion that did not come. The drain tells whether the device may still write. If the drain
// gets no answer, the pieces fail.
void DsaEngine::lost_look(TimeNs now) {
  drain_.advance(*portal_, *records_.at(slots_.size()), now);
  if (!drain_.over()) return;
  for (Ticket t = completed_ + 1; t <= submitted_; t++) {
    Slot& slot = slots_[index_of(t)];
    if (slot.state != State::in_flight) continue;
    // Everything that completed before the drain has its status by now.
    record_read(index_of(t), now);
    if (slot.state != State::in_flight) continue;
    finish_by_cpu(slot, Counter::cpu_lost);
    if (drain_.confirmed()) continue;
    slot.state = State::lost;
    failed_.push_back(t);
    counters_.add(Counter::failed);
  }
}

bool DsaEngine::drain(TimeNs deadline) {
  const TimeNs begin = surroundings_.now();
  for (unsigned times = 0;; times++) {
    if (poll(options_.most_outstanding) > 0) times = 0;
    if (completed_ == submitted_) break;
    if (surroundings_.now() >= deadline) break;
    const std::size_t oldest = index_of(completed_ + 1);
    surroundings_.wait(slots_[oldest].state == State::in_flight ? &records_.at(oldest)->status : nullptr,
                       times);
  }
  counters_.add(Counter::waited_ns, surroundings_.now() - begin);
  return completed_ == submitted_;
}

bool DsaEngine::failed(Ticket ticket) const {
  return std::find(failed_.begin(), failed_.end(), ticket) != failed_.end();
}

const char* DsaEngine::disabled_reason() const {
  if (mark_.forked()) return "this process was forked from the one that opened the device";
  return reason_.c_str();
}

}  // namespace omx::copy
