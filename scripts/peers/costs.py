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


def measured(tool, sim, work, tokenizer):
    """A full run less one of two events: what an event costs. TTFT as the tool reports it, less the truth."""
    cost, ttft = {}, {}
    for kind, events in (("empty", 2), ("full", EVENTS)):
        with Sim(sim, script(work / f"{kind}.jsonl", events, tool.first_streams), tokenizer) as engine:
            cost[kind], ttft[kind] = tool.load(engine, STREAMS, BATCHES, events)
    streamed = BATCHES * STREAMS * (EVENTS - 2)
    return {
        "cpu": 1000 * (cost["full"].cpu_s - cost["empty"].cpu_s) / streamed,
        "ttft": ttft["full"] - FIRST_MS,
        "rss": cost["full"].rss_mb,
        "start": statistics.median(tool.version().wall_s for _ in range(3)),
    }


def compare(peers, ours, sim, work, tokenizer):
    """Prints each peer's figures beside ours; how many ratios are below what is wanted."""
    mine = measured(ours, sim, work, tokenizer)
    below = 0
    for peer in peers:
        theirs = measured(peer, sim, work, tokenizer)
        print(f"{STREAMS} streams, {EVENTS} events each {'':<8} {peer.name:>13} {ours.name:>12} {'ratio':>8}  wanted")
        for key, what, unit in ROWS:
            wanted = WANTED.get(key) or CPU_WANTED.get(peer.name)
            ratio = abs(theirs[key]) / abs(mine[key]) if mine[key] else float("inf")
            below += wanted is not None and ratio < wanted
            print(f"{what:<34} {theirs[key]:>10.4g} {unit:<2} {mine[key]:>9.4g} {unit:<2} {ratio:>8.1f}"
                  + (f"  >= {wanted:g}" if wanted else ""))
        print()
    return below
