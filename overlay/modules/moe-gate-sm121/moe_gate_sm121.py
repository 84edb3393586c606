"""Puts the kernel bk_moe_gate in place of vLLM's gate projection where that is bf16 in and fp32 out, up to 32 tokens.

Loaded as a vLLM plugin. Nothing changes unless BK_MOE_GATE is 1. It is meant for parts that vLLM's own fast gates leave out
(sm_120, sm_121). What it cannot serve takes the stock path; whatever fails takes it for the rest of the boot.
"""

import ctypes as c

import bk_kernels

MAX_TOKENS = 32
MAX_EXPERTS = 512
PREWARM_TOKENS = (1, 6, 16, 17, 32)
MODULE = bk_kernels.Module("moe_gate_sm121", "BK_MOE_GATE")


class Gate(c.Structure):
    _fields_ = [("x", c.c_void_p), ("w", c.c_void_p), ("logits", c.c_void_p), ("workspace", c.c_void_p),
                ("x_stride", c.c_int64), ("m", c.c_int), ("n", c.c_int), ("k", c.c_int)]


def make_op(so):
    """torch.ops.bk.moe_gate(x, w, workspace): a custom operator, so that a compiled graph can hold it."""
    import torch

    @torch.library.custom_op("bk::moe_gate", mutates_args=("workspace",))
    def moe_gate(x: torch.Tensor, w: torch.Tensor, workspace: torch.Tensor) -> torch.Tensor:
        logits = torch.empty((x.shape[0], w.shape[0]), dtype=torch.float32, device=x.device)
        gate = Gate(x.data_ptr(), w.data_ptr(), logits.data_ptr(), workspace.data_ptr(), x.stride(0), x.shape[0], w.shape[0], w.shape[1])
        bk_kernels.launch(so, "bk_moe_gate", x.device, gate)
        return logits

    @moe_gate.register_fake
    def _(x, w, workspace):
        return x.new_empty((x.shape[0], w.shape[0]), dtype=torch.float32)

    return moe_gate


def refuse(gate):
    """Why a gate keeps the stock path, or None."""
    weight = gate.weight
    if str(weight.dtype) != "torch.bfloat16" or not weight.is_cuda or not weight.is_contiguous() or gate.bias is not None:
        return "its weight is no contiguous bf16 matrix on a GPU, or it has a bias"
    if weight.shape[0] % 16 or weight.shape[0] > MAX_EXPERTS or weight.shape[1] % 256:
        return f"{weight.shape[0]} experts of {weight.shape[1]}"
    return None


def prepare(gate, so, op):
    """The gate's workspace, after every kernel variant has run once on numbers of its own and agreed with torch."""
    import torch

    so.bk_moe_workspace_bytes.restype = c.c_size_t
    size = so.bk_moe_workspace_bytes(gate.weight.shape[0])
    # Captured graphs keep its address, so it is never made anew.
    workspace = torch.full((size,), 255, dtype=torch.uint8, device=gate.weight.device)
    draw = torch.Generator(device=workspace.device).manual_seed(1)
    w = torch.randn(gate.weight.shape, generator=draw, device=workspace.device).mul_(gate.weight.shape[1] ** -0.5).bfloat16()
    for tokens in PREWARM_TOKENS:
        x = torch.randn(tokens, w.shape[1], generator=draw, device=w.device).bfloat16()
        if not torch.allclose(op(x, w, workspace).double(), x.double() @ w.double().T, atol=1e-4, rtol=0):
            raise bk_kernels.Disarmed(f"the prewarm with {tokens} tokens does not agree with torch")
    return workspace


def serves(gate, x):
    return (gate.bk_workspace is not None and str(gate.out_dtype) == "torch.float32" and bk_kernels.plain(gate.weight, "bfloat16", 2)
            and x.dim() == 2 and str(x.dtype) == "torch.bfloat16" and x.is_cuda and 1 <= x.shape[0] <= MAX_TOKENS
            and x.shape[1] == gate.weight.shape[1] and x.stride(1) == 1 and x.stride(0) % 8 == 0 and x.data_ptr() % 16 == 0)


def arm():
    import torch
    from vllm.config import get_current_vllm_config
    from vllm.model_executor.layers.fused_moe.router.gate_linear import GateLinear

    stock_init, stock_forward, opened = GateLinear.__init__, GateLinear.forward, []

    def open_gate(gate):
        why = refuse(gate)
        if why is not None:
            MODULE.say(f"a gate keeps the stock path: {why}")
            return
        bk_kernels.stays(get_current_vllm_config(), shared_workspace=True)
        if not opened:
            so = bk_kernels.library()
            opened.append((so, make_op(so)))
        gate.bk_workspace = prepare(gate, *opened[0])

    def init(self, *args, **kwargs):
        stock_init(self, *args, **kwargs)
        self.bk_workspace = None
        MODULE.prepare(open_gate, self)

    def forward(self, x):
        # A compiled model would keep what it saw while it was traced, whatever the number of tokens.
        if torch.compiler.is_compiling() or not MODULE.fits(serves, self, x):
            return stock_forward(self, x)
        logits = MODULE.attempt(opened[0][1], x, self.weight, self.bk_workspace)
        if logits is None:
            return stock_forward(self, x)
        MODULE.say(f"serves the gate ({self.weight.shape[1]} by {self.weight.shape[0]} experts)")
        return logits, None

    GateLinear.__init__, GateLinear.forward = init, forward
    MODULE.say("armed")


def register():
    """vLLM's entry point."""
    MODULE.register(arm)
