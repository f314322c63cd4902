// SPDX-License-Identifier: BSD-3-Clause
// A software device behind the portal interface, for tests and the simulator (docs/spec/copy-offload.md 11).
// It decodes the 64 bytes of a descriptor with its own code, checks what device and kernel check, copies,
// fills the record, and stores the status last. Faults are scripted or drawn from a seed.
//
// Not thread-safe: tests/support/emulated_file.h puts it behind a lock and a thread.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <span>

#include "base/random.h"
#include "copy/dsa_surroundings.h"
#include "copy/portal.h"

namespace omx::copy {

struct EmulatedScript {
  enum class Completion : std::uint8_t {
    at_once,   // within submit()
    in_order,  // the oldest piece, one per step()
    shuffled,  // some pieces, drawn from the seed, per step()
    after,     // each piece `delay_ns` after its submission
    never,     // until complete_late()
  };

  std::uint64_t seed = 1;
  Completion completion = Completion::at_once;
  TimeNs delay_ns = 0;
  std::size_t queue_depth = 32;      // descriptors accepted and not completed; beyond that: busy
  unsigned busy_first = 0;           // the first calls that are answered with "full"
  std::size_t accept_most = ~0UL;    // descriptors of one call
  std::uint64_t error_after = ~0UL;  // descriptors accepted before every call fails
  int error = 1;                     // with this errno (EPERM)
  std::uint32_t transfer_limit = 2U << 20;
  bool block_on_fault_allowed = false;
  bool overlap_allowed = false;
  std::uint32_t list_limit = 0;  // members of a list; 0: the kernel refuses lists, as from write()
  bool backward = false;         // copies go from the end to the beginning
  bool drains_answer = true;     // the opcode drain is answered
  double fault_chance = 0;       // chance that a page of a copy is absent, drawn from the seed
  double lost_chance = 0;        // chance that a completion never comes
  std::size_t page_bytes = 4096;
  bool remember = true;  // keep completed work for seen(); not for long runs
  // Status of the n-th accepted descriptor (from 0), instead of the right one. A list whose status is given
  // here has none of its members done. They are counted after their list.
  std::map<std::uint64_t, std::uint8_t> inject{};
};

// A decoded descriptor.
struct EmulatedWork {
  std::uint64_t number = 0;  // from 0, in the order of acceptance
  std::uint32_t pasid = 0;
  std::uint32_t flags = 0;
  std::uint8_t opcode = 0;
  std::uint64_t record = 0, source = 0, destination = 0;
  std::uint32_t bytes = 0;
  bool reserved_zero = true;
  TimeNs at = 0;
  bool completed = false;
  std::uint64_t list = ~0ULL;  // number of its list; ~0: none
  std::uint32_t left = 0;      // of a list: members that are not completed
  bool spoiled = false;        // of a list: a member was not successful,
  bool silent = false;         // or its completion was lost, and so is that of the list
};

class EmulatedDevice {
 public:
  static constexpr std::size_t kPage = 4096;  // unless the script says otherwise

  explicit EmulatedDevice(const EmulatedScript& script) : script_(script), random_(script.seed) {}

  // Takes n x 64 bytes, as they come out of a portal or a write().
  PortalAnswer submit(std::span<const std::byte> descriptors);
  // Completes the work that the script says is due.
  void step(TimeNs now);
  // Completes all outstanding work, lost or not.
  void complete_late();

  // Makes a page unreachable for the device. With `stays`, touching does not help.
  void page_absent(const void* at, bool stays = false);
  // Reports that a processor touched this memory.
  void touched(const void* at, std::size_t bytes);

  EmulatedScript& script() { return script_; }
  std::size_t page_bytes() const { return script_.page_bytes; }
  // Returns the work in the order of acceptance.
  const std::deque<EmulatedWork>& seen() const { return seen_; }
  std::uint64_t accepted() const { return accepted_; }
  std::size_t pending() const { return pending_; }
  // Counts descriptors that broke rules of kernel or device (docs/spec/copy-offload.md 4, 5).
  unsigned violations() const { return violations_; }

 private:
  enum class End : std::uint8_t { success, failure, silence };

  void forget();
  void accept(const EmulatedWork& decoded, std::uint64_t list = ~0ULL);
  void accept_list(const EmulatedWork& decoded);
  std::uint8_t list_refusal(const EmulatedWork& list) const;
  void ended(const EmulatedWork& work, End end);
  void work_do(EmulatedWork& work);
  void move(const EmulatedWork& work);
  void drain_before(const EmulatedWork& drain);
  std::uint8_t refusal(const EmulatedWork& work);
  void complete(const EmulatedWork& work, std::uint8_t status, std::uint8_t result = 0,
                std::uint32_t bytes = 0, std::uint64_t fault = 0);
  void record_write(const EmulatedWork& work, std::uint8_t status, std::uint8_t result, std::uint32_t bytes,
                    std::uint64_t fault);
  bool absent(std::uint64_t address);

  EmulatedScript script_;
  Random random_;
  std::deque<EmulatedWork> seen_;
  std::uint64_t accepted_ = 0;
  std::map<std::uint64_t, bool> absent_;  // page number -> stays
  std::size_t pending_ = 0;
  unsigned violations_ = 0;
  TimeNs now_ = 0;
};

class EmulatedPortal final : public Portal {
 public:
  // The device must outlive the portal.
  explicit EmulatedPortal(EmulatedDevice& device, std::size_t batch = 1) : device_(device), batch_(batch) {}
  PortalAnswer submit(std::span<const DsaDescriptor> descriptors) override {
    return device_.submit(std::as_bytes(descriptors));
  }
  std::size_t batch() const override { return batch_; }
  bool takes_lists() const override { return device_.script().list_limit > 0; }
  const char* name() const override { return "emulated"; }

 private:
  EmulatedDevice& device_;
  std::size_t batch_;
};

// Virtual time. It advances while the engine waits and, by `tick`, whenever the engine reads the clock.
class EmulatedSurroundings : public DsaSurroundings {
 public:
  explicit EmulatedSurroundings(EmulatedDevice& device, TimeNs tick = 0) : device_(device), tick_(tick) {}
  std::size_t page_bytes() const override { return device_.page_bytes(); }
  TimeNs now() override {
    if (tick_) advance(tick_);
    return now_;
  }
  void touch(const std::byte* at, std::size_t bytes, bool write) override;
  void wait(const std::uint8_t*, unsigned) override { advance(10'000); }
  void advance(TimeNs by) {
    now_ += by;
    device_.step(now_);
  }

 private:
  EmulatedDevice& device_;
  const TimeNs tick_;
  TimeNs now_ = 1;
};

}  // namespace omx::copy
