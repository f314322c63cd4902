# SPDX-License-Identifier: BSD-3-Clause
# For ./check --changed: what differs from a commit, and the tests that it can reach.
# shellcheck shell=bash

# omx_changed COMMIT: the files that differ from it, and those that git does not know yet.
omx_changed() {
  {
    git diff --name-only --diff-filter=d "$1"
    git ls-files --others --exclude-standard
  } | sort -u
}

# omx_changed_tests FILES: builds what they can reach in build/dev and runs its tests, first those that stand nearest.
omx_changed_tests() {
  local reach programs tests part
  cmake --preset dev >/dev/null || return 1
  # shellcheck disable=SC2086  # names, split on purpose
  mapfile -t reach < <(tests/reach.py build/dev $1)
  for part in 0 2; do
    programs=${reach[$part]} tests=${reach[$((part + 1))]}
    if [ -n "$programs" ]; then
      # shellcheck disable=SC2086
      tools/setup/build build/dev $programs || return 1
    fi
    [ -z "$tests" ] || omx_tests build/dev -j "$((jobs * slots))" -R "^($(echo $tests | tr ' ' '|'))\$" || return 1
  done
}

# omx_changed_tidy FILES: runs clang-tidy on the sources among them. More than 20, which take minutes, are left to
# ./check --long.
omx_changed_tidy() {
  local sources
  mapfile -t sources < <(grep -E '^(src|tools|bench)/.*\.cc$' <<<"$1")
  if [ ${#sources[@]} -eq 0 ]; then return; fi
  if [ ${#sources[@]} -gt 20 ]; then
    echo "${#sources[@]} sources changed: ./check --long looks at all"
    return
  fi
  omx_tidy "${sources[@]/#/$PWD/}"
}
