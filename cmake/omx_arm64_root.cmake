# SPDX-License-Identifier: BSD-3-Clause
# OMX_ARM64_ROOT: the folder with the libraries of arm64 that tools/setup/arm64.sh makes.
if(DEFINED ENV{OMX_ARM64_ROOT})
  set(OMX_ARM64_ROOT "$ENV{OMX_ARM64_ROOT}")
else()
  set(OMX_ARM64_ROOT "${CMAKE_CURRENT_LIST_DIR}/../build/arm64-root")
endif()
get_filename_component(OMX_ARM64_ROOT "${OMX_ARM64_ROOT}" REALPATH)
if(NOT EXISTS "${OMX_ARM64_ROOT}/usr/lib/aarch64-linux-gnu")
  message(FATAL_ERROR "${OMX_ARM64_ROOT} has no libraries of arm64: run tools/setup/arm64.sh first")
endif()
