// SPDX-License-Identifier: BSD-3-Clause
// A cable whose end v0 gets an egress program.
#pragma once

#include <net/if.h>

#include <utility>

#include "kernel_needs.h"
#include "tests/support/test_network.h"
#include "tools/broker/kernel/egress_program.h"
#include "tools/broker/kernel/grant_map.h"

namespace omx::broker {

class EgressTest : public link::CableTest {
 protected:
  void SetUp() override {
    CableTest::SetUp();
    if (IsSkipped()) return;
    auto maps = grant_maps_make();
    OMX_NEED(maps);
    maps_ = std::move(*maps);
    ifindex_ = ::if_nametoindex("v0");
  }

  GrantMaps maps_;
  std::uint32_t ifindex_ = 0;
};

}  // namespace omx::broker
