"""Puts the kernels bk_mhc_pre, _post, _post_pre and _head in place of those that vLLM's DeepSeek V4 runs around its layers and after them.

Loaded as a vLLM plugin. Nothing changes unless BK_MHC is 1. Other constants than DeepSeek V4's, other shapes and the first layer's
broadcast form take the stock path; whatever fails takes it for the rest of the boot.
"""

import ctypes as c

import bk_kernels

STREAMS, MIXES = 4, 24
EPS, POST_SCALE, ROUNDS = 1e-6, 2.0, 20
ONE_LAUNCH_TOKENS = 16
MAX_TOKENS, MAX_HIDDEN = 65536, 4096
PREWARM_TOKENS = (1, 6, 16, 17, 64, 300)
MODULE = bk_kernels.Module("mhc", "BK_MHC")


class Pre(c.Structure):
    _fields_ = [("x", c.c_void_p), ("fn", c.c_void_p), ("scale", c.c_void_p), ("base", c.c_void_p), ("norm", c.c_void_p),
                ("post", c.c_void_p), ("comb", c.c_void_p), ("layer_in", c.c_void_p), ("workspace", c.c_void_p),
                ("t", c.c_int), ("h", c.c_int)]


class Post(c.Structure):
    _fields_ = [("x", c.c_void_p), ("y", c.c_void_p), ("post", c.c_void_p), ("comb", c.c_void_p), ("out", c.c_void_p),
                ("t", c.c_int), ("h", c.c_int)]


class Head(c.Structure):
    _fields_ = [("x", c.c_void_p), ("fn", c.c_void_p), ("scale", c.c_void_p), ("base", c.c_void_p), ("out", c.c_void_p),
                ("t", c.c_int), ("h", c.c_int)]


def make_ops(so):
    """The operators bk::mhc_pre, bk::mhc_post, bk::mhc_post_pre and bk::mhc_head."""
    import typing

    import torch
    from torch import Tensor

    def mixes(x):
        t = x.shape[0]
        return (x.new_empty((t, STREAMS), dtype=torch.float32), x.new_empty((t, STREAMS, STREAMS), dtype=torch.float32),
                x.new_empty((t, x.shape[2])))

    def pre_job(x, fn, scale, base, norm, made, workspace):
        return Pre(x.data_ptr(), fn.data_ptr(), scale.data_ptr(), base.data_ptr(), None if norm is None else norm.data_ptr(),
                   *[tensor.data_ptr() for tensor in made], workspace.data_ptr(), x.shape[0], x.shape[2])

    def post_job(x, y, post, comb, out):
        return Post(x.data_ptr(), y.data_ptr(), post.data_ptr(), comb.data_ptr(), out.data_ptr(), x.shape[0], x.shape[2])

    @torch.library.custom_op("bk::mhc_pre", mutates_args=("workspace",))
    def pre(x: Tensor, fn: Tensor, scale: Tensor, base: Tensor, norm: typing.Optional[Tensor],
            workspace: Tensor) -> typing.Tuple[Tensor, Tensor, Tensor]:
        made = mixes(x)
        bk_kernels.launch(so, "bk_mhc_pre", x.device, pre_job(x, fn, scale, base, norm, made, workspace))
        return made

    @torch.library.custom_op("bk::mhc_post", mutates_args=())
    def post(x: Tensor, y: Tensor, post: Tensor, comb: Tensor) -> Tensor:
        out = torch.empty_like(x)
        bk_kernels.launch(so, "bk_mhc_post", x.device, post_job(x, y, post, comb, out))
        return out

    @torch.library.custom_op("bk::mhc_post_pre", mutates_args=("workspace",))
    def post_pre(x: Tensor, y: Tensor, post: Tensor, comb: Tensor, fn: Tensor, scale: Tensor, base: Tensor,
                 norm: typing.Optional[Tensor], workspace: Tensor) -> typing.Tuple[Tensor, Tensor, Tensor, Tensor]:
        out, made = torch.empty_like(x), mixes(x)
        before, after = post_job(x, y, post, comb, out), pre_job(out, fn, scale, base, norm, made, workspace)
        if x.shape[0] <= ONE_LAUNCH_TOKENS:
            bk_kernels.launch(so, "bk_mhc_post_pre", x.device, before, after)
        else:
            bk_kernels.launch(so, "bk_mhc_post", x.device, before)
            bk_kernels.launch(so, "bk_mhc_pre", x.device, after)
        return (out, *made)

    @torch.library.custom_op("bk::mhc_head", mutates_args=())
    def head(x: Tensor, fn: Tensor, scale: Tensor, base: Tensor) -> Tensor:
        out = x.new_empty((x.shape[0], x.shape[2]))
        bk_kernels.launch(so, "bk_mhc_head", x.device, Head(x.data_ptr(), fn.data_ptr(), scale.data_ptr(), base.data_ptr(),
                                                            out.data_ptr(), x.shape[0], x.shape[2]))
        return out

    pre.register_fake(lambda x, *_: mixes(x))
    post.register_fake(lambda x, *_: torch.empty_like(x))
    post_pre.register_fake(lambda x, *_: (torch.empty_like(x), *mixes(x)))
    head.register_fake(lambda x, *_: x.new_empty((x.shape[0], x.shape[2])))
    return pre, post, post_pre, head


class Kernels:
    """The operators and the workspace that captured graphs hold the address of; `hidden` is set once they agreed with torch."""

    def __init__(self):
        self.asked, self.ops, self.workspace, self.hidden = False, None, None, None

    def pre(self, x, fn, scale, base, norm):
        return self.ops[0](x, fn, scale, base, norm, self.workspace)

    def post(self, x, y, post, comb):
        return self.ops[1](x, y, post, comb)

    def post_pre(self, x, y, post, comb, fn, scale, base, norm):
        return self.ops[2](x, y, post, comb, fn, scale, base, norm, self.workspace)

    def head(self, x, fn, scale, base):
        return self.ops[3](x, fn, scale, base)

    def open(self, layer, config):
        """For models of such layers, or a disarm."""
        why = refuse(layer)
        if why is not None:
            raise bk_kernels.Disarmed(why)
        bk_kernels.stays(config, shared_workspace=True)
        so = bk_kernels.library()
        so.bk_mhc_workspace_bytes.restype = c.c_size_t
        self.ops = make_ops(so)
        self.prewarm(layer.hidden_size, so.bk_mhc_workspace_bytes(layer.hidden_size), layer.hc_attn_fn.device)
        self.hidden = layer.hidden_size

    def prewarm(self, hidden, workspace_bytes, device):
        """Every variant once, outside any capture, against double precision."""
        import torch

        self.workspace = torch.full((workspace_bytes,), 255, dtype=torch.uint8, device=device)
        draw = torch.Generator(device=device).manual_seed(1)

        def normal(*shape):
            return torch.randn(shape, generator=draw, device=device, dtype=torch.float32)

        fn, scale, base = normal(MIXES, STREAMS * hidden) / 128, normal(3), normal(MIXES)
        norm = normal(hidden).bfloat16()
        for tokens in PREWARM_TOKENS:
            x, y = normal(tokens, STREAMS, hidden).bfloat16(), normal(tokens, hidden).bfloat16()
            post, comb, layer_in = self.pre(x, fn, scale, base, norm)
            right = all(map(bk_kernels.agrees, (post, comb, layer_in), expected_pre(x, fn, scale, base, norm), (1e-4, 1e-4, 1e-2)))
            new, *after = self.post_pre(x, y, post, comb, fn, scale, base, None)
            right = right and bk_kernels.agrees(new, expected_post(x, y, post, comb), 1e-2)
            right = right and torch.equal(new, self.post(x, y, post, comb))
            if not right or not all(map(bk_kernels.agrees, after, expected_pre(new, fn, scale, base, None), (1e-4, 1e-4, 1e-2))):
                raise bk_kernels.Disarmed(f"the prewarm with {tokens} tokens does not agree with torch")
            joined = self.head(x, fn[:STREAMS].contiguous(), scale[:1], base[:STREAMS])
            if not bk_kernels.agrees(joined, expected_head(x, fn[:STREAMS], scale[:1], base[:STREAMS]), 1e-2):
                raise bk_kernels.Disarmed(f"the prewarm of the head with {tokens} tokens does not agree with torch")


def expected_pre(x, fn, scale, base, norm):
    """post, comb and the layer's input in double."""
    flat = x.double().flatten(1)
    mix = flat @ fn.double().T * (flat.square().mean(-1, keepdim=True) + EPS).rsqrt()
    part = scale.double().repeat_interleave(scale.new_tensor([STREAMS, STREAMS, STREAMS**2]).long())
    mix = mix * part + base.double()
    comb = mix[:, 2 * STREAMS:].view(-1, STREAMS, STREAMS).softmax(-1) + EPS
    comb = comb / (comb.sum(-2, keepdim=True) + EPS)
    for _ in range(ROUNDS - 1):
        comb = comb / (comb.sum(-1, keepdim=True) + EPS)
        comb = comb / (comb.sum(-2, keepdim=True) + EPS)
    layer_in = ((mix[:, :STREAMS].sigmoid() + EPS).unsqueeze(-1) * x.double()).sum(1)
    if norm is not None:
        layer_in = layer_in * (layer_in.square().mean(-1, keepdim=True) + EPS).rsqrt() * norm.double()
    return POST_SCALE * mix[:, STREAMS:2 * STREAMS].sigmoid(), comb, layer_in


def expected_head(x, fn, scale, base):
    flat = x.double().flatten(1)
    mix = flat @ fn.double().T * (flat.square().mean(-1, keepdim=True) + EPS).rsqrt()
    return ((mix * scale.double() + base.double()).sigmoid().add(EPS).unsqueeze(-1) * x.double()).sum(1)


def expected_post(x, y, post, comb):
    return post.double().unsqueeze(-1) * y.double().unsqueeze(1) + comb.double().transpose(1, 2) @ x.double()


def refuse(layer):
    """Why a model keeps the stock path, or None."""
    fn = layer.hc_attn_fn
    if layer.hc_mult != STREAMS or layer.hc_sinkhorn_iters != ROUNDS or layer.hc_post_alpha != POST_SCALE:
        return f"{layer.hc_mult} streams, {layer.hc_sinkhorn_iters} rounds, factor {layer.hc_post_alpha}"
    if {layer.hc_eps, layer.rms_norm_eps, layer.attn_norm.variance_epsilon, layer.ffn_norm.variance_epsilon} != {EPS}:
        return f"an epsilon is not {EPS}"
    if not fn.is_cuda or layer.hidden_size % 512 or layer.hidden_size > MAX_HIDDEN:
        return f"hidden size {layer.hidden_size}, or its numbers are not on a GPU"
    return None


def streams(kernels, x):
    """Whether a tensor is a residual that the kernels serve."""
    return (kernels.hidden is not None and bk_kernels.plain(x, "bfloat16", 3) and x.shape[1] == STREAMS
            and x.shape[2] == kernels.hidden and 1 <= x.shape[0] <= MAX_TOKENS)


def projected(kernels, x, fn, scale, base, mixes, constants):
    """Whether a projection of the residual and its constants are those of the kernels."""
    return (streams(kernels, x) and constants in ((EPS, EPS), (EPS, EPS, EPS, POST_SCALE, ROUNDS)) and bk_kernels.plain(fn, "float32", 2)
            and tuple(fn.shape) == (mixes, STREAMS * kernels.hidden) and bk_kernels.numbers(base, "float32", mixes)
            and bk_kernels.numbers(scale, "float32", 3 if mixes == MIXES else 1))


def normed(kernels, norm, norm_eps):
    return norm is None or (norm_eps == EPS and bk_kernels.plain(norm, "bfloat16", 1) and norm.shape[0] == kernels.hidden)


def mixed(kernels, x, y, post, comb):
    """Whether a layer's output and the factors that join it to the residual are what the kernels take."""
    tokens = x.shape[0]
    return (streams(kernels, x) and bk_kernels.plain(y, "bfloat16", 2) and tuple(y.shape) == (tokens, kernels.hidden)
            and bk_kernels.numbers(post, "float32", tokens * STREAMS) and post.data_ptr() % 16 == 0
            and bk_kernels.plain(comb, "float32", 3) and tuple(comb.shape) == (tokens, STREAMS, STREAMS))


def replacements(kernels, stock_pre, stock_post, stock_post_pre, stock_head):
    """The four functions that stand in for vLLM's, of the same signatures."""

    def run(fits, act, *args):
        made = MODULE.attempt(act, *args) if MODULE.fits(fits) else None
        if made is not None:
            MODULE.say(f"serves hyper-connections ({STREAMS} streams of {kernels.hidden})")
        return made

    def mhc_pre(residual, fn, hc_scale, hc_base, rms_eps, hc_pre_eps, hc_sinkhorn_eps, hc_post_mult_value, sinkhorn_repeat,
                n_splits=1, norm_weight=None, norm_eps=1e-6):
        constants = (rms_eps, hc_pre_eps, hc_sinkhorn_eps, hc_post_mult_value, sinkhorn_repeat)
        made = run(lambda: projected(kernels, residual, fn, hc_scale, hc_base, MIXES, constants) and normed(kernels, norm_weight, norm_eps),
                   kernels.pre, residual, fn, hc_scale, hc_base, norm_weight)
        if made is None:
            return stock_pre(residual, fn, hc_scale, hc_base, *constants, n_splits, norm_weight, norm_eps)
        post, comb, layer_in = made
        return post.unsqueeze(-1), comb, layer_in

    def mhc_post(x, residual, post_layer_mix, comb_res_mix):
        out = run(lambda: mixed(kernels, residual, x, post_layer_mix, comb_res_mix), kernels.post, residual, x, post_layer_mix, comb_res_mix)
        return stock_post(x, residual, post_layer_mix, comb_res_mix) if out is None else out

    def mhc_fused_post_pre(x, residual, post_layer_mix, comb_res_mix, fn, hc_scale, hc_base, rms_eps, hc_pre_eps,
                           hc_sinkhorn_eps, hc_post_mult_value, sinkhorn_repeat, n_splits=1, tile_n=1, norm_weight=None,
                           norm_eps=1e-6):
        constants = (rms_eps, hc_pre_eps, hc_sinkhorn_eps, hc_post_mult_value, sinkhorn_repeat)
        made = run(lambda: mixed(kernels, residual, x, post_layer_mix, comb_res_mix) and normed(kernels, norm_weight, norm_eps)
                   and projected(kernels, residual, fn, hc_scale, hc_base, MIXES, constants),
                   kernels.post_pre, residual, x, post_layer_mix, comb_res_mix, fn, hc_scale, hc_base, norm_weight)
        if made is None:
            return stock_post_pre(x, residual, post_layer_mix, comb_res_mix, fn, hc_scale, hc_base, *constants, n_splits, tile_n,
                                  norm_weight, norm_eps)
        residual_now, post, comb, layer_in = made
        return residual_now, post.unsqueeze(-1), comb, layer_in

    def hc_head(hs_flat, fn, hc_scale, hc_base, rms_eps, hc_eps):
        out = run(lambda: projected(kernels, hs_flat, fn, hc_scale, hc_base, STREAMS, (rms_eps, hc_eps)),
                  kernels.head, hs_flat, fn, hc_scale, hc_base)
        return stock_head(hs_flat, fn, hc_scale, hc_base, rms_eps, hc_eps) if out is None else out

    return mhc_pre, mhc_post, mhc_fused_post_pre, hc_head


def arm():
    from vllm.models.deepseek_v4.nvidia import dspark, model, mtp

    kernels = Kernels()
    layer_class = model.DeepseekV4DecoderLayer
    stock_init = layer_class.__init__

    def init(self, vllm_config, *args, **kwargs):
        stock_init(self, vllm_config, *args, **kwargs)
        if not kernels.asked:
            kernels.asked = True
            MODULE.prepare(kernels.open, self, vllm_config)

    pre, post, post_pre, head = replacements(kernels, model.mhc_pre_tilelang, model.mhc_post_tilelang,
                                             model.mhc_fused_post_pre_tilelang, model.hc_head_fused_kernel_tilelang)
    layer_class.__init__ = init
    model.mhc_pre_tilelang, model.mhc_fused_post_pre_tilelang = pre, post_pre
    for part in (model, mtp, dspark):
        part.mhc_post_tilelang, part.hc_head_fused_kernel_tilelang = post, head
    MODULE.say("armed")


def register():
    """vLLM's entry point."""
    MODULE.register(arm)
