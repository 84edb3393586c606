"""The sparse index: queries, scores and the places of what is chosen, beside eager torch of the same mathematics."""

import torch

from timing import graph_time

HEADS, DIM, ROPE = 64, 128, 64
E4M3 = torch.float8_e4m3fn
DEVICE = "cuda"


def power_scale(largest):
    return torch.exp2(torch.ceil(torch.log2(largest.clamp(min=1e-4) / 448)))


def stock_query(q, weight, positions, cos_sin):
    cos, sin = cos_sin[positions].unsqueeze(1).chunk(2, -1)
    even, odd = q[..., -ROPE::2].float(), q[..., 1 - ROPE::2].float()
    turned = torch.stack((even * cos - odd * sin, odd * cos + even * sin), -1).flatten(-2).bfloat16()
    whole = torch.cat((q[..., :-ROPE], turned), -1).float()
    scale = power_scale(whole.abs().amax(-1))
    return (whole / scale.unsqueeze(-1)).to(E4M3), weight * scale * (DIM * HEADS) ** -0.5


def stock_scores(q8, weight, k8, k_scale, bound):
    kind = torch.bfloat16 if q8.dtype == E4M3 else q8.dtype
    dots = torch.einsum("thd,sd->ths", q8.to(kind), k8.to(kind)).to(weight.dtype).relu()
    scores = torch.einsum("ths,th->ts", dots, weight) * k_scale
    return scores.masked_fill(torch.arange(k8.shape[0], device=DEVICE) >= bound.unsqueeze(-1), -torch.inf)


def stock_globalise(chosen, bound, rows, table, block):
    real = (chosen >= 0) & (chosen < bound.unsqueeze(-1))
    place = chosen.clamp(min=0)
    slots = table[rows.long()].gather(1, place // block) * block + (place % block).int()
    return slots.masked_fill(~real, -1), real.sum(-1, dtype=torch.int32)


def bench_queries(lib, table, rate, check):
    cos_sin = torch.randn(8192, ROPE, device=DEVICE).clamp(-1, 1)
    for t in (6, 24):
        jobs = []
        for _ in range(48):
            q = torch.randn(t, HEADS, DIM, device=DEVICE).bfloat16()
            jobs.append((q, torch.randn(t, HEADS, device=DEVICE), torch.randint(0, 8192, (t,), device=DEVICE), cos_sin))
        for kind in (torch.float32, torch.bfloat16):
            given = [(q, weight.to(kind), *more) for q, weight, *more in jobs]
            q8, weight_out = torch.empty_like(given[0][0], dtype=E4M3), torch.full((t, HEADS), float("nan"), device=DEVICE)
            lib.index_query(*given[0], q8, weight_out)
            want8, want_weight = stock_query(*given[0])
            check(f"indexer_query T={t}, bytes that differ, share", (q8.float() != want8.float()).float().mean().item(), 1e-3)
            check(f"indexer_query T={t}, weights", ((weight_out - want_weight).norm() / want_weight.norm()).item(), 1e-2)
            ours = graph_time([lambda j=j: lib.index_query(*j, q8, weight_out) for j in given])
            peers = {"eager": graph_time([lambda j=j: stock_query(*j) for j in given])}
            moved = t * HEADS * (DIM * 3 + given[0][1].element_size() + 4) + t * ROPE * 4
            table.add(f"indexer_query T={t} weights {str(kind)[6:]}", ours, peers, moved, rate, None)


def bench_scores(lib, table, rate, check):
    for t, s in ((6, 8192), (6, 32768), (256, 8192)):
        sets = 8 if t * s > 1 << 20 else 24
        jobs = []
        for _ in range(sets):
            q8 = torch.randn(t, HEADS, DIM, device=DEVICE).mul_(40).to(E4M3)
            k8 = torch.randn(s, DIM, device=DEVICE).mul_(40).to(E4M3)
            bound = torch.randint(s // 2, s + 1, (t,), device=DEVICE, dtype=torch.int32)
            jobs.append((q8, torch.randn(t, HEADS, device=DEVICE), k8, torch.rand(s, device=DEVICE), bound))
        scores = torch.full((t, s), float("nan"), device=DEVICE)
        lib.index_scores(*jobs[0], scores)
        q8, weight, k8, k_scale, bound = jobs[0]
        few = slice(0, min(t, 6))
        want = stock_scores(q8[few].double(), weight[few].double(), k8.double(), k_scale.double(), bound[few])
        real = want > -torch.inf
        check(f"indexer_scores T={t} S={s}, bounds that differ", ((scores[few] > -torch.inf) != real).sum().item(), 0)
        error = ((scores[few].double() - want)[real].norm() / want[real].norm()).item()
        check(f"indexer_scores T={t} S={s}", error, 1e-5)
        ours = graph_time([lambda j=j: lib.index_scores(*j, scores) for j in jobs])
        peers = {"eager": graph_time([lambda j=j: stock_scores(*j) for j in jobs], replays=20)}
        table.add(f"indexer_scores T={t} S={s}", ours, peers, s * (DIM + 4) + t * HEADS * (DIM + 4) + t * s * 4, rate, None)


def bench_globalise(lib, table, rate, check):
    t, count, block, width = 24, 512, 64, 512
    jobs = []
    for _ in range(96):
        bound = torch.randint(0, 16384, (t,), device=DEVICE, dtype=torch.int32)
        chosen = torch.randint(-1, 16384, (t, count), device=DEVICE)
        rows = torch.randint(0, 4, (t,), device=DEVICE, dtype=torch.int32)
        jobs.append((chosen, bound, rows, torch.randint(0, 9999, (4, width), device=DEVICE, dtype=torch.int32)))
    slots, counts = torch.full((t, count), -7, device=DEVICE, dtype=torch.int32), torch.full((t,), -7, device=DEVICE, dtype=torch.int32)
    lib.index_globalise(*jobs[0], slots, counts, block)
    want_slots, want_counts = stock_globalise(*jobs[0], block)
    check("indexer_globalise, numbers that differ", ((slots != want_slots).sum() + (counts != want_counts).sum()).item(), 0)
    ours = graph_time([lambda j=j: lib.index_globalise(*j, slots, counts, block) for j in jobs])
    peers = {"eager": graph_time([lambda j=j: stock_globalise(*j, block) for j in jobs])}
    table.add(f"indexer_globalise T={t} K={count}", ours, peers, t * count * 12 + 4 * width * 4, rate, None)


def bench(lib, table, rate, check):
    bench_queries(lib, table, rate, check)
    bench_scores(lib, table, rate, check)
    bench_globalise(lib, table, rate, check)
