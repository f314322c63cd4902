// SPDX-License-Identifier: BSD-3-Clause
// The engine that is always available: memcpy in submit().
#pragma once

#include "copy/engine.h"

namespace omx::copy {

class CpuEngine final : public CopyEngine {
 public:
  Capabilities capabilities() const override;
  Submission submit(const Piece& piece) override;
  std::uint32_t poll(std::uint32_t) override { return 0; }
  bool drain(TimeNs) override { return true; }
};

}  // namespace omx::copy
