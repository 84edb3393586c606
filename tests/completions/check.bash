#!/usr/bin/env bash
# What bash offers after words of a command line. check.bash BUILD_DIR
set -uo pipefail
PATH=$1/bin:$PATH
# shellcheck source=/dev/null
. "$1/completions/bracketkit"
failed=0

# offers EXPECTED WORD...: the completion of the last word holds EXPECTED (a blank: nothing at all).
offers() {
  local expected=$1
  shift
  COMP_WORDS=("$@")
  COMP_CWORD=$(($# - 1))
  _bracketkit
  if [ -z "$expected" ]; then
    [ ${#COMPREPLY[@]} = 0 ] && return
  elif printf '%s\n' "${COMPREPLY[@]}" | grep -qxF -- "$expected"; then
    return
  fi
  echo "after \"$*\": \"$expected\" is not among: ${COMPREPLY[*]}" >&2
  failed=1
}

offers verdict bracket v
offers --help bracket --h
offers --needle-context bracket gate --nee
offers csv bench-dec --format c
offers table bench-dec --format ""
offers --format bench-dec --f
offers -C bench-dec -
offers poisson bench-conc --arrivals p
offers "" bench-dec --reps ""
offers "$1/CMakeCache.txt" bench-dec --out "$1/CMakeC"
offers "$1/CMakeCache.txt" census "$1/CMakeC"
offers sim-dsv4 sim-engine --profile sim-
offers --quiet bench-dec --json --q
offers "" no-such-program --f
for program in "$1"/bin/*; do
  name=${program##*/}
  complete -p "$name" >/dev/null 2>&1 || continue
  offers --help "$name" --hel
done
[ "$failed" = 0 ] && echo "all offered"
exit "$failed"
