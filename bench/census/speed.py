#!/usr/bin/env python3
"""Speed of census beside other readers of the same file, which give the same sums: kernels and microseconds by name.

speed.py CENSUS TRACE.json.gz [MEGABYTES [ROUNDS]]

Repeats the trace's events up to about MEGABYTES (400) in TMPDIR, plain and gzip, reads it with each reader in turn,
ROUNDS times (5), and prints medians. Readers that are not installed are named and left out.
"""
import gzip, json, os, resource, statistics, subprocess, sys, tempfile, time

PEERS = {
    "python json": "import json; events = json.load(open(path, 'rb'))['traceEvents']",
    "orjson": "import orjson; events = orjson.loads(open(path, 'rb').read())['traceEvents']",
    "msgspec": """
import msgspec
class Event(msgspec.Struct):
    cat: str = ''
    name: str = ''
    dur: float = 0
class Trace(msgspec.Struct):
    traceEvents: list[Event]
events = ({'cat': e.cat, 'name': e.name, 'dur': e.dur}
          for e in msgspec.json.decode(open(path, 'rb').read(), type=Trace).traceEvents)""",
    "pysimdjson": "import simdjson; events = simdjson.Parser().load(path)['traceEvents']",
    "ijson (yajl)": """
import ijson.backends.yajl2_c as ijson
events = ijson.items(open(path, 'rb'), 'traceEvents.item', use_float=True)""",
    "duckdb": """
import duckdb
rows = duckdb.sql(f\"\"\"set threads=2; set enable_progress_bar=false; select e.name, count(*), sum(e.dur) from (select unnest(traceEvents) e from
read_json('{path}', columns={{'traceEvents': 'STRUCT(cat VARCHAR, "name" VARCHAR, dur DOUBLE)[]'}},
maximum_object_size=4000000000)) where e.cat like '%kernel%' group by 1\"\"\").fetchall()
done(sum(r[1] for r in rows), sum(r[2] for r in rows))""",
    "polars": """
import polars as pl
column = pl.List(pl.Struct({'cat': pl.String, 'name': pl.String, 'dur': pl.Float64}))
events = pl.read_json(path, schema={'traceEvents': column}).explode('traceEvents').unnest('traceEvents')
rows = events.filter(pl.col('cat').str.contains('kernel')).group_by('name').agg(pl.len().alias('n'), pl.sum('dur'))
done(rows['n'].sum(), rows['dur'].sum())""",
    "HTA": """
import logging; logging.disable(logging.CRITICAL)
from hta.common.trace_parser import parse_trace_dataframe
from hta.configs.parser_config import ParserConfig
_, events, symbols = parse_trace_dataframe(path, ParserConfig.get_default_cfg())
kernels = events[events.cat == symbols.get_sym_id_map()['kernel']]
rows = kernels.groupby('name')['dur'].agg(['count', 'sum'])
done(rows['count'].sum(), rows['sum'].sum())""",
}
JQ = """reduce (.traceEvents[] | select((.cat // "") | contains("kernel"))) as $e ({}; .[$e.name] |= [.[0] + 1, .[1] + $e.dur])
| [(map(.[0]) | add), (map(.[1]) | add)] | @tsv"""
NODE = """const sums = new Map();
for (const e of JSON.parse(require('fs').readFileSync(process.argv[1], 'latin1')).traceEvents) {
  if (!(e.cat || '').includes('kernel')) continue;
  const s = sums.get(e.name) || [0, 0];
  sums.set(e.name, [s[0] + 1, s[1] + e.dur]);
}
let n = 0, us = 0;
for (const [count, sum] of sums.values()) n += count, us += sum;
console.log(n, us);"""
PROLOGUE = "import sys\npath = sys.argv[1]\ndef done(n, us): print(n, round(us, 3)); sys.exit()\n"
SUMS = """
sums = {}
for event in events:
    if 'kernel' in (event.get('cat') or ''):
        count, us = sums.get(event['name'], (0, 0.0))
        sums[event['name']] = (count + 1, us + event['dur'])
done(sum(s[0] for s in sums.values()), sum(s[1] for s in sums.values()))
"""


def repeat_events(trace, out, megabytes):
    text = gzip.open(trace, "rt").read()
    start = text.index('"traceEvents": [') + len('"traceEvents": [')
    end = text.rindex("]")
    events = text[start:end].strip().rstrip(",")
    with open(out, "w") as file:
        file.write(text[:start])
        for i in range(max(1, megabytes * 1_000_000 // len(events))):
            file.write((",\n" if i else "") + events)
        file.write(text[end:])
    with open(out, "rb") as plain, gzip.open(out + ".gz", "wb", 6) as packed:
        while block := plain.read(1 << 20):
            packed.write(block)


def timed(argv, sink):
    """(wall, processor seconds, peak MiB, what it said); None when it failed."""
    start = time.monotonic()
    child = subprocess.Popen(argv, stdout=sink, stderr=subprocess.DEVNULL)
    said = child.stdout.read() if sink == subprocess.PIPE else b""
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        return None
    return time.monotonic() - start, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, said


def figures(name, said):
    if name.startswith("census"):
        found = json.loads(said)
        return f"{found['kernels']:>9} {found['kernels_us']:>15.3f}"
    words = said.split()
    return f"{int(words[0]):>9} {float(words[1]):>15.3f}" if len(words) == 2 else ""


def main():
    census, trace = sys.argv[1:3]
    megabytes, rounds = (int(a) for a in (sys.argv[3:] + ["400", "5"][len(sys.argv) - 3:]))
    with tempfile.TemporaryDirectory() as folder:
        plain = os.path.join(folder, "big.json")
        # In a process of its own: what a parent holds counts as its children's peak.
        child = os.fork()
        if child == 0:
            repeat_events(trace, plain, megabytes)
            os._exit(0)
        if os.waitpid(child, 0)[1] != 0:
            sys.exit("speed.py: cannot repeat the events of " + trace)
        size = os.path.getsize(plain)
        readers = {"census, plain": ([census, plain, "--json"], subprocess.PIPE),
                   "census, gzip": ([census, plain + ".gz", "--json"], subprocess.PIPE),
                   "jq": (["jq", "-r", JQ, plain], subprocess.PIPE),
                   "node": (["node", "-e", NODE, plain], subprocess.PIPE),
                   "igzip -dc": (["igzip", "-dc", plain + ".gz"], subprocess.DEVNULL),
                   "gzip -dc": (["gzip", "-dc", plain + ".gz"], subprocess.DEVNULL)}
        for name, code in PEERS.items():
            whole = PROLOGUE + code + ("" if "done(" in code else SUMS)
            readers[name] = ([sys.executable, "-c", whole, plain], subprocess.PIPE)
        runs = {name: [] for name in readers}
        for _ in range(rounds):
            for name, (argv, sink) in readers.items():
                try:
                    runs[name].append(timed(argv, sink))
                except FileNotFoundError:
                    runs[name].append(None)
        print(f"{size / 1e6:.0f} MB of plain JSON, {os.path.getsize(plain + '.gz') / 1e6:.0f} MB gzip; "
              f"medians of {rounds}\n")
        print(f"{'reader':14} {'wall s':>8} {'MB/s':>6} {'cpu s':>8} {'MB/s':>6} {'MiB':>7} {'kernels':>9} {'us':>15}")
        for name, found in runs.items():
            if None in found:
                print(f"{name:14} not installed, or it failed")
                continue
            wall, cpu, peak = (statistics.median(run[i] for run in found) for i in range(3))
            print(f"{name:14} {wall:8.2f} {size / wall / 1e6:6.0f} {cpu:8.2f} {size / cpu / 1e6:6.0f} {peak:7.0f} "
                  f"{figures(name, found[0][3])}".rstrip())
        ours, theirs = ([run[0] for run in runs[name] if run] for name in ("census, gzip", "igzip -dc"))
        if ours and theirs:
            print(f"\ncensus, gzip, takes {statistics.median(ours) / statistics.median(theirs):.2f} times as long as "
                  f"igzip -dc: {min(ours):.3f} to {max(ours):.3f} s beside {min(theirs):.3f} to {max(theirs):.3f} s")


if __name__ == "__main__":
    main()
