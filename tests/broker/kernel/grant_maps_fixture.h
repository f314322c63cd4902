// SPDX-License-Identifier: BSD-3-Clause
// Maps of grants in the kernel, without an egress program that reads them.
#pragma once

#include <gtest/gtest.h>

#include <utility>

#include "kernel_needs.h"
#include "tools/broker/kernel/grant_map.h"

namespace omx::broker {

class GrantMapsTest : public testing::Test {
 protected:
  void SetUp() override {
    auto made = grant_maps_make();
    OMX_NEED(made);
    maps_ = std::move(*made);
  }

  GrantMaps maps_;
};

}  // namespace omx::broker
