"""prep_fused beside an eager chain that makes the same 46 tensors, host and GPU time together, as a decode step pays it."""

import statistics
import time

import torch

import ctypes as c
from library import Prep, PrepGroup

GROUPS = [(64, 1, 6720), (64, 4, 1680), (64, 128, 53), (256, 1, 1680), (64, 1, 6720), (64, 4, 1680), (64, 1, 6720)]
QUERY = 8


class Side:
    """The tensors of one side, and the step's inputs on the host."""

    def __init__(self, requests, computed):
        n, device = requests * QUERY, "cuda"
        ints = dict(dtype=torch.int32, device=device)
        self.requests, self.computed = requests, computed
        self.positions = torch.zeros(n, dtype=torch.int64, device=device)
        self.seq_lens, self.query_start = torch.zeros(requests, **ints), torch.zeros(requests + 1, **ints)
        self.logits_index = torch.zeros(n, **ints)
        self.groups = [dict(block_table=torch.zeros(requests, w, **ints), slots=torch.zeros(n, dtype=torch.int64, device=device),
                            seq_lens=torch.zeros(requests, **ints), token_seq_lens=torch.zeros(n, **ints),
                            token_rows=torch.zeros(n, **ints), block_counts=torch.zeros(requests, **ints))
                       for _, _, w in GROUPS]

    def tensors(self):
        return [self.positions, self.seq_lens, self.query_start, self.logits_index] + [
            t for group in self.groups for t in group.values()]


class Fused(Side):
    def __init__(self, lib, requests, computed, tables):
        super().__init__(requests, computed)
        words = 1 + requests + len(GROUPS) * (requests + 1) + requests * sum(w for _, _, w in GROUPS)
        self.lib, self.turn = lib, 0
        self.staging = [torch.zeros(words, dtype=torch.int32).pin_memory() for _ in range(4)]
        self.copied = [torch.cuda.Event() for _ in self.staging]
        self.views = [buffer.numpy() for buffer in self.staging]
        self.packed = torch.zeros(words, dtype=torch.int32, device="cuda")
        self.tables = tables
        self.job = Prep(group=(PrepGroup * 7)(*[
            PrepGroup(*[t.data_ptr() for t in group.values()], *shape) for group, shape in zip(self.groups, GROUPS)]),
            groups=7, requests=requests, query=QUERY, packed=self.packed.data_ptr(), positions=self.positions.data_ptr(),
            seq_lens=self.seq_lens.data_ptr(), query_start=self.query_start.data_ptr(), logits_index=self.logits_index.data_ptr())

    def step(self):
        turn = self.turn = (self.turn + 1) % 4
        self.copied[turn].synchronize()
        words, r = self.views[turn], self.requests
        words[0] = r
        words[1:1 + r] = self.computed
        begin, place = 1 + r, 1 + r + 7 * (r + 1)
        for (size, ratio, _), table in zip(GROUPS, self.tables):
            for row in range(r):
                words[begin + row] = place
                blocks = -(-((int(self.computed[row]) + QUERY) // ratio) // size)
                words[place:place + blocks] = table[row, :blocks]
                place += blocks
            words[begin + r] = place
            begin += r + 1
        self.job.staging, self.job.bytes = self.staging[turn].data_ptr(), place * 4
        self.lib.call("bk_prep_fused", self.job)
        self.copied[turn].record()


class Eager(Side):
    """Each tensor by torch calls: the tables copied one by one, the rest computed on the GPU."""

    def __init__(self, requests, computed, tables):
        super().__init__(requests, computed)
        self.host_computed = torch.zeros(requests, dtype=torch.int32).pin_memory()
        self.device_computed = torch.zeros(requests, dtype=torch.int32, device="cuda")
        self.host_tables = [torch.from_numpy(t).pin_memory() for t in tables]
        self.offsets = torch.arange(QUERY, dtype=torch.int32, device="cuda")
        self.tables = tables

    def step(self):
        r = self.requests
        self.host_computed.numpy()[:] = self.computed
        self.device_computed.copy_(self.host_computed, non_blocking=True)
        position = (self.device_computed.unsqueeze(1) + self.offsets).flatten()
        self.positions.copy_(position)
        torch.add(self.device_computed, QUERY, out=self.seq_lens)
        torch.arange(0, (r + 1) * QUERY, QUERY, dtype=torch.int32, device="cuda", out=self.query_start)
        torch.arange(r * QUERY, dtype=torch.int32, device="cuda", out=self.logits_index)
        for (size, ratio, _), group, host, table in zip(GROUPS, self.groups, self.host_tables, self.tables):
            host.numpy()[:] = table
            group["block_table"].copy_(host, non_blocking=True)
            torch.div(self.seq_lens, ratio, rounding_mode="floor", out=group["seq_lens"])
            torch.div(group["seq_lens"] + (size - 1), size, rounding_mode="floor", out=group["block_counts"])
            torch.div(position + 1, ratio, rounding_mode="floor", out=group["token_seq_lens"])
            rows = torch.arange(r, dtype=torch.int32, device="cuda").repeat_interleave(QUERY, output_size=r * QUERY)
            group["token_rows"].copy_(rows)
            entry = position // ratio
            block = group["block_table"].view(-1)[rows.long() * host.shape[1] + entry // size].long()
            slots = torch.where((position + 1) % ratio == 0, block * size + entry % size, -1)
            group["slots"].copy_(slots)


def wall_us(side, steps=200):
    """Host and GPU time of one step, and the GPU's share, medians."""
    walls, gpus = [], []
    for i in range(steps + 20):
        side.computed += 1
        torch.cuda.synchronize()
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start = time.perf_counter()
        begin.record()
        side.step()
        end.record()
        torch.cuda.synchronize()
        if i >= 20:
            walls.append((time.perf_counter() - start) * 1e6)
            gpus.append(begin.elapsed_time(end) * 1e3)
    walls.sort()
    return (statistics.median(walls), walls[len(walls) // 10], walls[-1 - len(walls) // 10]), statistics.median(gpus)


def device_us(side):
    """The GPU's work of a step alone, back to back on the stream: a hundred of them between two events."""
    job, lib = side.job, side.lib
    torch.cuda.synchronize()
    times = []
    for _ in range(20):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        torch.cuda._sleep(2_000_000)  # so that the queue is full before the first one runs
        begin.record()
        for _ in range(100):
            lib.call("bk_prep_fused", job)
        end.record()
        torch.cuda.synchronize()
        times.append(begin.elapsed_time(end) * 10)
    return statistics.median(times)


def bench(lib, table, check):
    import numpy
    draw = numpy.random.default_rng()
    for requests, start in ((1, 30000), (4, 30000), (1, 2000)):
        tables = [draw.integers(0, 90000, (requests, w), dtype=numpy.int32) for _, _, w in GROUPS]
        lens = numpy.full(requests, start, dtype=numpy.int32) + draw.integers(0, 500, requests, dtype=numpy.int32)
        fused, eager = Fused(lib, requests, lens.copy(), tables), Eager(requests, lens.copy(), tables)
        wrong = 0
        for _ in range(60):
            fused.computed += 3
            eager.computed += 3
            for tensor in fused.tensors():
                tensor.fill_(-7)
            fused.step()
            eager.step()
            torch.cuda.synchronize()
            for g, ((size, ratio, width), group) in enumerate(zip(GROUPS, eager.groups)):
                used = -(-((eager.computed + QUERY) // ratio) // size)  # the eager copy carries whole rows
                for row in range(requests):
                    group["block_table"][row, int(used[row]):] = 0
            wrong += sum((a != b).sum().item() for a, b in zip(fused.tensors(), eager.tensors()))
        check(f"prep_fused C={requests} at {start}, 60 steps, numbers that differ in {len(fused.tensors())} tensors", wrong, 0)
        ours, gpu = wall_us(fused)
        theirs, their_gpu = wall_us(eager)
        alone = device_us(fused)
        print(f"#   prep_fused C={requests} at {start}: events around the step {gpu:.1f} us, eager {their_gpu:.1f}; the GPU's work back to "
              f"back {alone:.2f} us; {fused.job.bytes} bytes; eager / ours {theirs[0] / ours[0]:.1f}", flush=True)
        table.add(f"prep_fused C={requests} at {start}, host + GPU", ours, {"eager chain of 46 tensors": theirs}, fused.job.bytes,
                  50e9, round(theirs[0] / 12, 1) if requests == 1 else None)
