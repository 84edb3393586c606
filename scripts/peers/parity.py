"""llama-benchy's rows and benchy's, taken in turn: every column of both, and how far ours is from theirs."""

import statistics

from tools import mean_of, values_of

COLUMNS = [
    ("pp_throughput", "t/s"), ("pp_req_throughput", "t/s"), ("tg_throughput", "t/s"), ("tg_req_throughput", "t/s"),
    ("peak_throughput", "t/s"), ("peak_req_throughput", "t/s"), ("ttfr", "ms"), ("est_ppt", "ms"), ("e2e_ttft", "ms"),
]
SIZES = ["concurrency", "context_size", "prompt_size", "response_size", "is_context_prefill_phase"]


class Round:
    """Both tools once on one engine: their rows, and what the engine counted for each."""

    def __init__(self, engine, peer, ours, flags, seed):
        # The order turns with each round, so that neither always finds the machine as the other left it.
        self.rows, self.counted = {}, {}
        for tool in (peer, ours) if seed % 2 else (ours, peer):
            engine.counted()
            _, self.rows[tool.name] = tool.rows(engine, flags, seed)
            self.counted[tool.name] = engine.counted()


def prompt_tokens(row):
    """What the tool took for the prompt: rate times time, a whole number a request."""
    rates, times = values_of(row, "pp_req_throughput"), values_of(row, "est_ppt")
    return sorted({round(rate * ms / 1000) for rate, ms in zip(rates, times)})


def compare(title, engine, peer, ours, flags, rounds, bound_pct=None):
    """Prints the table; the largest difference in percent. With a bound, a column is judged by it; without one, by the
    scatter of the values themselves."""
    done = [Round(engine, peer, ours, flags, seed + 1) for seed in range(rounds)]
    print(f"{title}: medians of {rounds} rounds")
    print(f"{'row':<28} {'column':<20} {peer.name:>13} {ours.name:>13} {'apart':>9}  judged")
    worst = wrong = 0
    for key, first in done[0].rows[peer.name].items():
        if key not in done[0].rows[ours.name]:
            print(f"{key:<28} only in {peer.name}")
            wrong += 1
            continue
        pair = [[round_.rows[tool.name][key] for round_ in done] for tool in (peer, ours)]
        same = all(row[size] == first[size] for rows in pair for row in rows for size in SIZES)
        tokens = [sorted({n for row in rows for n in prompt_tokens(row)}) for rows in pair]
        print(f"{key:<28} {'prompt tokens':<20} {spread(tokens[0]):>13} {spread(tokens[1]):>13}"
              f"{'':>11} sizes {'equal' if same else 'DIFFER'}")
        wrong += not same
        # A request that fails leaves llama-benchy's row silently: its columns are then means of fewer.
        print(f"{key:<28} {'requests in the row':<20} "
              + " ".join(f"{sum(len(values_of(row, 'ttfr')) for row in rows):>13}" for rows in pair))
        for column, _ in COLUMNS:
            means = [[m for m in (mean_of(row, column) for row in rows) if m is not None] for rows in pair]
            if not means[0] and not means[1]:
                continue
            if not means[0] or not means[1]:
                print(f"{key:<28} {column:<20} {'-' if not means[0] else '':>13} {'-' if not means[1] else '':>13}")
                wrong += 1
                continue
            theirs, mine = (statistics.median(m) for m in means)
            apart = 100 * (mine / theirs - 1)
            worst = max(worst, abs(apart))
            ok, limit = judge(apart, theirs, pair, column, bound_pct)
            wrong += not ok
            print(f"{key:<28} {column:<20} {theirs:>13.2f} {mine:>13.2f} {apart:>+7.2f} %  "
                  f"{'within' if ok else 'BEYOND'} {limit}")
    for name in (peer.name, ours.name):
        print(f"the engine counted for {name}: generated {done[0].counted[name][0]}, prompt {done[0].counted[name][1]}")
    print(f"largest difference: {worst:.2f} %; {wrong} columns beyond\n")
    return wrong


def spread(tokens):
    return str(tokens[0]) if len(tokens) == 1 else f"{tokens[0]}..{tokens[-1]}" if tokens else "-"


def judge(apart_pct, theirs, pair, column, bound_pct):
    if bound_pct is not None:
        # A peak counts tokens within one second: one more or less is its resolution, whatever share of it that is.
        resolution = 100 / theirs if column.startswith("peak") else 0
        limit = max(bound_pct, resolution)
        return abs(apart_pct) <= limit + 1e-9, f"{limit:.2g} %"
    ranges = []
    for rows in pair:
        values = [value for row in rows for value in values_of(row, column)]
        ranges.append(max(values) - min(values))
    scatter = 100 * max(ranges) / theirs
    return abs(apart_pct) <= scatter, f"scatter {scatter:.1f} %"
