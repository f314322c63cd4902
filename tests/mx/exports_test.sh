#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The dynamic symbols of libmyriexpress.so are those of exports.txt, no more and no fewer, each with its
# version (docs/spec/mx-api.md 8.1), and it needs no library that a C program would not have. Usage:
# exports_test.sh LIBRARY
set -eu
library=$1
expected=$(dirname "$0")/exports.txt
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Linkers differ in two points: D or R for data that are read-only after relocation, and symbols of kind A for version nodes.
nm -D --defined-only "$library" | awk '$2 != "A" { sub("^R$", "D", $2); print $2, $3 }' | LC_ALL=C sort -k2 >"$work/found"
grep -v '^#' "$expected" | LC_ALL=C sort -k2 >"$work/expected"
diff "$work/expected" "$work/found" || { echo "< missing in, > not expected of $library"; exit 1; }
# Programs that were linked with other libraries name these four nodes, so all must be defined (docs/spec/mx-api.md 8.2).
for node in MX_0.0 MX_0.9 MX_0.91 MX_0.92; do
  readelf -V "$library" | grep -q "Name: $node\$" || { echo "$node is not defined"; exit 1; }
done
readelf -d "$library" | grep -q 'SONAME.*\[libmyriexpress.so\]' || { echo "wrong SONAME"; exit 1; }
if readelf -d "$library" | grep NEEDED | grep -vE '\[(libstdc\+\+|libgcc_s|libc|libm|libpthread|ld-linux[^]]*)\.so'
then
  echo "$library needs these"
  exit 1
fi
# Copy relocations move one pointer each (docs/spec/mx-api.md 4.1).
size=$(readelf -sW --dyn-syms "$library" | awk '$8 ~ /^MX_ERRORS_RETURN/ { print $3; exit }')
word=$(readelf -h "$library" | awk '/Class/ { print $2 == "ELF64" ? 8 : 4 }')
[ "$size" = "$word" ] || { echo "MX_ERRORS_RETURN has $size bytes"; exit 1; }
