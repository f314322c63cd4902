// SPDX-License-Identifier: BSD-3-Clause
// For tests of a process that may open no more files.
#pragma once

#include <gtest/gtest.h>
#include <sys/resource.h>

namespace omx {

// Uses up all descriptors while it lives.
class NoDescriptor {
 public:
  NoDescriptor() {
    EXPECT_EQ(::getrlimit(RLIMIT_NOFILE, &before_), 0);
    const rlimit none{0, before_.rlim_max};
    EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  }
  ~NoDescriptor() { EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &before_), 0); }

 private:
  rlimit before_{};
};

}  // namespace omx
