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

    def __init__(self, so, weight, top_k, scoring, renormalise):
        import torch

        self.so, self.torch = so, torch
        self.weight, self.top_k, self.scoring, self.renormalise = weight, top_k, scoring, renormalise
        so.bk_moe_workspace_bytes.restype = c.c_size_t
        size = so.bk_moe_workspace_bytes(weight.shape[0])
        # Of its own: layers may run on several streams. Captured graphs keep its address, so it is never made anew.
        self.workspace = torch.full((size,), 255, dtype=torch.uint8, device=weight.device)

    def serves(self, x):
        return (MODULE.armed and x.dim() == 2 and 1 <= x.shape[0] <= MAX_TOKENS and x.dtype == self.torch.bfloat16
                and x.stride(1) == 1 and x.stride(0) % 8 == 0 and x.data_ptr() % 16 == 0)

    def __call__(self, x, weight=None):
        torch, w = self.torch, self.weight if weight is None else weight
        weights = torch.empty((x.shape[0], self.top_k), dtype=torch.float32, device=x.device)
        ids = torch.empty((x.shape[0], self.top_k), dtype=torch.int32, device=x.device)
        gate = Gate(x.data_ptr(), w.data_ptr(), None, self.workspace.data_ptr(), x.stride(0), x.shape[0], w.shape[0], w.shape[1])
        route = Route(None, weights.data_ptr(), ids.data_ptr(), self.scoring, self.top_k, int(self.renormalise), 1.0)
        stream = c.c_void_p(torch.cuda.current_stream(x.device).cuda_stream)
        bk_kernels.check(self.so.bk_moe_route(c.byref(gate), c.byref(route), stream), "bk_moe_route")
        return weights, ids

    def prewarm(self):
        """Runs every kernel variant once, outside any capture, on numbers of its own, and compares with torch."""
        torch, (experts, hidden) = self.torch, self.weight.shape
        draw = torch.Generator(device=self.weight.device).manual_seed(1)
        w = torch.randn(experts, hidden, generator=draw, device=self.weight.device).mul_(hidden**-0.5).bfloat16()
        for tokens in PREWARM_TOKENS:
            x = torch.randn(tokens, hidden, generator=draw, device=w.device).bfloat16()
            got, ids = self(x, w)
            logits = x.float() @ w.float().T
            score = torch.softmax(logits, -1) if self.scoring == 1 else torch.sigmoid(logits)
            want = torch.topk(score, self.top_k, -1).values
            if self.renormalise:
                want = want / want.sum(-1, keepdim=True)
            if not torch.allclose(got, want, atol=2e-3) or ids.min() < 0 or ids.max() >= experts:
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
    fused = Router(so, gate.weight, router.top_k, SCORING[router.scoring_func], router.renormalize)
    shape = (tuple(gate.weight.shape), router.top_k, router.scoring_func, router.renormalize)
    if shape not in PREWARMED:
        fused.prewarm()
        PREWARMED.add(shape)
    stock_gate, stock_route = gate.forward, router._compute_routing
    seen = []  # the input whose logits were left out

    def gate_forward(x, *args, **kwargs):
        seen.clear()
        if args or kwargs or not fused.serves(x):
            return stock_gate(x, *args, **kwargs)
        seen.append(x)
        return x.new_empty((x.shape[0], gate.weight.shape[0])), None

    def compute_routing(hidden_states, router_logits, indices_type, *, input_ids=None):
        left_out = seen.pop() if seen else None
        if left_out is None:
            return stock_route(hidden_states, router_logits, indices_type, input_ids=input_ids)
        routed = None
        if hidden_states.data_ptr() == left_out.data_ptr() and hidden_states.shape == left_out.shape:
            routed = MODULE.attempt(fused, hidden_states)
        if routed is None:
            logits, _ = stock_gate(left_out)
            return stock_route(hidden_states, logits, indices_type, input_ids=input_ids)
        MODULE.say(f"serves gate and top-k ({shape[0][1]} by {shape[0][0]} experts, top {shape[1]}, {shape[2]})")
        weights, ids = routed
        return weights, ids if indices_type is None else ids.to(indices_type)

    gate.forward, router._compute_routing = gate_forward, compute_routing


def arm():
    from vllm.model_executor.layers.fused_moe.router.fused_topk_router import FusedTopKRouter
    from vllm.model_executor.layers.fused_moe.runner.moe_runner import MoERunner

    so = bk_kernels.library()
    stock_init = MoERunner.__init__

    def init(self, *args, **kwargs):
        stock_init(self, *args, **kwargs)
        if self.gate is None or not MODULE.armed:
            return
        why = refuse(self, FusedTopKRouter)
        if why is not None:
            MODULE.say(f"a layer keeps the stock path: {why}")
        else:
            MODULE.attempt(put_in, self, so)

    MoERunner.__init__ = init
    MODULE.say("armed")


def register():
    """vLLM's entry point."""
    MODULE.register(arm)
