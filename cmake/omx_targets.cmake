# SPDX-License-Identifier: BSD-3-Clause
# Compiler settings for all targets, and the functions that declare layers and tests.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS ON)
set(CMAKE_C_STANDARD 11)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

# The layers are separate libraries. Inlining across them saves 5 % of a small message's latency. Only the
# shared library is linked that way. Everything else links the ordinary code of the same (fat) objects.
option(OMX_LTO "link-time optimisation of the shared library in release builds" ON)
if(NOT CMAKE_BUILD_TYPE STREQUAL "Release" OR NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set(OMX_LTO OFF)
endif()
if(OMX_LTO)
  set(OMX_LTO_COMPILE -flto=auto -ffat-lto-objects)
  add_link_options($<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-fno-lto>)
endif()

# For link-time optimisation GCC gives each file a random name. The file's place in the build folder is as good, and the
# same in each build of the same sources. clang needs no such name.
foreach(language C CXX)
  if(CMAKE_${language}_COMPILER_ID STREQUAL "GNU")
    string(APPEND CMAKE_${language}_COMPILE_OBJECT " -frandom-seed=<OBJECT>")
  endif()
endforeach()
# Programs for the kernel, which clang compiles, carry the names of their sources into ours.
set(OMX_BPF_COMPILE -target bpf -mcpu=v3 -g -O2 -Wall -Wextra -Werror
  "-ffile-prefix-map=${PROJECT_SOURCE_DIR}=/open-mx" -fdebug-compilation-dir=/open-mx)

set(OMX_SANITIZE "" CACHE STRING "sanitizers: empty, address,undefined or thread")
# A newer compiler warns of more: that must not stop a user's build.
option(OMX_WERROR "treat warnings as errors: for developers" OFF)
# Clang 17 and later find deprecated functions within libstdc++ 12 itself. GCC finds those that we use.
set(OMX_WARNINGS -Wall -Wextra -Wshadow -Wpointer-arith -Wcast-qual $<$<CXX_COMPILER_ID:Clang>:-Wno-deprecated-declarations>
  $<$<BOOL:${OMX_WERROR}>:-Werror>)

# Paths relative to the sources let all build folders and clones share the results.
option(OMX_CCACHE "compile through ccache where it is installed" ON)
find_program(OMX_CCACHE_PROGRAM ccache)
if(OMX_CCACHE AND OMX_CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(launcher "${CMAKE_COMMAND}" -E env "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}" CCACHE_NOHASHDIR=1
    CCACHE_SLOPPINESS=pch_defines,time_macros "${OMX_CCACHE_PROGRAM}")
  set(CMAKE_C_COMPILER_LAUNCHER "${launcher}")
  set(CMAKE_CXX_COMPILER_LAUNCHER "${launcher}")
endif()

add_compile_options(${OMX_WARNINGS})
add_compile_definitions(_GNU_SOURCE OMX_VERSION="${PROJECT_VERSION}")
if(OMX_SANITIZE)
  # When sanitizing, GCC 12 reports impossible overlaps in std::string (GCC bug 105651).
  add_compile_options($<$<CXX_COMPILER_ID:GNU>:-Wno-restrict> -fsanitize=${OMX_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${OMX_SANITIZE})
endif()

# Most of the build time is spent on parsing the standard library, so its headers and those of other libraries
# are precompiled. Our own headers are not: each file includes what it uses. clang-tidy's build, which
# precompiles nothing, checks that.
set(OMX_PRECOMPILED <algorithm> <array> <atomic> <chrono> <cstring> <deque> <functional> <map> <memory> <mutex>
  <optional> <span> <string> <string_view> <unordered_map> <vector> <fmt/format.h> <tl/expected.hpp>)

# Lets a target use the headers that `owner` precompiles, which must have the same compiler flags.
function(omx_precompiled_by target owner)
  if(target STREQUAL owner)
    target_precompile_headers(${target} PRIVATE ${OMX_PRECOMPILED})
  else()
    target_precompile_headers(${target} REUSE_FROM ${owner})
  endif()
endfunction()

function(omx_precompiled target)
  omx_precompiled_by(${target} omx_base)
endfunction()

# Lowers the optimisation of a target, and gives it headers of its own: GCC 14 takes none that were precompiled at
# another level.
function(omx_precompiled_small target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
  omx_precompiled_by(${target} omx_commands)
endfunction()

# Precompiles headers for programs, which need other compiler flags than libraries. Those of tests have less optimisation.
# With a sanitizer too few programs are built to make it worth while.
function(omx_precompiled_program)
  if(OMX_SANITIZE)
    return()
  endif()
  string(FIND "${CMAKE_CURRENT_SOURCE_DIR}/" "${PROJECT_SOURCE_DIR}/tests/" tests_at)
  set(owner omx)
  if(tests_at EQUAL 0)
    set(owner omx_sim)
  endif()
  foreach(target ${ARGN})
    omx_precompiled_by(${target} ${owner})
  endforeach()
endfunction()

# omx_together(TARGET COUNT): compiles COUNT files as one, which halves the time where they use the same
# templates. The files must not use the same names in their anonymous namespaces. Files that replace `new`
# stay apart.
function(omx_together target count)
  if(NOT CMAKE_DISABLE_PRECOMPILE_HEADERS)
    set_source_files_properties("${OMX_ALLOCATION_COUNT}" "${OMX_ALLOCATION_FAILURE}" PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${count})
  endif()
endfunction()

# omx_options(FILE...): lowers optimisation for files that include CLI11. At -O3 each of them takes 5 to 8 s
# of processor time.
function(omx_options)
  set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS $<$<CONFIG:Release>:-O1> SKIP_PRECOMPILE_HEADERS ON)
endfunction()

# omx_layer(NAME [OUTSIDE] SOURCES ... DEPENDS ...): declares the static library omx_NAME of src/NAME. An
# OUTSIDE layer is not part of the shared libraries.
function(omx_layer name)
  cmake_parse_arguments(L "OUTSIDE" "" "SOURCES;DEPENDS" ${ARGN})
  if(L_SOURCES)
    add_library(omx_${name} STATIC ${L_SOURCES})
    if(NOT L_OUTSIDE)
      target_compile_options(omx_${name} PRIVATE ${OMX_LTO_COMPILE})
    endif()
    omx_precompiled(omx_${name})
    set(scope PUBLIC)
  else()
    add_library(omx_${name} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(omx_${name} ${scope} "${PROJECT_SOURCE_DIR}/src")
  target_link_libraries(omx_${name} ${scope} ${L_DEPENDS})
endfunction()

# Seconds that a test may take. An emulator takes ten times as long.
set(OMX_TEST_TIMEOUT 300)
if(CMAKE_CROSSCOMPILING)
  set(OMX_TEST_TIMEOUT 1800)
endif()

# omx_test(NAME SOURCES ... DEPENDS ...): declares a GoogleTest program that ctest runs.
function(omx_test name)
  cmake_parse_arguments(T "" "" "SOURCES;DEPENDS" ${ARGN})
  add_executable(${name} ${T_SOURCES})
  target_precompile_headers(${name} REUSE_FROM omx_tests_precompiled)
  list(LENGTH T_SOURCES count)
  if(count GREATER 4)
    omx_together(${name} 6)
  endif()
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}")  # for tests/support
  target_link_libraries(${name} PRIVATE ${T_DEPENDS} GTest::gtest_main GTest::gmock)
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT ${OMX_TEST_TIMEOUT})
endfunction()

# omx_busy(TEST...): tests that keep a processor busy. ./check gives ctest three slots for each processor, because most
# tests sleep most of the time. These take all three.
function(omx_busy)
  set_tests_properties(${ARGN} PROPERTIES PROCESSORS 3)
endfunction()
