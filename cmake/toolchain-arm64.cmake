# SPDX-License-Identifier: BSD-3-Clause
# Builds for arm64 on another processor, with what tools/setup/arm64.sh sets up. Programs run under qemu-user.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
include("${CMAKE_CURRENT_LIST_DIR}/omx_arm64_root.cmake")

set(CMAKE_SYSROOT "${OMX_ARM64_ROOT}")
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH "${OMX_ARM64_ROOT}")
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)

find_program(OMX_QEMU_ARM64 NAMES qemu-aarch64-static qemu-aarch64)
if(OMX_QEMU_ARM64)
  set(CMAKE_CROSSCOMPILING_EMULATOR "${OMX_QEMU_ARM64}" -L "${OMX_ARM64_ROOT}")
endif()
