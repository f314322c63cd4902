# SPDX-License-Identifier: BSD-3-Clause
# For tests/clean_demo and tests/bare_build: a temporary folder that goes, with all that runs in it, however the script ends.
# shellcheck shell=bash

# omx_workplace NAME: makes the folder `work`.
omx_workplace() {
  work=$(mktemp -d "${TMPDIR:-/tmp}/omx-$1-XXXXXX")
  chmod 755 "$work"
  omx_keeper "$work" $$ >/dev/null 2>&1 </dev/null &
  disown
  trap 'omx_workplace_end "$work"' EXIT
}

# Outlives a script that is killed by a signal that cannot be caught.
omx_keeper() {
  trap '' HUP INT TERM
  trap - EXIT
  while kill -0 "$2" 2>/dev/null && [ -d "$1" ]; do sleep 1; done
  omx_workplace_end "$1"
}

omx_workplace_end() {
  local group
  if group=$(cat "$1/group" 2>/dev/null); then
    # The processes of the group may be gone by now.
    if kill -TERM -- "-$group" 2>/dev/null; then sleep 1; fi
    kill -KILL -- "-$group" 2>/dev/null || true
  fi
  # A process that ends meanwhile may still write.
  for _ in 1 2 3 4 5; do
    rm -rf "$1" 2>/dev/null && break
    sleep 1
  done
}

# omx_workplace_run COMMAND...: in a process group of its own.
omx_workplace_run() {
  local status=0
  # shellcheck disable=SC2016  # for the inner shell
  setsid sh -c 'echo $$ >"$1/group"; shift; exec "$@"' sh "$work" "$@" </dev/null &
  wait $! || status=$?
  rm -f "$work/group"
  return $status
}

# omx_sources SOURCE FOLDER: the files of a fresh clone, as they are now: what is not committed yet is in it, what git does not
# know is not.
omx_sources() {
  mkdir -p "$2"
  if [ -e "$1/.git" ] && git -c safe.directory='*' -C "$1" rev-parse --git-dir >/dev/null 2>&1; then
    # shellcheck disable=SC2016  # for the inner shell
    git -c safe.directory='*' -C "$1" ls-files -z | (cd "$1" && xargs -0 sh -c 'for file; do [ -e "$file" ] && printf "%s\0" "$file"; done' sh) |
      tar -C "$1" --null --no-recursion -T - -cf - | tar -C "$2" -xf -
  else
    tar -C "$1" --exclude=./build --exclude=__pycache__ -cf - . | tar -C "$2" -xf -
  fi
}
