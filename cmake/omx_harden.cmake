# SPDX-License-Identifier: BSD-3-Clause
# Flags that make attacks on faults of memory harder. tests/tools/hardening_test.py examines what was built.
include(CheckCXXCompilerFlag)
include(CheckCXXSourceCompiles)
include(CheckPIESupported)

option(OMX_HARDEN "flags of the compiler and the linker against attacks on faults of memory" ON)
check_pie_supported(LANGUAGES C CXX)
# Programs of all builds can be loaded at any address: CMAKE_POSITION_INDEPENDENT_CODE compiles for it, and this links them so.
if(OMX_HARDEN)
  add_link_options(LINKER:-z,relro LINKER:-z,now LINKER:-z,noexecstack)
endif()
# Sanitizers, which fuzzers have too, check more than FORTIFY_SOURCE, but not through its functions.
if(OMX_HARDEN AND NOT OMX_SANITIZE AND NOT OMX_FUZZ)
  foreach(flag -fstack-protector-strong -fstack-clash-protection -fcf-protection -mbranch-protection=standard)
    string(MAKE_C_IDENTIFIER "OMX_HAS${flag}" has)
    check_cxx_compiler_flag("-Werror ${flag}" ${has})
    if(${has})
      add_compile_options(${flag})
    endif()
  endforeach()
  # FORTIFY_SOURCE needs optimisation. A level that the compiler or the packager has already set stays.
  set(CMAKE_REQUIRED_FLAGS "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_RELEASE} -O2")
  check_cxx_source_compiles("#ifndef _FORTIFY_SOURCE
#error not set
#endif
int main() {}" OMX_HAS_FORTIFY_SOURCE)
  unset(CMAKE_REQUIRED_FLAGS)
  if(NOT OMX_HAS_FORTIFY_SOURCE)
    foreach(config Release RelWithDebInfo MinSizeRel)
      add_compile_options("$<$<CONFIG:${config}>:-D_FORTIFY_SOURCE=2>")
    endforeach()
  endif()
endif()

# Installing replaces the path by which programs of the build folder find libraries, but not its length, which would depend
# on that folder. A test copies a program out of its folder, so that it needs the whole path.
if(NOT OMX_TESTS)
  set(CMAKE_BUILD_RPATH_USE_ORIGIN ON)
endif()
