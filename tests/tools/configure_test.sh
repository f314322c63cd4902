#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Configures without building: what is missing is named with its use, only for the parts that are built, and libraries go where the
# distribution has them.
# Usage: configure_test.sh SOURCE_DIR CMAKE [OPTION...]
set -eu
source=$1
cmake=$2
shift 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The options of all runs, one a line.
for option; do printf '%s\n' "$option"; done >"$work/options"

# configure EXPECTED OPTION...: 0 or 1 is the expected status. Leaves what was said in one line.
configure() {
  expected=$1
  shift
  status=0
  rm -rf "$work/build"
  while read -r option; do set -- "$@" "$option"; done <"$work/options"
  "$cmake" -S "$source" -B "$work/build" "$@" >"$work/log" 2>&1 || status=1
  tr '\n' ' ' <"$work/log" | tr -s ' ' >"$work/said"
  [ $status = "$expected" ] || { cat "$work/log"; echo "configure $*: status $status, not $expected"; exit 1; }
}
says() {
  grep -Fq -- "$1" "$work/said" || { cat "$work/log"; echo "does not say: $1"; exit 1; }
}
without() {
  for package; do printf -- '-DCMAKE_DISABLE_FIND_PACKAGE_%s=ON ' "$package"; done
}

# shellcheck disable=SC2046  # options, split on purpose
{
  configure 1 $(without fmt tl-expected CLI11 GTest benchmark)
  says "apt-get install libfmt-dev libexpected-dev libcli11-dev libgtest-dev libgmock-dev libbenchmark-dev"
  says "libfmt-dev: for the library (version 8 to 12)"
  says "libexpected-dev: for the library"
  says "libcli11-dev: for programs; -DOMX_TOOLS=OFF -DOMX_TESTS=OFF -DOMX_BENCH=OFF builds the library and the libfabric provider only"
  says "libgtest-dev, libgmock-dev: for tests; -DOMX_TESTS=OFF needs none"
  says "libbenchmark-dev: for benchmarks; -DOMX_BENCH=OFF needs none"
  configure 1 $(without CLI11 GTest benchmark) -DOMX_TESTS=OFF -DOMX_BENCH=OFF
  says "Packages are missing: apt-get install libcli11-dev libcli11-dev: for programs; -DOMX_TOOLS=OFF builds"
  configure 0 $(without CLI11 GTest benchmark) -DOMX_TOOLS=OFF -DOMX_TESTS=OFF -DOMX_BENCH=OFF
}
configure 1 -DOMX_TOOLS=OFF -DOMX_BENCH=OFF
says "The tests need the programs: give -DOMX_TESTS=OFF with -DOMX_TOOLS=OFF"
# What is optional.
configure 0 -DOMX_TESTS=OFF -DOMX_BENCH=OFF -DHWLOC_INCLUDE=HWLOC_INCLUDE-NOTFOUND -DLIBFABRIC_INCLUDE=LIBFABRIC_INCLUDE-NOTFOUND \
  -DCMAKE_FIND_ROOT_PATH=/nonexistent -DCMAKE_FIND_ROOT_PATH_MODE_INCLUDE=ONLY
says "Binding by shared caches is left out: apt-get install libhwloc-dev, and configure again"
says "The libfabric provider is left out: apt-get install libfabric-dev, and configure again"

# As rpmbuild configures: no library of ours may go into lib.
configure 0 -DOMX_TESTS=OFF -DOMX_BENCH=OFF -DCMAKE_INSTALL_PREFIX=/usr -DCMAKE_INSTALL_LIBDIR=lib64
if find "$work/build" -name cmake_install.cmake -exec grep -hE 'DESTINATION "\$\{CMAKE_INSTALL_PREFIX\}/lib["/]' {} + |
  grep -vE '/lib/(systemd|sysusers.d|tmpfiles.d)'; then
  echo "these go into lib, and not into lib64"
  exit 1
fi
find "$work/build" -name cmake_install.cmake -exec cat {} + | grep -q '/lib64/libfabric' || [ ! -e /usr/include/rdma/fabric.h ] ||
  { echo "the provider does not go into lib64"; exit 1; }
echo "what is missing is named, and libraries go into lib64"
