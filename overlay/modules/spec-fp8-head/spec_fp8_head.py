"""Puts the kernel bk_fp8_head in place of the vocabulary projection of vLLM's draft models: E4M3 weights, bf16 activations.

Loaded as a vLLM plugin. Nothing changes unless BK_SPEC_FP8_HEAD is 1. Only draft models get an fp8 copy of their head; the target
model keeps its own, so what the verifier accepts has the same distribution as before. Calls of more than 32 rows take the stock
path; whatever fails takes it for the rest of the boot.
"""

import ctypes as c

import bk_kernels

MAX_ROWS, MAX_HIDDEN = 32, 4096
PREWARM_ROWS = (1, 6, 8, 9, 16, 17, 32)
CHECKED = 1024  # of the vocabulary, at either end
MODULE = bk_kernels.Module("spec_fp8_head", "BK_SPEC_FP8_HEAD", alone=True)  # the ranks share the logits, and verify what is drafted


class Head(c.Structure):
    _fields_ = [("x", c.c_void_p), ("w8", c.c_void_p), ("scale", c.c_void_p), ("logits", c.c_void_p), ("x_stride", c.c_int64),
                ("logits_stride", c.c_int64), ("m", c.c_int), ("v", c.c_int), ("k", c.c_int), ("logits_fp32", c.c_int)]


class Quantise(c.Structure):
    _fields_ = [("w", c.c_void_p), ("w8", c.c_void_p), ("scale", c.c_void_p), ("v", c.c_int), ("k", c.c_int)]


def make_ops(so):
    """The operators bk::fp8_head and bk::fp8_quantise."""
    import typing

    import torch
    from torch import Tensor

    def made(x, w8, fp32):
        return x.new_empty((x.shape[0], w8.shape[0]), dtype=torch.float32 if fp32 else torch.bfloat16)

    @torch.library.custom_op("bk::fp8_head", mutates_args=())
    def head(x: Tensor, w8: Tensor, scale: Tensor, fp32: bool) -> Tensor:
        logits = made(x, w8, fp32)
        bk_kernels.launch(so, "bk_fp8_head", x.device,
                          Head(x.data_ptr(), w8.data_ptr(), scale.data_ptr(), logits.data_ptr(), x.stride(0), logits.stride(0),
                               x.shape[0], w8.shape[0], w8.shape[1], int(fp32)))
        return logits

    @torch.library.custom_op("bk::fp8_quantise", mutates_args=())
    def quantise(w: Tensor) -> typing.Tuple[Tensor, Tensor]:
        w8, scale = torch.empty_like(w, dtype=torch.float8_e4m3fn), w.new_empty(w.shape[0], dtype=torch.float32)
        bk_kernels.launch(so, "bk_fp8_quantise", w.device,
                          Quantise(w.data_ptr(), w8.data_ptr(), scale.data_ptr(), w.shape[0], w.shape[1]))
        return w8, scale

    head.register_fake(lambda x, w8, scale, fp32: made(x, w8, fp32))
    quantise.register_fake(
        lambda w: (torch.empty_like(w, dtype=torch.float8_e4m3fn), w.new_empty(w.shape[0], dtype=torch.float32)))
    return head, quantise


class Copy:
    """The fp8 copy of one head, after it has agreed with its own numbers in double."""

    def __init__(self, ops, weight):
        self.op, quantise = ops
        self.shape = tuple(weight.shape)
        self.w8, self.scale = quantise(weight)
        self.prewarm(weight)

    def prewarm(self, weight):
        import torch

        ends = torch.arange(self.shape[0], device=weight.device)
        ends = ends[(ends < CHECKED) | (ends >= self.shape[0] - CHECKED)]
        narrow = self.w8[ends].double() * self.scale[ends].double().unsqueeze(-1)
        if not bk_kernels.agrees(narrow, weight[ends], 0.07):
            raise bk_kernels.Disarmed("the quantised head does not agree with the head")
        draw = torch.Generator(device=weight.device).manual_seed(1)
        for rows in PREWARM_ROWS:
            x = torch.randn(rows, self.shape[1], generator=draw, device=weight.device, dtype=torch.float32).bfloat16()
            want = x.double() @ narrow.T
            for fp32, near in ((True, 1e-4), (False, 1e-2)):
                if not bk_kernels.agrees(self.op(x, self.w8, self.scale, fp32)[:, ends], want, near):
                    raise bk_kernels.Disarmed(f"the prewarm with {rows} rows does not agree with torch")

    def serves(self, x):
        return (str(x.dtype) == "torch.bfloat16" and x.is_cuda and x.dim() == 2 and 1 <= x.shape[0] <= MAX_ROWS
                and x.shape[1] == self.shape[1] and x.stride(1) == 1 and x.stride(0) % 8 == 0 and x.data_ptr() % 16 == 0)

    def __call__(self, x, fp32):
        return self.op(x, self.w8, self.scale, fp32)


def heads_of(model):
    """The vocabulary projections of a draft model: its own, and those of its MTP layers."""
    found = [getattr(model, "lm_head", None)]
    found += [getattr(getattr(part, "shared_head", None), "head", None) for part in model.modules()]
    return list({id(head): head for head in found if head is not None}.values())


def refuse(head, stock_method):
    """Why a head keeps the stock path, or None."""
    weight = getattr(head, "weight", None)
    if type(getattr(head, "quant_method", None)) is not stock_method or weight is None:
        return f"it is computed by {type(getattr(head, 'quant_method', None)).__name__}"
    if getattr(head, "bias", None) is not None or not bk_kernels.plain(weight, "bfloat16", 2):
        return "its weight is no contiguous bf16 matrix on a GPU, or it has a bias"
    if weight.shape[0] % 16 or weight.shape[1] % 256 or weight.shape[1] > MAX_HIDDEN:
        return f"{weight.shape[0]} tokens of {weight.shape[1]}"
    return None


def put_in(processor, copies):
    """Lets one logits processor project through the copies."""
    stock = processor._apply_head

    def apply_head(lm_head, hidden_states, embedding_bias):
        copy = copies.get(id(lm_head))
        kind = str(processor.head_dtype or hidden_states.dtype)
        logits = None
        fits = copy is not None and embedding_bias is None and kind in ("torch.bfloat16", "torch.float32")
        if fits and MODULE.fits(copy.serves, hidden_states):
            logits = MODULE.attempt(copy, hidden_states, kind == "torch.float32")
        if logits is None:
            return stock(lm_head, hidden_states, embedding_bias)
        MODULE.say(f"serves the draft head ({copy.shape[0]} tokens of {copy.shape[1]})")
        return logits

    processor._apply_head = apply_head


def prepare(model, ops, processor_class, stock_method):
    """Copies a draft model's heads and puts the copies in."""
    copies = {}
    for head in heads_of(model):
        why = refuse(head, stock_method)
        if why is not None:
            MODULE.say(f"a draft head keeps the stock path: {why}")
        else:
            copies[id(head)] = Copy(ops, head.weight.data)
    for part in model.modules() if copies else ():
        if type(part) is processor_class:
            put_in(part, copies)


def arm():
    from vllm.model_executor.layers.logits_processor import LogitsProcessor
    from vllm.model_executor.layers.vocab_parallel_embedding import UnquantizedEmbeddingMethod
    from vllm.v1.spec_decode.llm_base_proposer import SpecDecodeBaseProposer
    from vllm.v1.worker.gpu.spec_decode.speculator import DraftModelSpeculator

    opened = []

    def prepare_model(drafter):
        bk_kernels.stays(drafter.vllm_config, shared_workspace=False)
        if not opened:
            opened.append(make_ops(bk_kernels.library()))
        prepare(drafter.model, opened[0], LogitsProcessor, UnquantizedEmbeddingMethod)

    def after_loading(drafter_class):
        stock_load = drafter_class.load_model

        def load_model(self, target_model):
            stock_load(self, target_model)
            MODULE.prepare(prepare_model, self)

        drafter_class.load_model = load_model

    after_loading(DraftModelSpeculator)
    after_loading(SpecDecodeBaseProposer)
    MODULE.say("armed")


def register():
    """vLLM's entry point."""
    MODULE.register(arm)
