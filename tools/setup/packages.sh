# SPDX-License-Identifier: BSD-3-Clause
# Sourced by ./demo and ./check: the Debian packages that they need, and a function that gets them.
# shellcheck shell=bash
# shellcheck source=tools/setup/progress.sh
. "$(dirname "${BASH_SOURCE[0]}")/progress.sh"

# To build everything and run the lab.
OMX_BUILD_PACKAGES=(g++ cmake ninja-build libfmt-dev libexpected-dev libcli11-dev libgtest-dev libgmock-dev libbenchmark-dev
  iproute2 procps python3)
# To run all tests: faults on the lab's cables are eBPF programs, and so on.
OMX_CHECK_PACKAGES=(clang clang-format clang-tidy libclang-rt-dev libbpf-dev bpftool pkgconf binutils util-linux)

# What bench/local compares with, if it is there; nothing else needs it.
# shellcheck disable=SC2034
OMX_BENCH_PACKAGES=(openmpi-bin libopenmpi-dev)

# omx_packages_ensure [build]: installs what is missing of the build packages, or of all. An ordinary user is told the
# command that an administrator has to run, and the calling script ends.
omx_packages_ensure() {
  local wanted=("${OMX_BUILD_PACKAGES[@]}") missing=() package
  if [ "${1:-all}" != build ]; then wanted+=("${OMX_CHECK_PACKAGES[@]}"); fi
  if ! command -v dpkg-query >/dev/null; then
    echo "This is not Debian; if something is missing, install what these packages hold: ${wanted[*]}" >&2
    return
  fi
  for package in "${wanted[@]}"; do
    if ! dpkg-query -W -f '${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed; then
      missing+=("$package")
    fi
  done
  if [ ${#missing[@]} -eq 0 ]; then return; fi
  local install=(apt-get install -y --no-install-recommends "${missing[@]}")
  if [ "$(id -u)" -ne 0 ]; then
    echo "Some packages are missing. As root: apt-get update && ${install[*]}" >&2
    exit 1
  fi
  echo "Installing ${#missing[@]} packages, which takes a minute or some: ${missing[*]}"
  local log
  log=$(mktemp)
  if ! omx_progress "$log" apt-get update -q ||
    ! omx_progress "$log" env DEBIAN_FRONTEND=noninteractive "${install[@]}" -q; then
    tail -n 10 "$log" >&2
    rm -f "$log"
    echo "apt-get could not install them, for the reason above; by hand: apt-get update && ${install[*]}" >&2
    exit 1
  fi
  rm -f "$log"
}
