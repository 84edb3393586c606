#!/usr/bin/env bash
# Runs the nvcc command line given and keeps what ptxas says of each kernel beside the object, as OBJECT.ptxas.
set -uo pipefail
for ((i = 1; i < $#; i++)); do
  if [[ ${!i} == -o ]]; then next=$((i + 1)) object=${!next}; fi
done
"$@" 2>"$object.ptxas"
status=$?
grep -v -e '^ptxas info' -e 'bytes stack frame' -e '^$' "$object.ptxas" >&2
exit $status
