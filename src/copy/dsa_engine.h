// SPDX-License-Identifier: BSD-3-Clause
// Copies by a Data Streaming Accelerator, submitted from user space (docs/spec/copy-offload.md 4 to 10).
//
// A piece has one slot from submit() until completed() has passed it. A slot has one record, and at most one
// descriptor in flight:
//
//   free -> staged -> in_flight -> done        staged -> done     the queue stayed full: copied by CPU
//             ^          |    \-> lost         in_flight -> lost  no completion came, and no drain confirmed
//             +- fault --+                                        that nothing is outstanding: failed()
//
// Staged pieces travel alone, several in a call of the portal, or as members of a list (dsa_batches.h).
//
// After any error that is not a page fault the engine is switched off. Staged pieces are copied by CPU,
// pieces in flight are awaited, and submit() is unavailable. Records and descriptors of lost pieces are never
// used again nor unmapped.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/expected.h"
#include "base/fork_guard.h"
#include "copy/dsa_batches.h"
#include "copy/dsa_drain.h"
#include "copy/dsa_records.h"
#include "copy/dsa_surroundings.h"
#include "copy/engine.h"
#include "copy/portal.h"

namespace omx::copy {

struct DsaOptions {
  std::uint32_t most_outstanding = 32;  // 1 to 64; a shared queue's threshold is shared by all its users
  // Bytes of one descriptor: the queue's limit. Larger pieces are split.
  std::uint32_t max_transfer = 2U << 20;
  std::uint32_t max_list = 1;        // descriptors of a list, by portals that take them; 1: no lists
  std::uint32_t least_piece = 4096;  // bytes (docs/spec/copy-offload.md 9)
  bool cache_control = false;        // destinations go to cache; only if gen_cap bit 2 is set
  TimeNs full_ns = 1'000'000;        // after this time in a full queue the CPU copies a piece
  TimeNs lost_ns = 1'000'000'000;    // a completion later than this is lost; a drain gets the same time
  // Page faults that touching cannot repair, before the engine is switched off.
  std::uint32_t faults_most = 8;
};

class DsaEngine final : public CopyEngine {
 public:
  // Fails when there is no memory. `surroundings` must outlive the engine.
  static Result<std::unique_ptr<DsaEngine>> create(std::unique_ptr<Portal> portal, const DsaOptions& options,
                                                   DsaSurroundings& surroundings = dsa_surroundings());
  ~DsaEngine() override;

  Capabilities capabilities() const override;
  Submission submit(const Piece& piece) override;
  std::uint32_t poll(std::uint32_t budget) override;
  bool drain(TimeNs deadline) override;
  bool failed(Ticket ticket) const override;
  const char* disabled_reason() const override;

  const Portal& portal() const { return *portal_; }

 private:
  enum class State : std::uint8_t { free, staged, in_flight, done, lost };
  struct Slot {
    State state = State::free;
    std::uint8_t resubmissions = 0;
    const std::byte* source = nullptr;
    std::byte* destination = nullptr;
    std::size_t bytes = 0;  // of the whole piece
    std::size_t at = 0;     // where the descriptor's part begins
    std::uint32_t part = 0;
    std::size_t next = 0;  // where the next part begins
    TimeNs since = 0;      // since when it is staged or accepted by the device
    std::uint64_t fault_page = 0;
    std::optional<std::uint8_t> list;  // in flight as its member
  };

  DsaEngine(std::unique_ptr<Portal> portal, const DsaOptions& options, DsaSurroundings& surroundings);

  std::size_t index_of(Ticket ticket) const { return ticket & (slots_.size() - 1); }
  bool forked();  // returns whether this is a forked child, and ends all tickets there

  // --- submission ---
  void part_begin(Slot& slot);
  void stage(std::size_t index);
  std::size_t flush_at() const;
  void flush(TimeNs now);
  PortalAnswer send(std::size_t count, std::optional<std::uint8_t> list);
  void unstage_late(TimeNs now);
  void stop(std::string reason);

  // --- completions, and what is done when they do not come (docs/spec/copy-offload.md 6, 7) ---
  void record_read(std::size_t index, TimeNs now);
  void page_fault(Slot& slot, std::size_t index, const DsaRecord& record);
  void broken(Slot& slot, std::uint8_t status);
  void unrepaired(Slot& slot, std::uint8_t status);
  void untouched(Slot& slot, std::uint8_t status);
  bool answered(Slot& slot, std::size_t index, std::uint8_t& status);
  void finish_by_cpu(Slot& slot, Counter cause);
  void lost_look(TimeNs now);
  void advance();

  const std::unique_ptr<Portal> portal_;
  DsaOptions options_;
  DsaSurroundings& surroundings_;
  const ForkMark mark_;
  std::vector<Slot> slots_;  // index: ticket modulo the size, which most_outstanding may be less than
  DsaRecords records_;       // one per slot, and one for the drain
  DsaBatches batches_;
  std::vector<DsaDescriptor> outbox_;  // staged ones, in the order of submission
  std::vector<std::size_t> outbox_slots_;
  std::vector<Ticket> failed_;
  std::string reason_;
  DsaDrain drain_;
  std::uint32_t odd_faults_ = 0;
};

}  // namespace omx::copy
