#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Sets up what the preset `arm64` needs on Debian: the cross compiler and qemu-user as packages of this machine (as root), and
# the libraries of arm64, unpacked into build/arm64-root or OMX_ARM64_ROOT. No package of another processor is installed,
# so apt and dpkg of this machine stay as they are.
#   tools/setup/arm64.sh          sets up what is missing; takes a minute and 250 MB
#   tools/setup/arm64.sh --check  says what is missing, and returns 77 then
set -euo pipefail
cd "$(dirname "$0")/../.."
. tools/setup/packages.sh
. tools/setup/usage.sh

root=${OMX_ARM64_ROOT:-$PWD/build/arm64-root}
programs=(g++-aarch64-linux-gnu qemu-user-static cmake ninja-build pkgconf python3)
libraries=(libc6-dev libstdc++6 libfmt-dev libexpected-dev libhwloc-dev libcli11-dev libgtest-dev libgmock-dev libbenchmark-dev
  libbpf-dev libxdp-dev libfabric-dev relacy-dev)
# Changes when the list above does, so that a folder of an older list is made again.
stamp=$root/.complete-$(echo "${libraries[*]}" | cksum | cut -d ' ' -f 1)

if [ "${1:-}" = --check ]; then
  for program in aarch64-linux-gnu-g++ qemu-aarch64-static; do
    command -v "$program" >/dev/null || { echo "$program is missing: tools/setup/arm64.sh"; exit 77; }
  done
  [ -e "$stamp" ] || { echo "$root has no libraries of arm64: tools/setup/arm64.sh"; exit 77; }
  exit 0
fi
if [ $# -gt 0 ]; then
  omx_usage tools/setup/arm64.sh "$1"
fi
if ! command -v apt-get >/dev/null; then
  echo "This is not Debian: install a cross compiler for arm64 and qemu-user, and put a root file system of arm64 with these packages into $root: ${libraries[*]}" >&2
  exit 77
fi

omx_packages_get "${programs[@]}" || exit 77
if [ -e "$stamp" ]; then
  echo "$root is complete"
  exit 0
fi

# apt gets its own state, in which no package is installed, so it resolves everything that the libraries need.
rm -rf "$root"
state=$root/apt
mkdir -p "$state"/{lists/partial,archives/partial,etc/apt.conf.d,etc/preferences.d}
: >"$state/status"
suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
cat >"$state/etc/sources.list" <<SOURCES
deb [arch=arm64 signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian $suite main
SOURCES
options=(-o APT::Architecture=arm64 -o APT::Architectures=arm64 -o APT::Install-Recommends=false -o APT::Sandbox::User=root
  -o Dir::State="$state" -o Dir::State::lists="$state/lists" -o Dir::State::status="$state/status"
  -o Dir::Cache="$state" -o Dir::Cache::archives="$state/archives" -o Dir::Etc="$state/etc" -o Debug::NoLocking=true)
log=$root/log
if ! omx_progress "$log" apt-get "${options[@]}" -q update ||
  ! omx_progress "$log" apt-get "${options[@]}" -qy --download-only install "${libraries[@]}"; then
  tail -n 5 "$log" >&2
  echo "apt-get could not fetch the packages of arm64, for the reason above" >&2
  exit 77
fi
for package in "$state"/archives/*.deb; do dpkg-deb -x "$package" "$root"; done

# Absolute links would lead into the files of this machine.
find "$root" -type l -lname '/*' | while read -r link; do
  ln -sfn "$(realpath -m --relative-to="$(dirname "$link")" "$root$(readlink "$link")")" "$link"
done
rm -rf "$state" "$log"
touch "$stamp"
echo "$root: $(du -sh "$root" | cut -f 1)"
