# SPDX-License-Identifier: BSD-3-Clause
# For ./check: work that runs behind the tests.
# shellcheck shell=bash

omx_behind_folder=$(mktemp -d)
declare -A omx_behind_groups=()
trap omx_behind_stop EXIT

# omx_behind NAME COMMAND...: runs a command or an exported function of the calling script after those that were given before, one at
# a time, with what the processors have left.
omx_behind() {
  local name=$1 before=${omx_behind_last:-}
  shift
  # A session of its own, because the kernel shares the processors among sessions before it looks at the priority.
  setsid bash -c '
    set -uo pipefail
    { echo 19 >/proc/self/autogroup; } 2>/dev/null || true
    renice -n 19 $$ >/dev/null
    cd "$2"
    [ -z "$4" ] || while [ ! -e "$1/$4.status" ] && [ -e "$1" ]; do sleep 0.2; done
    "${@:5}" >"$1/$3.log" 2>&1
    echo $? >"$1/$3.status.part"
    mv "$1/$3.status.part" "$1/$3.status"
  ' bash "$omx_behind_folder" "$PWD" "$name" "$before" "$@" </dev/null &
  omx_behind_groups[$name]=$!
  omx_behind_last=$name
}

# omx_behind_end NAME: waits for it, at the usual priority from now on, prints what it said, and returns its status.
omx_behind_end() {
  local name=$1 folder=$omx_behind_folder
  { echo 0 >"/proc/${omx_behind_groups[$name]}/autogroup"; } 2>/dev/null || true
  renice -n 0 -g "${omx_behind_groups[$name]}" >/dev/null 2>&1 || true
  while [ ! -e "$folder/$name.status" ] && kill -0 "${omx_behind_groups[$name]}" 2>/dev/null; do sleep 0.2; done
  cat "$folder/$name.log"
  return "$(cat "$folder/$name.status" 2>/dev/null || echo 1)"
}

omx_behind_stop() {
  local group
  for group in "${omx_behind_groups[@]}"; do kill -TERM -- "-$group" 2>/dev/null || true; done
  rm -rf "$omx_behind_folder"
}
