"""llama-benchy and benchy in turn on one deterministic engine: both tables, how far they are apart, what each costs.

Run by `./dev bench --peers`. Standard library only; llama-benchy lives in a virtual environment of its own.
"""

import argparse
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

MODEL = "deepseek-v4-flash"
BOOK_URL = "http://localhost/book.txt"  # never fetched: the text is put into llama-benchy's cache
# No noise and no drafts: two runs differ by nothing but their clients.
STILL = ["--knob", "STEP_SD=0", "--knob", "BOOT_SD=0", "--knob", "SPEC_TOKENS=0"]
STREAMS, FIRST_MS, EVERY_MS, EVENTS = 64, 200, 5, 512
BATCHES = 3  # two that are measured, and the one before them that both tools discard


class Engine:
    def __init__(self, program, flags):
        self.process = subprocess.Popen(
            [program, "--port", "0", *flags], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        self.url = self.process.stdout.readline().split()[-1]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()


class Cost:
    """One run of a program: its CPU seconds, wall seconds and peak memory, by the kernel's own account of that process."""

    def __init__(self, argv, env=None):
        with tempfile.TemporaryFile("w+") as errors:
            start = time.monotonic()
            process = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=errors, env=env)
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            errors.seek(0)
            said = errors.read().strip()
        self.wall_s = time.monotonic() - start
        self.cpu_s = used.ru_utime + used.ru_stime
        self.rss_mb = used.ru_maxrss * 1024 / 1e6
        if process.returncode != 0:
            sys.exit(f"peers: error: {argv[0]} ended with {process.returncode}: {said[-500:]}")


def prepare(work, sim):
    """A tokenizer and a book for llama-benchy, so that it needs no network."""
    tokenizer = work / "tokenizer"
    tokenizer.mkdir(parents=True, exist_ok=True)
    subprocess.run([sim, "--write-tokenizer", str(tokenizer / "tokenizer.json")], check=True)
    (tokenizer / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "PreTrainedTokenizerFast"}))
    cache = work / "home" / ".cache" / "llama-benchy"
    cache.mkdir(parents=True, exist_ok=True)
    words = "the river carried a lantern past the market where nobody had counted the candles since winter".split()
    text = " ".join(words[(i * i + i // 7) % len(words)] for i in range(60_000))
    (cache / (hashlib.md5(BOOK_URL.encode()).hexdigest() + ".txt")).write_text(text)
    return tokenizer


def environment(work):
    return {**os.environ, "HOME": str(work / "home"), "HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"}


def theirs(args, work, url, result, flags):
    tokenizer = work / "tokenizer"
    argv = [str(args.peer), "--base-url", url + "/v1", "--model", MODEL, "--tokenizer", str(tokenizer)]
    argv += ["--book-url", BOOK_URL, "--format", "json", "--save-result", str(result), *flags]
    return Cost(argv, environment(work))


def ours(args, work, url, result, flags):
    argv = [str(args.bin / "benchy"), "--base-url", url, "--db", str(work / "benchy.db"), "--json", "--out", str(result)]
    return Cost(argv + [flag.replace(" ", ",") for flag in flags])


def lists(flags):
    """llama-benchy takes "1 2" as two words, benchy "1,2" as one."""
    words = []
    for flag in flags:
        words += flag.split(" ") if not flag.startswith("--") else [flag]
    return words


def rows(path):
    out = {}
    for row in json.loads(path.read_text())["benchmarks"]:
        kind = "ctx" if row["is_context_prefill_phase"] else "inf"
        key = f"{kind} pp{row['prompt_size']} tg{row['response_size']} d{row['context_size']} c{row['concurrency']}"
        out[key] = row
    return out


COLUMNS = [
    ("pp_throughput", "t/s"), ("pp_req_throughput", "t/s"), ("tg_throughput", "t/s"), ("tg_req_throughput", "t/s"),
    ("peak_throughput", "t/s"), ("ttfr", "ms"), ("est_ppt", "ms"), ("e2e_ttft", "ms"),
]


def mean_of(row, column):
    return (row.get(column) or {}).get("mean")


def print_tables(peer, mine):
    """Every column of every row: theirs, ours, and how far ours is from theirs."""
    worst = 0.0
    print(f"{'row':<28} {'column':<18} {'llama-benchy':>13} {'benchy':>13} {'apart':>8}")
    for key in peer:
        for column, unit in COLUMNS:
            theirs_mean, our_mean = mean_of(peer[key], column), mean_of(mine.get(key, {}), column)
            if theirs_mean is None and our_mean is None:
                continue
            if not theirs_mean or our_mean is None:
                print(f"{key:<28} {column:<18} {theirs_mean!s:>13} {our_mean!s:>13}")
                continue
            apart = 100 * (our_mean / theirs_mean - 1)
            worst = max(worst, abs(apart))
            print(f"{key:<28} {column:<18} {theirs_mean:>13.2f} {our_mean:>13.2f} {apart:>+7.2f} %")
    for key in mine.keys() - peer.keys():
        print(f"{key:<28} only in benchy")
    print(f"largest difference: {worst:.2f} %\n")


def parity(args, work, sim):
    flags = ["--pp", "2048", "--tg", "32", "--depth", "0 2048", "--concurrency", "1 2", "--runs", "3", "--exact-tg",
             "--latency-mode", "none"]
    with Engine(sim, ["--profile", "sim-dsv4", *STILL]) as engine:
        ours(args, work, engine.url, work / "ours.json", flags)
        theirs(args, work, engine.url, work / "theirs.json", lists(flags))
    print_tables(rows(work / "theirs.json"), rows(work / "ours.json"))


def script(path, events):
    """Every streamed request: the first event 200 ms after it was read. The two warm-ups before are answered as JSON."""
    stream = {"first_ms": FIRST_MS, "every_ms": EVERY_MS, "events": events}
    lines = [
        json.dumps({"path": "/v1/chat/completions", "request": number, "stream": stream})
        for number in range(2, 2 + BATCHES * STREAMS)
    ]
    path.write_text("\n".join(lines) + "\n")
    return ["--script", str(path)]


def measured(run, args, work, sim, name, separate):
    """CPU seconds per 1,000 events, TTFT error at 64 streams, memory: a full run less one of two events."""
    flags = ["--pp", "64", "--tg", str(EVENTS), "--concurrency", str(STREAMS), "--runs", str(BATCHES - 1),
             "--latency-mode", "none", "--skip-coherence"]
    costs = {}
    for kind, events in (("empty", 2), ("full", EVENTS)):
        with Engine(sim, script(work / f"{kind}.jsonl", events)) as engine:
            result = work / f"{name}-{kind}.json"
            costs[kind] = run(args, work, engine.url, result, lists(flags) if separate else flags)
    streamed = BATCHES * STREAMS * (EVENTS - 2)
    row = next(iter(rows(work / f"{name}-full.json").values()))
    return {
        "cpu": 1000 * (costs["full"].cpu_s - costs["empty"].cpu_s) / streamed,
        "ttft": mean_of(row, "e2e_ttft") - FIRST_MS,
        "rss": costs["full"].rss_mb,
    }


def start_s(argv, env=None):
    return sorted(Cost(argv, env).wall_s for _ in range(5))[2]


def costs(args, work, sim):
    mine = measured(ours, args, work, sim, "ours", False)
    mine["start"] = start_s([str(args.bin / "benchy"), "--version"])
    peer = measured(theirs, args, work, sim, "theirs", True)
    peer["start"] = start_s([str(args.peer), "--version"], environment(work))
    names = [("cpu", "CPU per 1,000 events, 64 streams", "s", 3.5), ("ttft", "TTFT error, 64 streams", "ms", 20),
             ("start", "start (--version)", "s", 50), ("rss", "peak memory, 64 streams", "MB", 6)]
    print(f"{'what':<34} {'llama-benchy':>13} {'benchy':>10} {'ratio':>8}  wanted")
    for key, what, unit, wanted in names:
        ratio = abs(peer[key]) / abs(mine[key]) if mine[key] else float("inf")
        print(f"{what:<34} {peer[key]:>10.4g} {unit:<2} {mine[key]:>7.4g} {unit:<2} {ratio:>7.1f}  >= {wanted:g}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", type=pathlib.Path, required=True, help="this build's programs")
    parser.add_argument("--peer", type=pathlib.Path, required=True, help="llama-benchy's program")
    parser.add_argument("--work", type=pathlib.Path, required=True, help="folder for what comes and goes")
    args = parser.parse_args()
    work = args.work.resolve()
    sim = str(args.bin / "sim-engine")
    work.mkdir(parents=True, exist_ok=True)
    prepare(work, sim)
    parity(args, work, sim)
    costs(args, work, sim)


if __name__ == "__main__":
    main()
