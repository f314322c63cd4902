#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Makes one archive of all layers and of the parts of the C++ library that they need, so that a C program
# links it like any other library: -lmyriexpress. Only the functions of the headers stay visible, so that a
# C++ program uses its own C++ library.
# Usage: static_archive.sh ARCHIVE CXX OBJCOPY NM AR LAYER.a...
set -eu
archive=$1
cxx=$2
objcopy=$3
nm=$4
ar=$5
shift 5
work=$(mktemp -d "$archive.XXXXXX")
trap 'rm -rf "$work"' EXIT
"$cxx" -r -nostdlib -fno-lto -fno-use-linker-plugin -Wl,--force-group-allocation -o "$work/linked.o" \
  -Wl,--whole-archive "$@" -Wl,--no-whole-archive "$("$cxx" -print-file-name=libstdc++.a)"
# The layers also contain code for link-time optimisation, which nm would list instead.
"$objcopy" --remove-section='.gnu.lto_*' --strip-debug "$work/linked.o" "$work/plain.o"
# Unique symbols cannot be made local. Renamed, they do not collide with others.
"$nm" "$work/plain.o" | awk '$2 == "u" { print $3, "_omx" $3 }' | sort -u >"$work/renamed"
"$objcopy" --wildcard --redefine-syms="$work/renamed" --keep-global-symbol='mx_*' --keep-global-symbol='omx_*' \
  --keep-global-symbol='[MO]*X_ERRORS_*' "$work/plain.o" "$work/myriexpress.o"
rm -f "$archive"
"$ar" rcsD "$archive" "$work/myriexpress.o"
