# SPDX-License-Identifier: BSD-3-Clause
# Finds everything that the build needs, before anything else, so that one message names all that is missing.
set(omx_missing "")

# omx_need(DEBIAN_PACKAGE CMAKE_PACKAGE)
macro(omx_need debian package)
  find_package(${package} QUIET)
  if(NOT ${package}_FOUND)
    list(APPEND omx_missing ${debian})
  endif()
endmacro()

find_package(Threads REQUIRED)
omx_need(libfmt-dev fmt)
omx_need(libexpected-dev tl-expected)
omx_need(libcli11-dev CLI11)
# Only the header is needed: src/steering/topology.cc loads the library at run time.
find_path(HWLOC_INCLUDE hwloc.h)
if(NOT HWLOC_INCLUDE)
  list(APPEND omx_missing libhwloc-dev)
endif()
if(OMX_TESTS)
  omx_need("libgtest-dev;libgmock-dev" GTest)
endif()
if(OMX_BENCH)
  omx_need(libbenchmark-dev benchmark)
endif()
if(omx_missing)
  list(JOIN omx_missing " " omx_missing)
  message(FATAL_ERROR "Packages are missing: apt-get install ${omx_missing}\n"
    "(libgtest-dev and libgmock-dev are for tests only, libbenchmark-dev for benchmarks: cmake --preset install needs none of them)")
endif()
