"""mhc before and after a layer, beside eager torch and torch.compile of the same mathematics."""

import torch

from timing import graph_time

EPS = 1e-6


def sinkhorn(m):
    m = torch.softmax(m, -1) + EPS
    m = m / (m.sum(-2, keepdim=True) + EPS)
    for _ in range(19):
        m = m / (m.sum(-1, keepdim=True) + EPS)
        m = m / (m.sum(-2, keepdim=True) + EPS)
    return m


def stock_pre(x, fn, scale, base):
    flat = x.flatten(1).to(fn.dtype)
    mix = (flat @ fn.T) * torch.rsqrt(flat.square().mean(-1, keepdim=True) + EPS)
    pre = torch.sigmoid(mix[:, :4] * scale[0] + base[:4]) + EPS
    post = 2 * torch.sigmoid(mix[:, 4:8] * scale[1] + base[4:8])
    comb = sinkhorn((mix[:, 8:] * scale[2] + base[8:]).view(-1, 4, 4))
    layer_in = (pre.unsqueeze(-1) * x.to(fn.dtype)).sum(1)
    return layer_in, post, comb


def stock_post(x, y, post, comb):
    kind = post.dtype
    return (post.unsqueeze(-1) * y.to(kind).unsqueeze(1) + torch.einsum("tjk,tjh->tkh", comb, x.to(kind))).to(x.dtype)


def stock(x, y, fn, scale, base):
    layer_in, post, comb = stock_pre(x, fn, scale, base)
    return layer_in.to(x.dtype), stock_post(x, y, post, comb)


def stock_head(x, fn, scale, base):
    flat = x.flatten(1).to(fn.dtype)
    mix = (flat @ fn.T) * torch.rsqrt(flat.square().mean(-1, keepdim=True) + EPS)
    return ((torch.sigmoid(mix * scale + base) + EPS).unsqueeze(-1) * x.to(fn.dtype)).sum(1)


def bench_head(lib, table, rate, check):
    h = 4096
    for t, sets in ((6, 96), (4096, 4)):
        xs = [torch.randn(t, 4, h, device="cuda", dtype=torch.bfloat16) for _ in range(sets)]
        fn, scale, base = torch.randn(4, 4 * h, device="cuda") / 128, torch.randn(1, device="cuda"), torch.randn(4, device="cuda")
        out = torch.full((t, h), float("nan"), device="cuda", dtype=torch.bfloat16)
        lib.mhc_head(xs[0], fn, scale, base, out)
        check(f"mhc head T={t}", relative(out, stock_head(xs[0].double(), fn.double(), scale.double(), base.double())), 2e-3)
        ours = graph_time([lambda x=x: lib.mhc_head(x, fn, scale, base, out) for x in xs])
        peers = {"eager": graph_time([lambda x=x: stock_head(x, fn, scale, base).to(x.dtype) for x in xs], replays=20)}
        table.add(f"mhc head T={t}", ours, peers, t * h * 10 + 16 * h * 4, rate, None)


def relative(got, want):
    return ((got.double() - want).norm() / want.norm()).item()


def bench(lib, table, rate, check, compiled):
    bench_head(lib, table, rate, check)
    h = 4096
    for t, sets, goal in ((1, 96, None), (6, 96, 8.0), (12, 96, None), (64, 48, None), (4096, 2, 180.0)):
        x = [torch.randn(t, 4, h, device="cuda", dtype=torch.bfloat16) for _ in range(min(sets, 4) if t > 1000 else sets)]
        y = torch.randn(t, h, device="cuda", dtype=torch.bfloat16)
        fn = [torch.randn(24, 4 * h, device="cuda") / 128 for _ in range(sets)]
        scale, base = torch.randn(3, device="cuda"), torch.randn(24, device="cuda")
        post, comb = torch.empty(t, 4, device="cuda"), torch.empty(t, 4, 4, device="cuda")
        layer_in, out = torch.empty_like(y), torch.empty_like(x[0])
        workspace = lib.mhc_workspace(h)
        layer_in.fill_(float("nan"))
        out.fill_(float("nan"))
        lib.mhc_pre(x[0], fn[0], scale, base, None, post, comb, layer_in, workspace)
        lib.mhc_post(x[0], y, post, comb, out)
        torch.cuda.synchronize()
        want_in, want_post, want_comb = stock_pre(x[0].double(), fn[0].double(), scale.double(), base.double())
        check(f"mhc T={t} post", relative(post, want_post), 3e-6)
        check(f"mhc T={t} comb", relative(comb, want_comb), 1e-5)
        check(f"mhc T={t} layer_in", relative(layer_in, want_in), 2e-3)
        check(f"mhc T={t} out", relative(out, stock_post(x[0].double(), y.double(), want_post, want_comb)), 2e-3)
        del want_in, want_post, want_comb
        pairs = list(zip(x * (sets // len(x)), fn)) * (8 if t > 1000 else 1)

        def pre(a, f):
            lib.mhc_pre(a, f, scale, base, None, post, comb, layer_in, workspace)

        def both(a, f):
            pre(a, f)
            lib.mhc_post(a, y, post, comb, out)

        ours = graph_time([lambda p=p: both(*p) for p in pairs])
        only = graph_time([lambda p=p: pre(*p) for p in pairs])
        print(f"#   mhc T={t}: pre alone {only[0]:.2f} us ({only[1]:.2f} to {only[2]:.2f})", flush=True)
        peers = {}
        if goal is not None:
            peers["eager"] = graph_time([lambda p=p: stock(p[0], y, p[1], scale, base) for p in pairs[:16]], replays=20)
            if compiled:
                fast = torch.compile(stock)
                peers["torch.compile"] = graph_time([lambda p=p: fast(p[0], y, p[1], scale, base) for p in pairs[:16]], replays=20)
        if t <= 16:
            left = torch.empty_like(out)
            next_post, next_comb = torch.empty_like(post), torch.empty_like(comb)
            fused = graph_time([lambda p=p: lib.mhc_post_pre((p[0], y, post, comb, left),
                                                             (left, p[1], scale, base, None, next_post, next_comb, layer_in,
                                                              workspace)) for p in pairs])
        moved = t * h * 2 * (4 + 1 + 4 + 1 + 4) + 24 * 4 * h * 4
        table.add(f"mhc pre + post T={t}, {'two' if t <= 16 else 'three'} launches", ours, peers, moved, rate, goal)
        if t <= 16:
            table.add(f"mhc post + the next pre T={t}, one launch", fused, peers, moved - t * h * 8, rate, goal)
