# SPDX-License-Identifier: BSD-3-Clause
# Sourced by ./demo and packages.sh: shows the progress of long commands whose output goes to a file.
# shellcheck shell=bash

# Prints the last line of a build or of apt-get, shortened: ninja's "[12/360]" becomes "12/360 files".
omx_progress_last() {
  local line
  line=$(tail -c 400 "$1" 2>/dev/null | tr '\r' '\n' | grep -v '^[[:space:]]*$' | tail -n 1) || true
  if [[ $line =~ ^\[([0-9]+/[0-9]+)\] ]]; then line="${BASH_REMATCH[1]} files"; fi
  printf '%.60s' "$line"
}

# omx_progress LOG COMMAND...: runs the command with its output in LOG. A terminal shows one line that
# changes. Elsewhere a line appears every 20 seconds.
omx_progress() {
  local log=$1 shell=$$ ticker status=0
  shift
  : >"$log"
  # The command stays in the foreground, so that Ctrl-C ends it. The ticker ends by itself when this script
  # has gone.
  (
    trap - EXIT
    seconds=0
    while sleep 1 && kill -0 "$shell" 2>/dev/null; do
      seconds=$((seconds + 1))
      if [ -t 1 ]; then
        printf '\r\033[K  %d s: %s' $seconds "$(omx_progress_last "$log")"
      elif [ $((seconds % 20)) = 0 ]; then
        printf '  %d s: %s\n' $seconds "$(omx_progress_last "$log")"
      fi
    done
  ) &
  ticker=$!
  "$@" >>"$log" 2>&1 || status=$?
  kill "$ticker" 2>/dev/null || true
  wait "$ticker" 2>/dev/null || true
  if [ -t 1 ]; then printf '\r\033[K'; fi
  return $status
}
