"""Puts the kernel bk_moe_route in place of the gate's projection and the top-k selection of vLLM's mixture of experts.

Loaded as a vLLM plugin. Nothing changes unless BK_MOE_ROUTE is 1. What the kernel cannot serve (more than 32 tokens, other
scoring, other dtypes) takes the stock path; whatever fails takes it for the rest of the boot.
"""

import ctypes as c

import bk_kernels

MAX_TOKENS = 32
MAX_EXPERTS = 256
SCORING = {"softmax": 1, "sigmoid": 2}
PREWARM_TOKENS = (1, 6, 16, 17, 32)
MODULE = bk_kernels.Module("moe_route", "BK_MOE_ROUTE")


class Gate(c.Structure):
    _fields_ = [("x", c.c_void_p), ("w", c.c_void_p), ("logits", c.c_void_p), ("workspace", c.c_void_p),
                ("x_stride", c.c_int64), ("m", c.c_int), ("n", c.c_int), ("k", c.c_int)]


class Route(c.Structure):
    _fields_ = [("bias", c.c_void_p), ("weights", c.c_void_p), ("ids", c.c_void_p), ("scoring", c.c_int),
                ("top_k", c.c_int), ("renormalise", c.c_int), ("scale", c.c_float)]


class Router:
    """The kernel for the gate of one layer."""

    def __init__(self, so, runner):
        import torch

        self.so, self.torch, self.runner, self.gate = so, torch, runner, runner.gate
        router, weight = runner.router, runner.gate.weight
        self.shape, self.top_k, self.renormalise = tuple(weight.shape), router.top_k, router.renormalize
        self.scoring = SCORING[router.scoring_func]
        so.bk_moe_workspace_bytes.restype = c.c_size_t
        size = so.bk_moe_workspace_bytes(weight.shape[0])
        # Of its own: layers may run on several streams. Captured graphs keep its address, so it is never made anew.
        self.workspace = torch.full((size,), 255, dtype=torch.uint8, device=weight.device)

    def serves(self, x):
        """Whether this call's logits would go to the top-k of these very tokens, and nowhere else, and the kernel takes both."""
        runner, weight = self.runner, self.gate.weight
        alone = not (runner.routed_experts.quant_method.is_monolithic or runner.do_naive_dispatch_combine) and runner.moe_config.pcp_size == 1
        return (alone and tuple(weight.shape) == self.shape and bk_kernels.plain(weight, "bfloat16", 2) and x.dim() == 2
                and 1 <= x.shape[0] <= MAX_TOKENS and x.shape[1] == self.shape[1] and x.dtype == self.torch.bfloat16 and x.is_cuda
                and x.stride(1) == 1 and x.stride(0) % 8 == 0 and x.data_ptr() % 16 == 0)

    def __call__(self, x, weight=None):
        torch, w = self.torch, self.gate.weight if weight is None else weight
        weights = torch.empty((x.shape[0], self.top_k), dtype=torch.float32, device=x.device)
        ids = torch.empty((x.shape[0], self.top_k), dtype=torch.int32, device=x.device)
        gate = Gate(x.data_ptr(), w.data_ptr(), None, self.workspace.data_ptr(), x.stride(0), x.shape[0], w.shape[0], w.shape[1])
        route = Route(None, weights.data_ptr(), ids.data_ptr(), self.scoring, self.top_k, int(self.renormalise), 1.0)
        bk_kernels.launch(self.so, "bk_moe_route", x.device, gate, route)
        return weights, ids

    def prewarm(self):
        """Runs every kernel variant once, outside any capture, on numbers of its own, and compares with torch."""
        torch, (experts, hidden) = self.torch, self.shape
        draw = torch.Generator(device=self.workspace.device).manual_seed(1)
        w = torch.randn(experts, hidden, generator=draw, device=self.workspace.device).mul_(hidden**-0.5).bfloat16()
        for tokens in PREWARM_TOKENS:
            x = torch.randn(tokens, hidden, generator=draw, device=w.device).bfloat16()
            got, ids = self(x, w)
            logits = x.float() @ w.float().T
            score = torch.softmax(logits, -1) if self.scoring == 1 else torch.sigmoid(logits)
            right = bool(((ids >= 0) & (ids < experts)).all()) and bool((ids.sort(-1).values.diff(dim=-1) > 0).all())
            if right:
                best, chosen = torch.topk(score, self.top_k, -1).values, score.gather(1, ids.long())
                want = chosen / chosen.sum(-1, keepdim=True) if self.renormalise else chosen
                right = torch.allclose(chosen, best, atol=2e-3) and torch.allclose(got, want, atol=2e-3)
            if not right:
                raise bk_kernels.Disarmed(f"the prewarm with {tokens} tokens does not agree with torch")


def refuse(runner, router_class):
    """Why a layer keeps the stock path, or None."""
    gate, router = runner.gate, runner.router
    weight = getattr(gate, "weight", None)
    if type(router) is not router_class:
        return f"its router is a {type(router).__name__}"
    if weight is None or getattr(gate, "bias", None) is not None or getattr(runner, "_fse_fuse_gate", False):
        return "its gate has no weight of its own, or a bias"
    if str(weight.dtype) != "torch.bfloat16" or weight.dim() != 2 or not weight.is_contiguous() or not weight.is_cuda:
        return "its gate's weight is no contiguous bf16 matrix on a GPU"
    if router.scoring_func not in SCORING or weight.shape[0] > MAX_EXPERTS or weight.shape[0] % 16 or weight.shape[1] % 256:
        return f"scoring {router.scoring_func}, {weight.shape[0]} experts of {weight.shape[1]}"
    return None


PREWARMED = set()


def put_in(runner, so):
    """Replaces the gate and the choice of one layer."""
    gate, router = runner.gate, runner.router
    fused = Router(so, runner)
    kind = (fused.shape, router.top_k, router.scoring_func, router.renormalize)
    if kind not in PREWARMED:
        fused.prewarm()
        PREWARMED.add(kind)
    stock_gate, stock_route = gate.forward, router._compute_routing
    seen = []  # the input whose logits were left out

    def gate_forward(x, *args, **kwargs):
        seen.clear()
        if args or kwargs or not MODULE.fits(fused.serves, x):
            return stock_gate(x, *args, **kwargs)
        seen.append(x)
        return x.new_empty((x.shape[0], fused.shape[0])), None

    def compute_routing(hidden_states, router_logits, indices_type, *, input_ids=None):
        left_out = seen.pop() if seen else None
        if left_out is None:
            return stock_route(hidden_states, router_logits, indices_type, input_ids=input_ids)
        if hidden_states.shape != left_out.shape:
            raise RuntimeError(f"moe_route: the gate saw {tuple(left_out.shape)} and the router {tuple(hidden_states.shape)}: "
                               f"boot with BK_MOE_ROUTE=0")
        routed = MODULE.attempt(fused, hidden_states) if hidden_states.data_ptr() == left_out.data_ptr() else None
        if routed is None:
            logits, _ = stock_gate(left_out)
            return stock_route(hidden_states, logits, indices_type, input_ids=input_ids)
        MODULE.say(f"serves gate and top-k ({fused.shape[1]} by {fused.shape[0]} experts, top {fused.top_k}, {router.scoring_func})")
        weights, ids = routed
        return weights, ids if indices_type is None else ids.to(indices_type)

    gate.forward, router._compute_routing = gate_forward, compute_routing


def arm():
    from vllm.config import get_current_vllm_config
    from vllm.model_executor.layers.fused_moe.router.fused_topk_router import FusedTopKRouter
    from vllm.model_executor.layers.fused_moe.runner.moe_runner import MoERunner

    stock_init, opened = MoERunner.__init__, []

    def open_layer(runner):
        why = refuse(runner, FusedTopKRouter)
        if why is not None:
            MODULE.say(f"a layer keeps the stock path: {why}")
            return
        bk_kernels.stays(get_current_vllm_config(), shared_workspace=True)
        if not opened:
            opened.append(bk_kernels.library())
        put_in(runner, opened[0])

    def init(self, *args, **kwargs):
        stock_init(self, *args, **kwargs)
        if self.gate is not None:
            MODULE.prepare(open_layer, self)

    MoERunner.__init__ = init
    MODULE.say("armed")


def register():
    """vLLM's entry point."""
    MODULE.register(arm)
