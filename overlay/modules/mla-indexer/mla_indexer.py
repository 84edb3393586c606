"""Puts the kernel bk_indexer_query in place of the query preparation of vLLM's sparse-attention indexer for DeepSeek V4.

Loaded as a vLLM plugin. Nothing changes unless BK_MLA_INDEXER is 1. An MXFP4 cache, other shapes and other scales take the stock
path; whatever fails takes it for the rest of the boot.
"""

import ctypes as c

import bk_kernels

HEADS, DIM, ROPE = 64, 128, 64
SCALES = (DIM**-0.5, HEADS**-0.5)
MAX_TOKENS = 65536
PREWARM_TOKENS = (1, 6, 33)
MODULE = bk_kernels.Module("mla_indexer", "BK_MLA_INDEXER")


class Query(c.Structure):
    _fields_ = [("q", c.c_void_p), ("weight", c.c_void_p), ("positions", c.c_void_p), ("cos_sin", c.c_void_p), ("q8", c.c_void_p),
                ("weight_out", c.c_void_p), ("max_position", c.c_int64), ("t", c.c_int), ("weight_bf16", c.c_int)]


def make_op(so):
    """The operator bk::indexer_query."""
    import typing

    import torch
    from torch import Tensor

    def made(q, weight):
        return torch.empty_like(q, dtype=torch.float8_e4m3fn), torch.empty_like(weight, dtype=torch.float32)

    @torch.library.custom_op("bk::indexer_query", mutates_args=())
    def query(positions: Tensor, q: Tensor, cos_sin: Tensor, weight: Tensor) -> typing.Tuple[Tensor, Tensor]:
        q8, weight_out = made(q, weight)
        bk_kernels.launch(so, "bk_indexer_query", q.device,
                          Query(q.data_ptr(), weight.data_ptr(), positions.data_ptr(), cos_sin.data_ptr(), q8.data_ptr(),
                                weight_out.data_ptr(), cos_sin.shape[0], q.shape[0], int(weight.dtype == torch.bfloat16)))
        return q8, weight_out

    query.register_fake(lambda positions, q, cos_sin, weight: made(q, weight))
    return query


def expected(positions, q, cos_sin, weight):
    """The queries as the numbers that their bytes stand for, and the weights."""
    import torch

    q = q.float()
    cos, sin = cos_sin[positions].unsqueeze(1).chunk(2, -1)
    even, odd = q[..., -ROPE::2], q[..., 1 - ROPE::2]
    turned = torch.stack((even * cos - odd * sin, odd * cos + even * sin), -1).flatten(-2).bfloat16().float()
    q = torch.cat((q[..., :-ROPE], turned), -1)
    scale = torch.exp2(torch.ceil(torch.log2(q.abs().amax(-1).clamp(min=1e-4) / 448)))
    return (q / scale.unsqueeze(-1)).to(torch.float8_e4m3fn).float(), weight.float() * scale * SCALES[0] * SCALES[1]


class Kernel:
    """The operator; ready once it has agreed with torch."""

    def __init__(self):
        self.asked, self.op, self.ready = False, None, False

    def open(self):
        self.op = make_op(bk_kernels.library())
        self.prewarm(bk_kernels.this_device())
        self.ready = True

    def prewarm(self, device):
        """Outside any capture, on numbers of its own. A number in a hundred may fall to the other side of a rounding."""
        import torch

        draw = torch.Generator(device=device).manual_seed(1)
        angle = torch.arange(256, device=device).unsqueeze(1) * torch.logspace(0, -3, ROPE // 2, device=device, dtype=torch.float32)
        cos_sin = torch.cat((angle.cos(), angle.sin()), -1).contiguous()
        for tokens in PREWARM_TOKENS:
            q = torch.randn(tokens, HEADS, DIM, generator=draw, device=device, dtype=torch.float32).bfloat16()
            weight = torch.randn(tokens, HEADS, generator=draw, device=device, dtype=torch.float32)
            positions = torch.randint(0, 256, (tokens,), generator=draw, device=device, dtype=torch.int64)
            for given in (weight, weight.bfloat16()):
                got8, got_weight = self.op(positions, q, cos_sin, given)
                want8, want_weight = expected(positions, q, cos_sin, given)
                other = (got8.float() != want8).float().mean() + (~torch.isclose(got_weight, want_weight, rtol=1e-5)).float().mean()
                if not bool(other < 1e-2):
                    raise bk_kernels.Disarmed(f"the prewarm with {tokens} tokens does not agree with torch")


def serves(kernel, positions, q, cos_sin, weight, scales, use_fp4):
    return (kernel.ready and not use_fp4 and scales == SCALES and bk_kernels.plain(q, "bfloat16", 3)
            and tuple(q.shape[1:]) == (HEADS, DIM) and 1 <= q.shape[0] <= MAX_TOKENS
            and bk_kernels.numbers(positions, "int64", q.shape[0])
            and bk_kernels.plain(cos_sin, "float32", 2) and cos_sin.shape[1] == ROPE and tuple(weight.shape) == (q.shape[0], HEADS)
            and any(bk_kernels.numbers(weight, kind, q.shape[0] * HEADS) for kind in ("float32", "bfloat16")))


def replacement(kernel, stock):
    """What stands in for vLLM's function, of the same signature."""

    def fused_indexer_q_rope_quant(positions, index_q, index_q_cos_sin_cache, index_weights, index_weights_softmax_scale,
                                   index_weights_head_scale, use_fp4=False):
        made = None
        scales = (index_weights_softmax_scale, index_weights_head_scale)
        if MODULE.fits(serves, kernel, positions, index_q, index_q_cos_sin_cache, index_weights, scales, use_fp4):
            made = MODULE.attempt(kernel.op, positions, index_q, index_q_cos_sin_cache, index_weights)
        if made is None:
            return stock(positions, index_q, index_q_cos_sin_cache, index_weights, *scales, use_fp4=use_fp4)
        MODULE.say(f"serves the indexer's queries ({HEADS} heads of {DIM})")
        return made

    return fused_indexer_q_rope_quant


def arm():
    from vllm.models.deepseek_v4 import attention

    kernel = Kernel()
    stock_init = attention.DeepseekV4Indexer.__init__

    def init(self, *args, **kwargs):
        stock_init(self, *args, **kwargs)
        if not kernel.asked:
            kernel.asked = True
            MODULE.prepare(kernel.open)

    attention.DeepseekV4Indexer.__init__ = init
    attention.fused_indexer_q_rope_quant = replacement(kernel, attention.fused_indexer_q_rope_quant)
    MODULE.say("armed")


def register():
    """vLLM's entry point."""
    MODULE.register(arm)
