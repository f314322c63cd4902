#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Programs that were linked with other MX libraries run with ours. Those libraries version all symbols or
# none, and have either file name (docs/spec/mx-api.md 8.2, 8.3). The other libraries are stand-ins without
# contents. Usage: foreign_test.sh LIBRARY SOURCE_DIR
set -eu
library=$1
source=$2
here=$(dirname "$0")
cc=${CC:-cc}
command -v "${cc%% *}" >/dev/null || { echo "skipped: no C compiler"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

for symbol in $(awk '$1 == "T" { sub("@@.*", "", $2); print $2 }' "$here/exports.txt" | grep '^mx_'); do
  echo "int $symbol(void) { return 0; }"
done >"$work/stub.c"
echo 'void (*const MX_ERRORS_ARE_FATAL)(void) = 0; void (*const MX_ERRORS_RETURN)(void) = 0;' >>"$work/stub.c"
# The seven functions that we version keep their node. The others get a node that our library does not give them.
cat >"$work/all.map" <<'MAP'
MX_0.0 { };
MX_0.9 { global: mx_open_endpoint; mx_decompose_endpoint_addr; } MX_0.0;
MX_0.91 { global: mx_get_info; mx_test; mx_wait; mx_iprobe; } MX_0.9;
MX_0.92 { global: mx_*; MX_ERRORS_*; } MX_0.91;
MAP
echo '{ global: mx_*; MX_ERRORS_*; };' >"$work/none.map"

run() {  # run VERSIONS SONAME
  dir=$work/$1-$2
  mkdir "$dir"
  $cc -shared -fPIC -Wl,--version-script="$work/$1.map" -Wl,-soname,"$2" "$work/stub.c" -o "$dir/libmyriexpress.so"
  $cc -std=c11 -I"$source/include" "$source/examples/hello.c" -L"$dir" -lmyriexpress -o "$dir/hello"
  readelf -d "$dir/hello" | grep -q "NEEDED.*\[$2\]"
  # The program's own failure shows that it was loaded and reached our code.
  output=$(OMX_INTERFACES=no-such-interface LD_BIND_NOW=1 LD_LIBRARY_PATH="$(dirname "$library")" "$dir/hello" 2>&1) &&
    status=0 || status=$?
  [ "$status" = 1 ] && echo "$output" | grep -q no-such-interface && return
  echo "$1 versions, $2: status $status: $output"
  exit 1
}

run all libmyriexpress.so
run none libmyriexpress.so
run all libopen-mx.so.0
run none libopen-mx.so.0
echo "programs of other libraries run"
