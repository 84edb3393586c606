#!/usr/bin/env bash
# Reads what ptxas said when the kernels were compiled for their three architectures: no kernel may spill or have a stack
# frame, and none may use more registers than registers.txt records. With --record it writes that file instead.
# usage: check_registers.sh FOLDER_OF_OBJECTS [--record]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# One line a kernel: architecture, name, registers, bytes of stack, bytes spilled. An object whose source is gone does not count.
find "$1" -name '*.cu.o.ptxas' | sort | while read -r log; do
  source=${log#"$1"/}
  if [[ -e $here/${source%.o.ptxas} ]]; then cat "$log"; fi
done | awk '/Compiling entry function/ { split($0, q, "\047"); name = q[2]; arch = q[4] }
     /bytes stack frame/ { stack = $1; spill = $5 + $9 }
     /Used [0-9]+ registers/ { match($0, /Used [0-9]+/); print arch, name, substr($0, RSTART + 5, RLENGTH - 5), stack, spill }' |
  sort | sed -E 's/_GLOBAL__N__[0-9a-f]+_[0-9]+_[a-z0-9_]+_cu_[0-9a-f]+(_[0-9]+)?/GLOBAL/' >"$work/found"
[[ -s $work/found ]] || { echo "check_registers: error: ptxas said nothing of any kernel under $1: build bk_kernels first" >&2; exit 3; }

if [[ ${2:-} == --record ]]; then
  cp "$work/found" "$here/registers.txt"
  exit 0
fi
awk 'NR == FNR { limit[$1 " " $2] = $3; next }
     { key = $1 " " $2; kernels++; archs[$1] = 1 }
     $4 > 0 || $5 > 0 { print "spills:", $0; bad = 1 }
     !(key in limit) { print "not recorded:", $0; bad = 1; next }
     $3 > limit[key] { print "more registers than the recorded " limit[key] ":", $0; bad = 1 }
     END { print kernels " kernels read, " length(archs) " architectures"; exit bad || length(archs) != 3 }' \
  "$here/registers.txt" "$work/found"
