#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Installs into a temporary prefix, moves it, and builds the example against it in the three ways that
# examples/README.md names: pkg-config, pkg-config --static, find_package.
# Usage: install_test.sh BUILD_DIR
set -eu
build=$1
command -v pkg-config >/dev/null || { echo "skipped: no pkg-config"; exit 77; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$build" --prefix "$work/first" >"$work/log" || { cat "$work/log"; exit 1; }
prefix=$work/prefix
mv "$work/first" "$prefix"

pc_dir=$(dirname "$(find "$prefix" -name open-mx.pc)")
lib_dir=$(dirname "$pc_dir")
example=$prefix/share/open-mx/examples
cc="${CC:-cc} -std=c11 -Wall -Wextra -Werror"
export PKG_CONFIG_PATH="$pc_dir"

# Without the other host the example ends with its own error, which shows that it runs.
runs() {
  output=$(OMX_INTERFACES=no-such-interface LD_LIBRARY_PATH="$lib_dir" "$1" 2>&1) && status=0 || status=$?
  [ "$status" = 1 ] && echo "$output" | grep -q no-such-interface && return
  echo "$1: status $status: $output"
  exit 1
}

for name in open-mx myriexpress; do
  $cc "$example/hello.c" $(pkg-config --cflags --libs $name) -o "$work/hello-$name"
  runs "$work/hello-$name"
done

# A static build needs no library of ours at run time.
$cc "$example/hello.c" $(pkg-config --cflags open-mx) "$lib_dir/libmyriexpress.a" \
  $(pkg-config --static --libs open-mx | sed 's/-lmyriexpress//') -o "$work/hello-static"
runs "$work/hello-static"
if ldd "$work/hello-static" | grep -E 'myriexpress|open-mx|libfmt'; then exit 1; fi

# A program of Open-MX 1.x asks for another file name, and gets the same library.
readelf -d "$lib_dir/libopen-mx.so.0" | grep -q 'SONAME.*\[libmyriexpress.so\]'

# Manual pages, by all names of functions and commands.
for page in man1/omx.1 man1/omx_prepare_binding.1 man3/mx_isend.3 man3/mx_wait_any.3 man5/open-mx.conf.5 man7/open-mx.7; do
  [ -s "$prefix/share/man/$page" ] || { echo "$page is not installed"; exit 1; }
done

cmake -S "$example" -B "$work/consumer" -DCMAKE_PREFIX_PATH="$prefix" >"$work/log" || { cat "$work/log"; exit 1; }
cmake --build "$work/consumer" >"$work/log" || { cat "$work/log"; exit 1; }
runs "$work/consumer/hello"
echo "installed, found and linked in every way"
