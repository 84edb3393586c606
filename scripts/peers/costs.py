"""What each client costs on the same scripted server in the same run."""

import json
import statistics

from engines import Sim

STREAMS, FIRST_MS, EVERY_MS, EVENTS = 64, 200, 5, 512
BATCHES = 3  # two that are measured, and the one before them that is discarded
ROWS = [
    ("cpu", "CPU per 1,000 events", "s"), ("ttft", "TTFT error", "ms"), ("start", "start (--version)", "s"),
    ("rss", "peak memory", "MB"),
]
# At least so many times below each peer; of CPU, by peer.
CPU_WANTED = {"llama-benchy": 3.5, "vllm bench": 5, "guidellm": 12}
WANTED = {"ttft": 20, "start": 50, "rss": 6}


def script(path, events, skip):
    """Every streamed request: the first event 200 ms after it was read. The `skip` before are answered as JSON."""
    stream = {"first_ms": FIRST_MS, "every_ms": EVERY_MS, "events": events}
    lines = [{"request": number, "stream": stream} for number in range(skip, skip + BATCHES * STREAMS)]
    lines = lines if skip else [{"stream": stream}]
    path.write_text("".join(json.dumps({"path": "/v1/chat/completions", **line}) + "\n" for line in lines))
    return ["--script", str(path)]


def true_ttft(engine, skip):
    """Mean time from a request's arrival at the server to the server's write of its first event, in ms: the server
    writes 64 events that are due at once one after another."""
    requests = json.loads(engine.get("/sim/truth"))["requests"]
    streamed = [r for r in requests if r["id"].startswith("chatcmpl-script-") and r["completion_tokens"] == EVENTS]
    return statistics.mean((r["events"][0][0] - r["arrived_ns"]) / 1e6 for r in streamed[skip:])


def measured(tool, sim, work, tokenizer):
    """A full run less one of two events: what an event costs. TTFT as the tool reports it, less the truth."""
    cost, ttft = {}, {}
    for kind, events in (("empty", 2), ("full", EVENTS)):
        with Sim(sim, script(work / f"{kind}.jsonl", events, tool.first_streams), tokenizer) as engine:
            cost[kind], ttft[kind] = tool.load(engine, STREAMS, BATCHES, events)
            if kind == "full":
                truth = true_ttft(engine, STREAMS * tool.discarded_batches)
    streamed = BATCHES * STREAMS * (EVENTS - 2)
    return {
        "cpu": 1000 * (cost["full"].cpu_s - cost["empty"].cpu_s) / streamed,
        "ttft": ttft["full"] - truth,
        "rss": cost["full"].rss_mb,
        "start": statistics.median(tool.version().wall_s for _ in range(3)),
    }


def compare(peers, ours, sim, work, tokenizer, rounds):
    """Prints each peer's figures beside ours, medians of all rounds, and the median and the ends of the rounds' ratios;
    how many ratios are below what is wanted."""
    below = 0
    for peer in peers:
        turns = [[measured(tool, sim, work, tokenizer) for tool in (peer, ours)] for _ in range(rounds)]
        print(f"{STREAMS} streams, {EVENTS} events each {'':<8} {peer.name:>13} {ours.name:>12} {'ratio':>22}  wanted")
        for key, what, unit in ROWS:
            wanted = WANTED.get(key) or CPU_WANTED.get(peer.name)
            theirs, mine = ([abs(turn[which][key]) for turn in turns] for which in (0, 1))
            ratios = [a / b if b else float("inf") for a, b in zip(theirs, mine)]
            ratio = statistics.median(ratios)
            below += wanted is not None and ratio < wanted
            spread = f"{ratio:.1f} ({min(ratios):.1f} to {max(ratios):.1f})"
            print(f"{what:<34} {statistics.median(theirs):>10.4g} {unit:<2} {statistics.median(mine):>9.4g} {unit:<2} "
                  f"{spread:>22}" + (f"  >= {wanted:g}" if wanted else ""))
        print(flush=True)
    return below
