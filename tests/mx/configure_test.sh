#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The checks that configure scripts of MX programs make, written as autoconf writes them, against an installed
# tree: header, library in lib and lib64, functions, types, constants, by C and C++ compilers, and a static
# library. Usage: configure_test.sh BUILD_DIR
set -eu
build=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/mx
cmake --install "$build" --prefix "$prefix" >"$work/log" || { cat "$work/log"; exit 1; }
cd "$work"

# A configure script does not fail for warnings. Under gnu89 a function without a declaration is only a warning.
CC="${CC:-cc} -std=gnu89"
CXX=${CXX:-c++}
CPPFLAGS=-I$prefix/include
checks=0
compiles() {  # compiles WHAT COMPILER OPTIONS...: conftest.c, or conftest.cc for C++, into conftest
  what=$1
  compiler=$2
  shift 2
  rm -f conftest
  checks=$((checks + 1))
  # shellcheck disable=SC2086
  $compiler $CPPFLAGS -o conftest "$@" >conftest.err 2>&1 && [ -x conftest ] && return
  echo "checking $what... no"
  cat conftest.err
  exit 1
}

# AC_CHECK_LIB and AC_CHECK_FUNCS declare the function themselves, against its prototype, before headers are known.
CPPFLAGS=
for function in mx__init_api mx_finalize mx_open_endpoint mx_isend mx_forget mx_register_unexp_handler \
  mx_register_unexp_callback mx_wakeup mx_disable_progression mx_test_any mx_set_request_timeout mx_open_board \
  mx__get_mapper_state mx__regcache_clean mx_decompose_endpoint_addr2 mx_iget; do
  cat >conftest.c <<EOT
/* Override any GCC internal prototype to avoid an error. */
char $function ();
int
main ()
{
return $function ();
  ;
  return 0;
}
EOT
  for lib in lib lib64; do
    compiles "for $function in -lmyriexpress ($lib)" "$CC" conftest.c "-L$prefix/$lib" -lmyriexpress
  done
  compiles "for $function in -lopen-mx" "$CC" conftest.c "-L$prefix/lib" -lopen-mx
done

# AC_CHECK_HEADERS, AC_CHECK_TYPES, AC_CHECK_DECLS.
CPPFLAGS=-I$prefix/include
for header in myriexpress.h mx_extensions.h mx_io.h mx_raw.h open-mx.h mx_internals/mx__fops.h \
  mx_internals/mx__driver_interface.h; do
  printf '#include <%s>\nint main(void) { return 0; }\n' $header | tee conftest.c >conftest.cc
  compiles "for $header" "$CC -Wall -Werror" conftest.c
  compiles "for $header in C++" "$CXX -Wall -Werror" conftest.cc
done
for type in mx_unexp_handler_t mx_endpoint_addr_t mx_status_t mx_param_t mx_request_t mx_net_type; do
  [ $type = mx_net_type ] && spelled="enum $type" || spelled=$type
  printf '#include "myriexpress.h"\nint main(void) { if (sizeof (%s)) return 0; return 0; }\n' "$spelled" >conftest.c
  compiles "for $type" "$CC" conftest.c
done
cat >conftest.c <<'EOT'
#include <myriexpress.h>
#include <mx_extensions.h>
#if MX_API < 0x301
#error "this needs MX 1.2 or later"
#endif
#if !MX_HAS_ICONNECT_V2 || !defined(MX_HAS_NET_TYPE)
#error "too old"
#endif
int main(void) { int keys[] = {MX_NUMA_NODE, MX_LINE_SPEED, MX_COPY_SEND_MAX, MX_MAX_SEGMENTS}; return keys[0] < 0; }
EOT
compiles "for the version of MX" "$CC" conftest.c

# NULL must come with our headers: if the program does not compile, the script takes the function for missing.
printf '#include <myriexpress.h>\n#include <mx_io.h>\nint main(void) { return (int) mx_open_board(0, NULL); }\n' >conftest.c
compiles "for NULL" "$CC" conftest.c "-L$prefix/lib" -lmyriexpress

# AC_TRY_LINK and AC_TRY_RUN of a program, as MPI libraries and file systems have it.
cat >conftest.c <<'EOT'
#include <stdio.h>
#include <stdlib.h>
#include <myriexpress.h>
#include <mx_extensions.h>
static mx_unexp_handler_action_t handler(void *c, mx_endpoint_addr_t a, uint64_t m, uint32_t l, void *d)
{ return MX_RECV_CONTINUE; }
int main(int argc, char **argv)
{
  mx_return_t (*test)(mx_endpoint_t, mx_request_t *, mx_status_t *, uint32_t *) = mx_test;
  mx_endpoint_t endpoint = NULL;
  mx_request_t request = NULL;
  mx_set_error_handler(MX_ERRORS_RETURN);
  if (argc > 1) {
    mx_register_unexp_handler(endpoint, handler, NULL);
    mx_forget(endpoint, &request);
    mx_progress(endpoint);
  }
  puts(mx_strerror(mx_init()));
  return test == NULL || mx_finalize() == MX_SUCCESS;
}
EOT
cp conftest.c conftest.cc
runs() {  # runs WHAT [VARIABLE=VALUE]: it reaches our code, which finds no such interface
  checks=$((checks + 1))
  output=$(env OMX_INTERFACES=no-such-interface ${2:-} ./conftest 2>&1) && status=0 || status=$?
  [ "$status" = 0 ] && echo "$output" | grep -q no-such-interface && return
  echo "checking whether a program runs, $1... status $status: $output"
  exit 1
}
for lib in lib lib64; do
  compiles "whether a program links ($lib)" "$CC" conftest.c "-L$prefix/$lib" -lmyriexpress -lpthread
  runs "$lib" "LD_LIBRARY_PATH=$prefix/$lib"
done
compiles "whether a C++ program links" "$CXX" conftest.cc "-L$prefix/lib" -lmyriexpress
runs "C++" "LD_LIBRARY_PATH=$prefix/lib"

# One MX program links the library statically, and does not know that ours contains C++.
if "${AR:-ar}" t "$prefix/lib/libmyriexpress.a" | grep -qx myriexpress.o; then
  compiles "for a static library" "$CC" conftest.c "-L$prefix/lib" -Wl,-Bstatic -lmyriexpress -Wl,-Bdynamic -lpthread
  runs "static"
  compiles "for a static library by its path" "$CC" conftest.c "$prefix/lib64/libmyriexpress.a" -lpthread
  runs "static, by path"
  if ldd conftest | grep -E 'stdc|myriexpress|open-mx'; then exit 1; fi
  # The static library works beside the C++ library of the program, shared or static.
  compiles "for a static library in C++" "$CXX" conftest.cc "$prefix/lib/libmyriexpress.a"
  runs "static, C++"
  compiles "for two static libraries" "$CXX" -static-libstdc++ conftest.cc "$prefix/lib/libmyriexpress.a"
  runs "static, C++ library too"
fi
echo "$checks checks of configure succeed"
