// SPDX-License-Identifier: BSD-3-Clause
#include "copy/dsa_surroundings.h"

#include <unistd.h>

#include <ctime>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "base/clock.h"
#include "copy/dsa_portals.h"

namespace omx::copy {

namespace {

// A device takes about a microsecond for 4 KiB. Spin for some of that, then let other threads have the core.
constexpr unsigned kSpins = 200;
constexpr long kNapNs = 20'000;

#if defined(__x86_64__)
// Sleeps inside the core until the cache line of `status` is written, at most some tens of microseconds. The
// kernel bounds the time by umwait_control/max_time.
__attribute__((target("waitpkg"))) void wait_for_line(const std::uint8_t* status) {
  _umonitor(const_cast<std::uint8_t*>(status));
  if (__atomic_load_n(status, __ATOMIC_ACQUIRE) == 0) _umwait(1, __builtin_ia32_rdtsc() + 50'000);
}
#else
void wait_for_line(const std::uint8_t*) {}
#endif

class Real final : public DsaSurroundings {
 public:
  TimeNs now() override { return clock_now(); }

  std::size_t page_bytes() const override { return page_bytes_; }

  void touch(const std::byte* at, std::size_t bytes, bool write) override {
    const std::byte* const end = at + bytes;
    while (at < end) {
      // The destination belongs to the piece alone, so no other thread writes this byte meanwhile.
      volatile std::byte* const byte = const_cast<volatile std::byte*>(at);
      const std::byte value = *byte;
      if (write) *byte = value;
      at += page_bytes_ - reinterpret_cast<std::uintptr_t>(at) % page_bytes_;
    }
  }

  void wait(const std::uint8_t* status, unsigned times) override {
    if (times < kSpins) {
      cpu_relax();
    } else if (status && features_.waitpkg) {
      wait_for_line(status);
    } else {
      const timespec nap{0, kNapNs};
      ::nanosleep(&nap, nullptr);
    }
  }

 private:
  const CpuFeatures features_ = cpu_features();
  const std::size_t page_bytes_ = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
};

}  // namespace

DsaSurroundings& dsa_surroundings() {
  static Real real;
  return real;
}

}  // namespace omx::copy
