# SPDX-License-Identifier: BSD-3-Clause
# Sourced by tests/clean_demo and tests/bare_build: makes a temporary folder that is removed, with all
# processes in it, however the script ends.
# shellcheck shell=bash

# omx_workplace NAME: creates the folder and sets `work` to it.
omx_workplace() {
  work=$(mktemp -d "${TMPDIR:-/tmp}/omx-$1-XXXXXX")
  chmod 755 "$work"
  omx_keeper "$work" $$ >/dev/null 2>&1 </dev/null &
  disown
  trap 'omx_workplace_end "$work"' EXIT
}

# Removes the folder after the script has gone. Survives signals, so that it works even if the script is
# killed with SIGKILL.
omx_keeper() {
  trap '' HUP INT TERM
  trap - EXIT
  while kill -0 "$2" 2>/dev/null && [ -d "$1" ]; do sleep 1; done
  omx_workplace_end "$1"
}

omx_workplace_end() {
  local group
  if group=$(cat "$1/group" 2>/dev/null); then
    # The processes of the group may have ended already.
    if kill -TERM -- "-$group" 2>/dev/null; then sleep 1; fi
    kill -KILL -- "-$group" 2>/dev/null || true
  fi
  # A process that is just ending may still write.
  for _ in 1 2 3 4 5; do
    rm -rf "$1" 2>/dev/null && break
    sleep 1
  done
}

# omx_workplace_run COMMAND...: runs the command in its own process group.
omx_workplace_run() {
  local status=0
  # The kernel shares the processors among sessions: this one is to get as much as its parent.
  # shellcheck disable=SC2016  # for the inner shell
  setsid sh -c 'echo $$ >"$1/group"; { echo "${2:-0}" >/proc/self/autogroup; } 2>/dev/null; shift 2; exec "$@"' sh \
    "$work" "$(sed -n 's/.* nice //p' /proc/self/autogroup 2>/dev/null)" "$@" </dev/null &
  wait $! || status=$?
  rm -f "$work/group"
  return $status
}

# omx_sources SOURCE FOLDER: copies the files that git knows, in their present state, changes that are not
# committed included.
omx_sources() {
  mkdir -p "$2"
  if [ -e "$1/.git" ] && git -c safe.directory='*' -C "$1" rev-parse --git-dir >/dev/null 2>&1; then
    # shellcheck disable=SC2016  # for the inner shell
    git -c safe.directory='*' -C "$1" ls-files -z | (cd "$1" && xargs -0 sh -c 'for file; do [ -e "$file" ] && printf "%s\0" "$file"; done' sh) |
      tar -C "$1" --null --no-recursion -T - -cf - | tar -C "$2" -xf -
  else
    tar -C "$1" --exclude=./build --exclude=./.git --exclude=__pycache__ -cf - . | tar -C "$2" -xf -
  fi
}
