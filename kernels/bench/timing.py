"""Time of one call: many calls, each on data of its own, in one captured graph; the median of its replays."""

import statistics

import torch


def graph_time(calls, replays=60, warm=5):
    """Microseconds a call (median, 10th and 90th percentile over replays)."""
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for call in calls[:3]:
            call()
    stream.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        for call in calls:
            call()
    times = []
    with torch.cuda.stream(stream):
        for i in range(warm + replays):
            begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            begin.record()
            graph.replay()
            end.record()
            end.synchronize()
            if i >= warm:
                times.append(begin.elapsed_time(end) * 1e3 / len(calls))
    times.sort()
    return statistics.median(times), times[len(times) // 10], times[-1 - len(times) // 10]


class Table:
    """Collects rows and prints them as the table that kernels/README.md quotes."""

    def __init__(self):
        self.rows = []

    def add(self, kernel, ours, peers, floor_bytes, bandwidth, goal):
        floor = floor_bytes / bandwidth * 1e6
        best = min(peers.values(), default=(None,))[0]
        for name, (median, low, high) in peers.items():
            print(f"#   {kernel}: {name}: {median:.2f} us ({low:.2f} to {high:.2f})", flush=True)
        ratio = f"{best / ours[0]:.2f}" if best else "-"
        listed = "; ".join(f"{name} {value[0]:.2f}" for name, value in peers.items())
        verdict = "-" if goal is None else ("yes" if ours[0] <= goal else "no")
        row = (f"| {kernel} | {ours[0]:.2f} ({ours[1]:.2f} to {ours[2]:.2f}) | {listed or '-'} | {ratio} | {floor:.2f} | "
               f"{goal if goal is not None else '-'} | {verdict} |")
        print(row, flush=True)
        self.rows.append(row)

    def show(self):
        print("| kernel | ours, us: median (p10 to p90) | peers, us | best peer / ours | bytes alone, us | goal, us | met |")
        print("|---|---|---|---|---|---|---|")
        print("\n".join(self.rows), flush=True)
