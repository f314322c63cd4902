# SPDX-License-Identifier: BSD-3-Clause
# For ./check: clang-tidy.
# shellcheck shell=bash

# omx_tidy PATTERN...: runs clang-tidy on the sources whose paths match. Generated headers are made first.
omx_tidy() {
  cmake --preset tidy >/dev/null &&
    cmake --build build/tidy --target omx_steer_skeleton omx_xdp_skeleton >/dev/null &&
    run-clang-tidy -quiet -extra-arg=-Wno-ignored-optimization-argument -p build/tidy "$@"
}
