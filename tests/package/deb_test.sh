#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Makes the Debian packages, checks their fields and files, and installs them with dpkg into a copy of this
# system. The copy is this system with a layer in memory above it, in separate namespaces. So dpkg checks
# dependencies against the true list of packages, and nothing is left when the namespaces end, however they
# do.
# Usage: deb_test.sh BUILD_DIR; exits 77 where that is impossible.
set -eu
here=$(dirname "$(realpath "$0")")

skip() {
  echo "skipped: $*"
  exit 77
}

# The broker's package: the daemon runs, its group is there, and systemd understands its units.
broker_check() {
  [ "$(command -v omxd)" = /usr/sbin/omxd ]
  omxd --help >/dev/null
  getent group open-mx >/dev/null || { echo "the package did not make the group open-mx"; exit 1; }
  grep -q '^ExecStart=/usr/sbin/omxd$' /usr/lib/systemd/system/omxd.service || { echo "omxd.service does not start omxd"; exit 1; }
  if command -v systemd-analyze >/dev/null; then
    # Says nothing of units without mistakes. Others of this system may have some.
    systemd-analyze verify --man=no omxd.socket omxd.service >units 2>&1 || true
    if grep -i omxd units; then echo "systemd finds fault with the units"; exit 1; fi
    systemd-tmpfiles --create open-mx-broker.conf
    [ "$(stat -c %a:%u /run/open-mx)" = 711:0 ] || { echo "/run/open-mx has other rights"; exit 1; }
  fi
  # A mount namespace of the unit would hide the broker's network namespaces from the next broker.
  if grep -E '^(Protect|Private|ReadWritePaths|ReadOnlyPaths|InaccessiblePaths|BindPaths|TemporaryFileSystem)' \
    /usr/lib/systemd/system/omxd.service; then
    echo "omxd.service has an option that may make a mount namespace"
    exit 1
  fi
  if grep -v '^#\|^$' /usr/share/open-mx/examples/broker.conf; then echo "the example sets something"; exit 1; fi
}

# Inside the copy, which has no network but lo.
if [ "$1" = --inside ]; then
  packages=$2
  unset LD_LIBRARY_PATH PKG_CONFIG_PATH FI_PROVIDER_PATH
  for variable in $(env | sed -n 's/^\(OMX_[A-Z_]*\|MX_[A-Z_]*\)=.*/\1/p'); do unset "$variable"; done
  export PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive
  ip link set lo up
  mkdir /tmp/omx-package-test
  cd /tmp/omx-package-test
  ls -A /usr/lib >before
  dpkg --force-unsafe-io -i "$packages"/*.deb >log 2>&1 || { cat log; exit 1; }
  ldconfig -p | grep -q 'libmyriexpress\.so ' || { echo "ldconfig does not find the library"; exit 1; }
  [ "$(command -v omx)" = /usr/bin/omx ]
  omx --version
  OMX_INTERFACES=lo omx info >info || { cat info; exit 1; }
  grep -q 'board #0 name lo ' info || { echo "omx info found no board:"; cat info; exit 1; }
  pages="omx open-mx open-mx.conf mx_wait_any"
  if [ -e "$packages/broker" ]; then pages="$pages omxd broker.conf"; fi
  for page in $pages; do
    [ -s "$(find /usr/share/man -name "$page.[13578]")" ] || { echo "$page has no manual page"; exit 1; }
  done
  # Sends a message between two processes. Only the compiler needs paths.
  # shellcheck disable=SC2046  # options, split on purpose
  cc /usr/share/open-mx/examples/hello.c $(pkg-config --cflags --libs open-mx) -o hello
  ldd ./hello | grep -q '/lib/.*libmyriexpress.so\|libmyriexpress.so => /'
  OMX_INTERFACES=lo ./hello >received 2>&1 &
  receiver=$!
  OMX_INTERFACES=lo timeout 60 ./hello localhost || { cat received; exit 1; }
  wait $receiver || { cat received; exit 1; }
  cat received
  if [ -e "$packages/broker" ]; then broker_check; fi
  # libfabric must find the provider by itself.
  if [ -e "$packages/fabric" ] && command -v fi_info >/dev/null; then
    fi_info -l >providers
    grep -q '^omx:' providers || { echo "libfabric does not find the provider:"; cat providers; exit 1; }
  fi
  # shellcheck disable=SC2046  # names, split on purpose
  dpkg --force-unsafe-io -P $(for file in "$packages"/*.deb; do dpkg-deb -f "$file" Package; done) >log 2>&1 ||
    { cat log; exit 1; }
  ls -A /usr/lib | diff before - || { echo "files are left in /usr/lib"; exit 1; }
  left=$(find /usr/bin /usr/sbin /usr/include /usr/lib /usr/share -name '*open-mx*' -o -name 'libmyriexpress*' -o -name 'libomx-fi*' \
    -o -name 'mx_isend*' -o -name 'omxd*' -o -name 'broker.conf*')
  [ -z "$left" ] || { echo "left behind: $left"; exit 1; }
  exit 0
fi

build=$(realpath "$1")
for tool in cpack dpkg dpkg-deb dpkg-shlibdeps file pkg-config ip; do
  command -v $tool >/dev/null || skip "$tool is missing"
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
(cd "$build" && cpack -G DEB -B "$work") >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }

fail() {
  echo "$*"
  exit 1
}
field() {  # field PACKAGE NAME
  dpkg-deb -f "$work/$1"_*.deb "$2"
}
expected="libopen-mx libopen-mx-dev open-mx-tools"
if [ -e "$build/lib/libfabric/libomx-fi.so" ]; then
  expected="$expected libopen-mx-fabric"
  touch "$work/fabric"
fi
if [ -e "$build/tools/broker/omxd" ]; then
  expected="$expected open-mx-broker"
  touch "$work/broker"
fi
version=$(field libopen-mx Version)
for package in $expected; do
  [ "$(field "$package" Package)" = "$package" ] || fail "there is no package $package"
  for name in Maintainer Section Priority Architecture Description; do
    [ -n "$(field "$package" $name)" ] || fail "$package has no $name"
  done
  dpkg-deb -c "$work/$package"_*.deb | awk '{ print $1, $2, $6 }' >"$work/$package.list"
  grep -q " ./usr/share/doc/$package/copyright\$" "$work/$package.list" || fail "$package has no copyright"
  if grep -vE '^[dl-][rwx-]{9} root/root \./usr/' "$work/$package.list" | grep -vx 'drwxr-xr-x root/root ./'; then
    fail "$package holds these outside of /usr, or of another owner"
  fi
done
[ "$(find "$work" -maxdepth 1 -name '*.deb' | wc -l)" -eq "$(echo "$expected" | wc -w)" ] || fail "there are other packages, too"
twice=$(grep -hv '^d' "$work"/*.list | awk '{ print $3 }' | sort | uniq -d)
[ -z "$twice" ] || fail "in two packages: $twice"
field libopen-mx Depends | grep -q 'libc6.*libstdc++6' || fail "libopen-mx needs: $(field libopen-mx Depends)"
! field libopen-mx Depends | grep -q libfabric || fail "the library needs libfabric"
for package in libopen-mx-dev open-mx-tools; do
  field $package Depends | grep -qF "libopen-mx (= $version)" || fail "$package needs: $(field $package Depends)"
done
if [ -e "$work/fabric" ]; then
  field libopen-mx-fabric Depends | grep -q libfabric1 || fail "the provider does not need libfabric"
fi
if [ -e "$work/broker" ]; then
  ! field open-mx-broker Depends | grep -q libopen-mx || fail "the broker needs the library"
  for script in postinst prerm postrm; do
    dpkg-deb --ctrl-tarfile "$work"/open-mx-broker_*.deb | tar -tv ./$script | grep -q '^-rwxr-xr-x' || fail "the broker has no $script"
  done
fi
dpkg-deb --ctrl-tarfile "$work/libopen-mx_$version"_*.deb | tar -xO ./triggers | grep -q ldconfig || fail "no ldconfig trigger"

[ "$(id -u)" -eq 0 ] || skip "the packages are right, but only root can install them"
mkdir "$work/root"
unshare --mount --net --pid --fork true 2>"$work/log" || skip "the packages are right, but: $(cat "$work/log")"
unshare --mount --net --pid --fork --kill-child --propagation private sh -c '
  mount -t tmpfs none "$1/root" && mkdir "$1/root/upper" "$1/root/work" "$1/root/all" &&
    mount -t overlay -o lowerdir=/,upperdir="$1/root/upper",workdir="$1/root/work" none "$1/root/all" &&
    mount -t proc none "$1/root/all/proc" && mount --rbind /dev "$1/root/all/dev" &&
    mount -t sysfs none "$1/root/all/sys" && mount -t tmpfs none "$1/root/all/dev/shm" || exit 77
  # Mounts of this system are not part of the layer below, so these are mounted again.
  mount --bind "$1" "$1/root/all/mnt" && mkdir -p "$1/root/all/$2" && mount --bind "$2" "$1/root/all/$2" || exit 77
  exec chroot "$1/root/all" "$2/deb_test.sh" --inside /mnt' sh "$work" "$here" && status=0 || status=$?
[ $status -ne 77 ] || skip "the packages are right, but this system cannot be copied (overlay, chroot)"
[ $status -eq 0 ] || exit $status
echo "$(echo "$expected" | wc -w) packages: made, installed, used and removed"
