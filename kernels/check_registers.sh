#!/usr/bin/env bash
# Compiles every kernel for its three architectures and reads what ptxas says: no kernel may spill or have a stack frame, and
# none may use more registers than registers.txt records. With --record it writes that file instead.
# usage: check_registers.sh path/to/nvcc [--record]
set -euo pipefail
nvcc=$1
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

for source in "$here"/*/*.cu; do
  "$nvcc" -std=c++20 -O3 -I"$here" -Xptxas=-v -gencode=arch=compute_90a,code=sm_90a -gencode=arch=compute_120a,code=sm_120a \
    -gencode=arch=compute_121a,code=sm_121a -c "$source" -o "$work/object.o" 2>&1
done >"$work/log"

# One line a kernel: architecture, name, registers, bytes of stack, bytes spilled.
awk '/Compiling entry function/ { split($0, q, "\047"); name = q[2]; arch = q[4] }
     /bytes stack frame/ { stack = $1; spill = $5 + $9 }
     /Used [0-9]+ registers/ { match($0, /Used [0-9]+/); print arch, name, substr($0, RSTART + 5, RLENGTH - 5), stack, spill }' \
  "$work/log" | sort | sed -E 's/_GLOBAL__N__[0-9a-f]+_[0-9]+_[a-z0-9_]+_cu_[0-9a-f]+(_[0-9]+)?/GLOBAL/' >"$work/found"
[[ -s $work/found ]] || { echo "check_registers: error: ptxas said nothing of any kernel" >&2; cat "$work/log" >&2; exit 3; }

if [[ ${2:-} == --record ]]; then
  cp "$work/found" "$here/registers.txt"
  exit 0
fi
awk 'NR == FNR { limit[$1 " " $2] = $3; next }
     { key = $1 " " $2; kernels++ }
     $4 > 0 || $5 > 0 { print "spills:", $0; bad = 1 }
     !(key in limit) { print "not recorded:", $0; bad = 1; next }
     $3 > limit[key] { print "more registers than the recorded " limit[key] ":", $0; bad = 1 }
     END { print kernels " kernels read"; exit bad }' "$here/registers.txt" "$work/found"
