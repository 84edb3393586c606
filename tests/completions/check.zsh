#!/usr/bin/env zsh
# What zsh offers after words of a command line: the completion's own code, with the two builtins that offer caught.
# check.zsh BUILD_DIR
path=($1/bin $path)
build=$1
failed=0
typeset -a offered
compadd() { shift; offered+=("$@"); }
_files() { offered+=(files "$@"); }
eval "complete_it() { $(<$build/completions/_bracketkit); }"

# offers EXPECTED WORD...: the completion of the last word offers EXPECTED (a blank: nothing at all).
offers() {
  local expected=$1
  shift
  local -a words
  words=("$@")
  local CURRENT=$#
  offered=()
  complete_it
  if [[ -z $expected ]]; then
    (( $#offered == 0 )) && return
  elif (( ${offered[(Ie)$expected]} )); then
    return
  fi
  print -u2 "after \"$*\": \"$expected\" is not among: $offered"
  failed=1
}

offers verdict bracket v
offers --needle-context bracket gate --nee
offers csv bench-dec --format c
offers --format bench-dec --f
offers -C bench-dec -
offers poisson bench-conc --arrivals p
offers "" bench-dec --reps ""
offers files bench-dec --out x
offers files census x
offers -/ bracket gate --log-dir x
offers sim-dsv4 sim-engine --profile sim-
exit $failed
