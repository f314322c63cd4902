# SPDX-License-Identifier: BSD-3-Clause
# Sourced by the scripts whose first comment is their help.
# shellcheck shell=bash

# omx_usage SCRIPT [ARGUMENT]: prints the first comment of SCRIPT and ends it: well if ARGUMENT asks for help, otherwise with status 2
# and a line about ARGUMENT.
omx_usage() {
  local help
  help=$(sed -n -e '1,2d' -e '/^#/!q' -e 's/^# \{0,1\}//p' "$1")
  case "${2:-}" in
    -h | --help)
      echo "$help"
      exit 0
      ;;
    ?*) echo "$(basename "$1"): $2 is not known; this is the help:" >&2 ;;
  esac
  echo "$help" >&2
  exit 2
}
