"""The window lists and KV pages of sparse_swa, beside eager torch that makes the same numbers."""

import torch

from indexer import power_scale
from timing import graph_time

WINDOW, PAGE, PAGE_BYTES, QUANTISED, GROUP = 128, 64, 37440, 448, 64
DEVICE = "cuda"


def stock_windows(starts, lens, rows, valid, table, width, causal):
    """slots and lengths of every token of a batch."""
    row = rows.long()
    prefix = lens[row] - (starts[row + 1] - starts[row])
    position = prefix + torch.arange(rows.shape[0], device=DEVICE, dtype=torch.int32) - starts[row]
    begin = (position - WINDOW + 1 if causal else prefix - WINDOW).clamp(min=0)
    length = (position + 1 if causal else lens[row]) - begin
    length = length.masked_fill(~valid, 0)
    place = begin.unsqueeze(-1) + torch.arange(width, device=DEVICE, dtype=torch.int32)
    block = table[row].gather(1, (place // PAGE).clamp(max=table.shape[1] - 1).long())
    slots = block * PAGE + place % PAGE
    return slots.masked_fill(torch.arange(width, device=DEVICE) >= length.unsqueeze(-1), -1), length


def stock_pack(kv, slots, pages):
    """Writes the same bytes with torch's own indexing."""
    groups = kv[:, :QUANTISED].float().view(-1, QUANTISED // GROUP, GROUP)
    scale = power_scale(groups.abs().amax(-1))
    data = (groups / scale.unsqueeze(-1)).clamp(-448, 448).to(torch.float8_e4m3fn).view(torch.uint8).flatten(1)
    rope = kv[:, QUANTISED:].contiguous().view(torch.uint8)
    exponents = torch.cat((torch.log2(scale) + 127, torch.zeros_like(scale[:, :1])), -1).to(torch.uint8)
    page, place = slots // PAGE, slots % PAGE
    pages[:, :PAGE * 576].view(-1, PAGE, 576)[page, place] = torch.cat((data, rope), -1)
    pages[:, PAGE * 576:PAGE * 584].view(-1, PAGE, 8)[page, place] = exponents


def batch(requests, query, context):
    """A decode batch as an engine has it."""
    lens = torch.randint(context // 2, context, (requests,), device=DEVICE, dtype=torch.int32)
    starts = torch.arange(requests + 1, device=DEVICE, dtype=torch.int32) * query
    rows = torch.arange(requests, device=DEVICE, dtype=torch.int32).repeat_interleave(query)
    table = torch.randint(0, 9999, (requests, context // PAGE), device=DEVICE, dtype=torch.int32)
    return starts, lens, rows, torch.ones(requests * query, device=DEVICE, dtype=torch.bool), table


def bench_windows(lib, table, rate, check):
    for requests, query, width, causal in ((1, 6, 128, True), (4, 6, 128, True), (4, 5, 256, False)):
        tokens = requests * query
        jobs = [batch(requests, query, 32768) for _ in range(96)]
        slots = torch.full((tokens, width), -7, device=DEVICE, dtype=torch.int32)
        lengths = torch.full((tokens,), -7, device=DEVICE, dtype=torch.int32)
        lib.swa_windows(*jobs[0], slots, lengths, causal)
        want_slots, want_lengths = stock_windows(*jobs[0], width, causal)
        check("swa_windows, numbers that differ", ((slots != want_slots).sum() + (lengths != want_lengths).sum()).item(), 0)
        ours = graph_time([lambda j=j: lib.swa_windows(*j, slots, lengths, causal) for j in jobs])
        peers = {"eager": graph_time([lambda j=j: stock_windows(*j, width, causal) for j in jobs])}
        kind = "causal" if causal else "whole block"
        table.add(f"swa_windows {requests} of {query}, {kind}", ours, peers, tokens * width * 4 + tokens * 16, rate, None)


def bench_pack(lib, table, rate, check):
    for tokens in (6, 4096):
        count = max(tokens // PAGE, 8) * 2
        kvs = [torch.randn(tokens, 512, device=DEVICE).bfloat16() for _ in range(64 if tokens < 100 else 12)]
        pages, want = (torch.zeros(count, PAGE_BYTES, device=DEVICE, dtype=torch.uint8) for _ in range(2))
        slots = torch.randperm(count * PAGE, device=DEVICE)[:tokens]
        lib.swa_pack(kvs[0], slots, pages)
        stock_pack(kvs[0], slots, want)
        check(f"swa_pack T={tokens}, bytes that differ", (pages != want).sum().item(), 0)
        ours = graph_time([lambda kv=kv: lib.swa_pack(kv, slots, pages) for kv in kvs])
        peers = {"eager": graph_time([lambda kv=kv: stock_pack(kv, slots, want) for kv in kvs])}
        table.add(f"swa_pack T={tokens}", ours, peers, tokens * (1024 + 584 + 8), rate, None)


def bench(lib, table, rate, check):
    bench_windows(lib, table, rate, check)
    bench_pack(lib, table, rate, check)
