"""Times the kernels beside what a user would take instead: one run, one table. Needs torch and a GPU.

usage: bench.py path/to/libbk_kernels.so [moe] [head] [markov] [mhc] [prep] [indexer] [swa]; "fast" leaves torch.compile out
"""

import sys

import torch
import torch.nn.functional as F

import indexer
import mhc
import prep
import swa
from library import Kernels
from timing import Table, graph_time

DEVICE = "cuda"
BF16 = torch.bfloat16


def bandwidth():
    """Bytes a second of a large copy, read and written bytes both counted."""
    source = torch.randn(1 << 30, device=DEVICE)
    target = torch.empty_like(source)
    times = []
    for _ in range(8):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        target.copy_(source)
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) * 1e-3)
    return 8 * source.numel() / min(times)


def check(name, error, limit):
    if not error <= limit:
        raise SystemExit(f"{name}: error {error:.3g} over {limit:.3g}")
    print(f"# {name}: error {error:.3g}", flush=True)


def stock_router(x, w, bias, top_k, scale):
    logits = F.linear(x, w).float()
    score = torch.sqrt(F.softplus(logits))
    ids = torch.topk(score + bias, top_k, dim=-1).indices
    weights = score.gather(1, ids)
    return weights / weights.sum(-1, keepdim=True) * scale, ids


def stock_softmax_router(x, w, top_k):
    score = torch.softmax(F.linear(x, w).float(), -1)
    weights, ids = torch.topk(score, top_k, dim=-1)
    return weights / weights.sum(-1, keepdim=True), ids


def check_route(name, lib, x, w, bias, top_k, scoring, scale, workspace):
    logits = x.double() @ w.double().T
    score = torch.sqrt(F.softplus(logits)) if scoring == 0 else torch.softmax(logits, -1)
    choice = score + bias.double() if bias is not None else score
    want = torch.topk(choice, top_k).indices
    weights = score.gather(1, want)
    weights = weights / weights.sum(-1, keepdim=True) * scale
    got = torch.full((x.shape[0], top_k), float("nan"), device=DEVICE)
    ids = torch.full((x.shape[0], top_k), -1, dtype=torch.int32, device=DEVICE)
    lib.route(x, w, bias, got, ids, workspace, scoring, 1, scale)
    torch.cuda.synchronize()
    same = (ids.sort(-1).values == want.sort(-1).values).all(-1).float().mean().item()
    print(f"# {name}: rows with the same experts {same:.3f}", flush=True)
    check(name, (got.double().sort(-1).values - weights.sort(-1).values).abs().max().item(), 1e-4)


def bench_gate(lib, table, rate):
    n, k, sets = 256, 4096, 64
    ws = [torch.randn(n, k, device=DEVICE, dtype=BF16) / 64 for _ in range(sets)]
    bias = torch.randn(n, device=DEVICE) / 16
    workspace = lib.workspace(n)
    for m in (1, 6, 8, 16, 32):
        x = torch.randn(m, k, device=DEVICE, dtype=BF16)
        logits = torch.full((m, n), float("nan"), device=DEVICE)
        lib.gate(x, ws[0], logits, workspace)
        torch.cuda.synchronize()
        want = x.double() @ ws[0].double().T
        check(f"moe_gate M={m}", ((logits - want).norm() / want.norm()).item(), 1e-5)
        ours = graph_time([lambda w=w: lib.gate(x, w, logits, workspace) for w in ws])
        peers = {"linear + cast": graph_time([lambda w=w: F.linear(x, w).float() for w in ws])}
        table.add(f"moe_gate M={m}", ours, peers, n * k * 2 + m * k * 2, rate, 3.0 if m == 6 else None)
    for m in (1, 6, 12, 24):
        x = torch.randn(m, k, device=DEVICE, dtype=BF16)
        weights = torch.empty(m, 6, device=DEVICE)
        ids = torch.empty(m, 6, dtype=torch.int32, device=DEVICE)
        check_route(f"moe_route M={m}", lib, x, ws[0], bias, 6, 0, 1.5, workspace)
        ours = graph_time([lambda w=w: lib.route(x, w, bias, weights, ids, workspace) for w in ws])
        peers = {"eager": graph_time([lambda w=w: stock_router(x, w, bias, 6, 1.5) for w in ws])}
        if m == 6 and COMPILE:
            compiled = torch.compile(stock_router)
            peers["torch.compile"] = graph_time([lambda w=w: compiled(x, w, bias, 6, 1.5) for w in ws])
        table.add(f"moe_route M={m}", ours, peers, n * k * 2 + m * k * 2, rate, 4.0 if m == 6 else None)


def bench_small_router(lib, table, rate):
    n, k, sets = 128, 2048, 256
    ws = [torch.randn(n, k, device=DEVICE, dtype=BF16) / 48 for _ in range(sets)]
    workspace = lib.workspace(n)
    for m in (1, 8):
        x = torch.randn(m, k, device=DEVICE, dtype=BF16)
        weights = torch.empty(m, 8, device=DEVICE)
        ids = torch.empty(m, 8, dtype=torch.int32, device=DEVICE)
        check_route(f"softmax route M={m}", lib, x, ws[0], None, 8, 1, 1.0, workspace)
        ours = graph_time([lambda w=w: lib.route(x, w, None, weights, ids, workspace, 1, 1, 1.0) for w in ws])
        peers = {"eager": graph_time([lambda w=w: stock_softmax_router(x, w, 8) for w in ws])}
        if m == 8 and COMPILE:
            compiled = torch.compile(stock_softmax_router)
            peers["torch.compile"] = graph_time([lambda w=w: compiled(x, w, 8) for w in ws])
        table.add(f"moe_route 2048x128 top 8 softmax M={m}", ours, peers, n * k * 2 + m * k * 2, rate, 3.5)


def bench_head(lib, table, rate, v, goal):
    k, sets = 4096, 2 if v > 100000 else 4
    ws = [torch.randn(v, k, device=DEVICE, dtype=BF16) / 64 for _ in range(sets)]
    w8s = [torch.empty(v, k, device=DEVICE, dtype=torch.float8_e4m3fn) for _ in ws]
    scales = [torch.empty(v, device=DEVICE) for _ in ws]
    for w, w8, scale in zip(ws, w8s, scales):
        lib.quantise(w, w8, scale)
    largest = ws[0].float().abs().amax(1).clamp(min=1e-6)
    want_scale = largest / torch.full_like(largest, 448)
    want8 = (ws[0].float() / want_scale[:, None]).to(torch.float8_e4m3fn)
    check("quantiser, bytes that differ", (want8.view(torch.uint8) != w8s[0].view(torch.uint8)).sum().item(), 0)
    pairs = list(zip(w8s, scales)) * 4
    for m in (1, 6, 12, 24):
        x = torch.randn(m, k, device=DEVICE, dtype=BF16)
        logits = torch.full((m, v), float("nan"), device=DEVICE, dtype=torch.float32)
        lib.head(x, w8s[0], scales[0], logits)
        torch.cuda.synchronize()
        want = x.double() @ (w8s[0].double() * scales[0].double()[:, None]).T
        check(f"fp8_head V={v} M={m}", ((logits - want).norm() / want.norm()).item(), 1e-5)
        out = torch.empty(m, v, device=DEVICE, dtype=BF16)
        ours = graph_time([lambda a=a, s=s: lib.head(x, a, s, out) for a, s in pairs], replays=30)
        peers = {}
        if m in (1, 6):
            peers["bf16 linear"] = graph_time([lambda w=w: F.linear(x, w) for w in ws * 4], replays=20)
            x8 = torch.randn(16, k, device=DEVICE).to(torch.float8_e4m3fn)
            one = torch.ones(16, 1, device=DEVICE)
            peers["_scaled_mm row-wise, 16 rows"] = graph_time(
                [lambda a=a, s=s: torch._scaled_mm(x8, a.T, one, s.view(1, -1), out_dtype=BF16) for a, s in pairs], replays=20)
        table.add(f"fp8_head V={v} M={m}", ours, peers, v * (k + 4) + m * v * 2, rate, goal if m <= 6 else None)


def bench_markov(lib, table, rate):
    v, count, rank, sets = 129280, 512, 256, 8  # of 66 MB each, as much as the L2 cache
    w1s = [torch.randn(v, rank, device=DEVICE, dtype=BF16) / 16 for _ in range(sets)]
    w2s = [torch.randn(v, rank, device=DEVICE, dtype=BF16) for _ in range(sets)]
    for b in (1, 4):
        for dtype in (torch.float32, BF16):
            jobs = []
            for call in range(192 if b == 1 else 96):
                idx = torch.stack([torch.randperm(v, device=DEVICE)[:count] for _ in range(b)])
                base = torch.randn(b, count, device=DEVICE, dtype=dtype)
                prev = torch.randint(0, v, (b,), device=DEVICE)
                out = torch.full((b, v), float("nan"), device=DEVICE, dtype=dtype)
                jobs.append((base, idx, prev, w1s[call % sets], w2s[call % sets], out))
            base, idx, prev, w1, w2, out = jobs[0]
            lib.markov(base, idx, prev, w1, w2, out)
            torch.cuda.synchronize()
            want = torch.full((b, v), -float("inf"), device=DEVICE, dtype=torch.float64)
            bias = torch.einsum("bkr,br->bk", w2[idx].double(), w1[prev].double())
            want.scatter_(1, idx, base.double() + bias)
            error = (out.double() - want).nan_to_num(nan=0.0, posinf=9e9, neginf=9e9).abs().max().item()
            check(f"markov_topk B={b} {dtype}", error, 1e-4 if dtype == torch.float32 else 4e-2)

            def bias_only(base, idx, prev, w1, w2):
                return torch.baddbmm(base.to(BF16).unsqueeze(-1), w2[idx], w1[prev].unsqueeze(-1)).squeeze(-1)

            def whole(base, idx, prev, w1, w2, out):
                out.fill_(-float("inf")).scatter_(1, idx, bias_only(base, idx, prev, w1, w2).to(out.dtype))

            ours = graph_time([lambda j=j: lib.markov(*j) for j in jobs])
            peers = {"eager gather + baddbmm, no fill": graph_time([lambda j=j: bias_only(*j[:5]) for j in jobs]),
                     "eager with fill and scatter": graph_time([lambda j=j: whole(*j) for j in jobs])}
            bytes_moved = b * (count * (rank * 2 + 8 + out.element_size()) + rank * 2 + v * out.element_size())
            table.add(f"markov_topk B={b} {str(dtype)[6:]}", ours, peers, bytes_moved, rate, 3.0)
    for b in (1, 4):
        rows = [torch.randn(b, v, device=DEVICE) for _ in range(128 // b)]
        values, idx = torch.empty(b, count, device=DEVICE), torch.empty(b, count, device=DEVICE, dtype=torch.int64)
        lib.select(rows[0], values, idx)
        torch.cuda.synchronize()
        want = torch.topk(rows[0], count).indices.sort(-1).values
        check(f"topk_select B={b}, indices that differ", (want != idx).sum().item(), 0)
        ours = graph_time([lambda r=r: lib.select(r, values, idx) for r in rows])
        peers = {"torch.topk": graph_time([lambda r=r: torch.topk(r, count, sorted=False) for r in rows])}
        table.add(f"topk_select B={b} K=512", ours, peers, b * v * 4, rate, None)


def main():
    lib, table = Kernels(sys.argv[1]), Table()
    wanted = set(sys.argv[2:]) - {"fast"} or {"moe", "head", "markov", "mhc", "prep", "indexer", "swa"}
    torch.manual_seed(torch.seed() % 2**31)
    rate = bandwidth()
    print(f"# {torch.cuda.get_device_name()}, torch {torch.__version__}, copy {rate / 1e12:.2f} TB/s", flush=True)
    one = torch.zeros(1, device=DEVICE)
    print(f"# one-element kernel in a graph: {graph_time([lambda: one.add_(1)] * 64)[0]:.2f} us", flush=True)
    if "moe" in wanted:
        bench_gate(lib, table, rate)
        bench_small_router(lib, table, rate)
    if "markov" in wanted:
        bench_markov(lib, table, rate)
    if "mhc" in wanted:
        mhc.bench(lib, table, rate, check, COMPILE)
    if "prep" in wanted:
        prep.bench(lib, table, check)
    if "indexer" in wanted:
        indexer.bench(lib, table, rate, check)
    if "swa" in wanted:
        swa.bench(lib, table, rate, check)
    if "head" in wanted:
        bench_head(lib, table, rate, 129280, 135)
        torch.cuda.empty_cache()
        bench_head(lib, table, rate, 32320, 36)
    table.show()


COMPILE = "fast" not in sys.argv
if __name__ == "__main__":
    main()
