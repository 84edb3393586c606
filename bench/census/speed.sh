#!/bin/sh
# Speed of census beside its peers on one file: speed.sh CENSUS TRACE.json.gz [MEGABYTES]
# Repeats the trace's events up to about MEGABYTES (default 400) under TMPDIR, plain and gzip; prints seconds of wall and
# processor time and MB/s of plain JSON for census on both, for inflating alone, and for Python's json with the same sums.
set -eu
census=$1 trace=$2 megabytes=${3:-400}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 - "$trace" "$dir/big.json" "$megabytes" <<'PY'
import gzip, sys
text = gzip.open(sys.argv[1], "rt").read()
start = text.index('"traceEvents": [') + len('"traceEvents": [')
end = text.rindex("]")
events = text[start:end].strip().rstrip(",")
with open(sys.argv[2], "w") as out:
    out.write(text[:start])
    for i in range(max(1, int(sys.argv[3]) * 1_000_000 // len(events))):
        out.write((",\n" if i else "") + events)
    out.write(text[end:])
PY
gzip -1 -c "$dir/big.json" >"$dir/big.json.gz"
cat >"$dir/peer.py" <<'PY'
import json, sys
sums = {}
for event in json.load(open(sys.argv[1]))["traceEvents"]:
    if "kernel" in event.get("cat", ""):
        count, us = sums.get(event["name"], (0, 0.0))
        sums[event["name"]] = (count + 1, us + event["dur"])
print(sum(count for count, _ in sums.values()))
PY
cat >"$dir/timed.py" <<'PY'
import os, resource, subprocess, sys, time
label, size, argv = sys.argv[1], os.path.getsize(sys.argv[2]), sys.argv[3:]
start = time.monotonic()
subprocess.run(argv, stdout=subprocess.DEVNULL, check=True)
wall, used = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
cpu = used.ru_utime + used.ru_stime
print(f"{label:28} wall {wall:7.2f} s {size/wall/1e6:7.0f} MB/s   cpu {cpu:7.2f} s {size/cpu/1e6:7.0f} MB/s   "
      f"peak {used.ru_maxrss/1024:7.0f} MiB")
PY
timed() { label=$1; shift; python3 "$dir/timed.py" "$label" "$dir/big.json" "$@"; }
timed "census, plain" "$census" "$dir/big.json" --json
timed "census, gzip" "$census" "$dir/big.json.gz" --json
if command -v igzip >/dev/null; then timed "igzip -dc" igzip -dc "$dir/big.json.gz"; fi
timed "gzip -dc" gzip -dc "$dir/big.json.gz"
timed "python3 json" python3 "$dir/peer.py" "$dir/big.json"
