// SPDX-License-Identifier: BSD-3-Clause
// A DsaEngine on the software device, in time that stands still unless a test moves it.
#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "base/random.h"
#include "copy/dsa_engine.h"
#include "copy/emulated_portal.h"

namespace omx::copy {

struct DsaRig {
  explicit DsaRig(const EmulatedScript& script, const DsaOptions& options = {}, std::size_t batch = 1)
      : device(script), surroundings(device) {
    engine =
        std::move(*DsaEngine::create(std::make_unique<EmulatedPortal>(device, batch), options, surroundings));
  }
  ~DsaRig() { engine.reset(); }

  std::uint64_t count(Counter counter) const { return engine->counters().get(counter); }
  // Counts the moves that the device was asked for.
  std::size_t moves() const {
    std::size_t n = 0;
    for (const EmulatedWork& work : device.seen()) n += work.opcode == 3;
    return n;
  }

  EmulatedDevice device;
  EmulatedSurroundings surroundings;
  std::unique_ptr<DsaEngine> engine;
};

// Pages filled with a pattern.
class Pages {
 public:
  explicit Pages(std::size_t count, std::uint64_t seed = 0) : bytes_(count * EmulatedDevice::kPage) {
    void* at = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) std::abort();
    data_ = static_cast<std::byte*>(at);
    if (seed) random_fill({data_, bytes_}, seed);
  }
  ~Pages() { ::munmap(data_, bytes_); }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

  std::byte* data() const { return data_; }
  std::size_t size() const { return bytes_; }

 private:
  std::byte* data_ = nullptr;
  std::size_t bytes_;
};

inline bool same_bytes(const std::byte* a, const std::byte* b, std::size_t bytes) {
  return std::memcmp(a, b, bytes) == 0;
}

}  // namespace omx::copy
