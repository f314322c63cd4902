// SPDX-License-Identifier: BSD-3-Clause
// Thousands of engines are switched off on purpose here, so their warnings are not printed.
#include <gtest/gtest.h>

#include "base/log.h"

namespace {

class Quiet final : public ::testing::Environment {
  void SetUp() override { omx::g_log_level = static_cast<int>(omx::LogLevel::error); }
};
const ::testing::Environment* const g_quiet = ::testing::AddGlobalTestEnvironment(new Quiet);

}  // namespace
