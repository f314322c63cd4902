# SPDX-License-Identifier: BSD-3-Clause
# Sourced by ./demo and ./check: lists the Debian packages that they need, and installs missing ones.
# shellcheck shell=bash
# shellcheck source=tools/setup/progress.sh
. "$(dirname "${BASH_SOURCE[0]}")/progress.sh"

# Needed to build everything and run the lab.
OMX_BUILD_PACKAGES=(g++ cmake ninja-build libfmt-dev libexpected-dev libhwloc-dev libcli11-dev libgtest-dev libgmock-dev libbenchmark-dev
  iproute2 procps python3 pkgconf)
# Needed to run all tests. The lab's cable faults are eBPF programs. With clang, libbpf-dev and bpftool the
# build has `omx steer`, with libxdp-dev also OMX_LINK=xdp. relacy-dev and the arm64 compiler test memory
# ordering. ccache keeps what was compiled for the next build.
OMX_CHECK_PACKAGES=(clang clang-format clang-tidy libclang-rt-dev libbpf-dev libxdp-dev bpftool binutils util-linux tshark mandoc dpkg-dev debhelper lintian
  relacy-dev g++-aarch64-linux-gnu ccache)
# The package of the broker makes a group by systemd-sysusers. Its package for systems without systemd would remove systemd elsewhere.
command -v systemd-sysusers >/dev/null || OMX_CHECK_PACKAGES+=(systemd-standalone-sysusers)

# Needed for the libfabric provider and its tests. They are optional: without libfabric-dev the rest is built,
# and tests that lack the other packages say so.
OMX_MPI_PACKAGES=(libfabric-dev libfabric-bin openmpi-bin libopenmpi-dev netpipe-openmpi python3-mpi4py python3-numpy gnuplot-nox)

# Needed to try the counters with Prometheus. Their services start where they are installed, unless the system has a policy
# against that, as images of containers do. Elsewhere the administrator decides, and the test is skipped.
OMX_MONITORING_PACKAGES=(prometheus prometheus-node-exporter python3-prometheus-client)

# omx_packages_get PACKAGE...: installs the missing packages. If that fails, says why and returns 1. An
# ordinary user sees the command that an administrator must run.
omx_packages_get() {
  local missing=() package
  for package in "$@"; do
    if ! dpkg-query -W -f '${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed; then
      missing+=("$package")
    fi
  done
  if [ ${#missing[@]} -eq 0 ]; then return; fi
  local install=(apt-get install -y --no-install-recommends "${missing[@]}")
  if [ "$(id -u)" -ne 0 ]; then
    echo "Some packages are missing. As root: apt-get update && ${install[*]}" >&2
    return 1
  fi
  echo "Installing ${#missing[@]} packages, which takes some minutes: ${missing[*]}"
  local log
  log=$(mktemp)
  if ! omx_progress "$log" apt-get update -q ||
    ! omx_progress "$log" env DEBIAN_FRONTEND=noninteractive "${install[@]}" -q; then
    tail -n 10 "$log" >&2
    rm -f "$log"
    echo "apt-get could not install them, for the reason above; by hand: apt-get update && ${install[*]}" >&2
    return 1
  fi
  rm -f "$log"
}

# omx_packages_ensure [build]: installs the build packages, or all packages. The calling script ends if they
# cannot be installed. It continues without the packages for MPI.
omx_packages_ensure() {
  local needed=("${OMX_BUILD_PACKAGES[@]}")
  if [ "${1:-all}" != build ]; then needed+=("${OMX_CHECK_PACKAGES[@]}"); fi
  if ! command -v dpkg-query >/dev/null; then
    echo "This is not Debian; if something is missing, install the contents of these packages: ${needed[*]} ${OMX_MPI_PACKAGES[*]}" >&2
    return
  fi
  omx_packages_get "${needed[@]}" || exit 1
  omx_packages_get "${OMX_MPI_PACKAGES[@]}" || echo "Continuing without them: parts that need MPI or libfabric are left out" >&2
  if [ "${1:-all}" != build ] && [ -x /usr/sbin/policy-rc.d ]; then
    omx_packages_get "${OMX_MONITORING_PACKAGES[@]}" || echo "Continuing without them: the test with Prometheus is skipped" >&2
  fi
}
