// SPDX-License-Identifier: BSD-3-Clause
// Replaces steer_program.cc in builds that cannot compile the XDP program.
#include "steering/xdp/steer_program.h"

namespace omx::steering {

namespace {

tl::unexpected<Failure> absent() {
  return fail(2,
              "this build has no XDP program: install the packages clang, bpftool and libbpf-dev, and build "
              "Open-MX again, beginning with cmake");
}

}  // namespace

bool steer_built() {
  return false;
}

Result<OwnFd> steer_load(const SteerTable&) {
  return absent();
}

Result<SteerState> steer_read(int) {
  return absent();
}

}  // namespace omx::steering
