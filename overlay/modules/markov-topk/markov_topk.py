"""Puts the kernels bk_topk_select and bk_markov_topk in place of the dense Markov bias of vLLM's DSpark drafter.

Loaded as a vLLM plugin. Nothing changes unless BK_MARKOV_TOPK is 512 (or 1). A draft position then keeps its 512 best tokens and gives the
others no chance; that truncated proposal is what the verifier is told of, so what it accepts has the same distribution as before.
Reduced vocabularies, scaled logits and larger batches take the stock path; whatever fails takes it for the rest of the boot.
"""

import ctypes as c

import bk_kernels

COUNT, RANK = 512, 256
MAX_BATCH, MAX_ROWS, MAX_VOCABULARY = 64, 1024, 1 << 20
PREWARM_REQUESTS = (1, 4)
MODULE = bk_kernels.Module("markov_topk", "BK_MARKOV_TOPK", {"": None, "0": None, "1": "on", "512": "on"})


class Markov(c.Structure):
    _fields_ = [("base", c.c_void_p), ("idx", c.c_void_p), ("prev", c.c_void_p), ("w1", c.c_void_p), ("w2", c.c_void_p),
                ("logits", c.c_void_p), ("logits_stride", c.c_int64), ("batch", c.c_int), ("count", c.c_int), ("v", c.c_int),
                ("fp32", c.c_int)]


class Select(c.Structure):
    _fields_ = [("logits", c.c_void_p), ("values", c.c_void_p), ("idx", c.c_void_p), ("logits_stride", c.c_int64),
                ("batch", c.c_int), ("v", c.c_int), ("count", c.c_int), ("fp32", c.c_int)]


def make_ops(so):
    """The operators bk::topk_select and bk::markov_topk."""
    import typing

    import torch
    from torch import Tensor

    def chosen(logits):
        shape = (logits.shape[0], COUNT)
        return logits.new_empty(shape), logits.new_empty(shape, dtype=torch.int64)

    def wide(base, w2, vocabulary):
        return base.new_empty((base.shape[0], vocabulary))

    @torch.library.custom_op("bk::topk_select", mutates_args=())
    def select(logits: Tensor) -> typing.Tuple[Tensor, Tensor]:
        values, idx = chosen(logits)
        bk_kernels.launch(so, "bk_topk_select", logits.device,
                          Select(logits.data_ptr(), values.data_ptr(), idx.data_ptr(), logits.stride(0), logits.shape[0],
                                 logits.shape[1], COUNT, int(logits.dtype == torch.float32)))
        return values, idx

    @torch.library.custom_op("bk::markov_topk", mutates_args=())
    def markov(base: Tensor, idx: Tensor, prev: Tensor, w1: Tensor, w2: Tensor, vocabulary: int) -> Tensor:
        logits = wide(base, w2, vocabulary)
        bk_kernels.launch(so, "bk_markov_topk", base.device,
                          Markov(base.data_ptr(), idx.data_ptr(), prev.data_ptr(), w1.data_ptr(), w2.data_ptr(), logits.data_ptr(),
                                 logits.stride(0), base.shape[0], COUNT, vocabulary, int(base.dtype == torch.float32)))
        return logits

    select.register_fake(chosen)
    markov.register_fake(lambda base, idx, prev, w1, w2, vocabulary: wide(base, w2, vocabulary))
    return select, markov


class Head:
    """A drafter's Markov head through the kernels: whole W1 and W2 on this rank."""

    def __init__(self, ops, w1, w2, vocabulary):
        self.select, self.markov = ops
        self.w1, self.w2, self.vocabulary = w1, w2, vocabulary
        self.prewarm()

    def bias(self, base, idx, prev):
        """The dense logits of one position: -inf but for the chosen tokens."""
        return self.markov(base, idx, prev, self.w1, self.w2, self.vocabulary)

    def prewarm(self):
        """Both kernels and both types, outside any capture, on this head's weights."""
        import torch

        device = self.w1.device
        draw = torch.Generator(device=device).manual_seed(1)
        for requests in PREWARM_REQUESTS:
            for dtype in (torch.float32, torch.bfloat16):
                logits = torch.randn(requests, self.vocabulary, generator=draw, device=device, dtype=torch.float32).to(dtype)
                prev = torch.randint(0, self.vocabulary, (requests,), generator=draw, device=device, dtype=torch.int64)
                values, idx = self.select(logits)
                right = torch.equal(values.sort(-1).values, torch.topk(logits, COUNT).values.sort(-1).values)
                right = right and torch.equal(values, logits.gather(1, idx)) and bool((idx[:, 1:] > idx[:, :-1]).all())
                got = self.bias(values, idx, prev)
                want = values.double() + torch.einsum("bkr,br->bk", self.w2[idx].double(), self.w1[prev].double())
                right = right and bool((got > -torch.inf).sum(-1).eq(COUNT).all())
                if not right or not bk_kernels.agrees(got.gather(1, idx), want, 1e-4 if dtype == torch.float32 else 1e-2):
                    raise bk_kernels.Disarmed(f"the prewarm with {requests} requests does not agree with torch")


def refuse(model, vocabulary, reduced):
    """Why a drafter keeps the stock path, or None."""
    head, processor = model.model.markov_head, model.logits_processor
    if reduced or model.draft_id_to_target_id is not None:
        return "its vocabulary is not the target's"
    if processor.scale != 1.0 or processor.soft_cap is not None or processor.org_vocab_size != vocabulary:
        return "its logits are scaled, capped or cut"
    for weight in (head.markov_w1.weight, head.markov_w2.weight):
        if not bk_kernels.plain(weight, "bfloat16", 2) or weight.shape[1] != RANK:
            return "a Markov weight is no contiguous bf16 matrix of rank 256 on a GPU"
    if not COUNT <= vocabulary <= MAX_VOCABULARY or vocabulary % 8:
        return f"a vocabulary of {vocabulary}"
    return None


def whole(embedding, ranks, gather):
    """A vocabulary-parallel weight with the rows of every rank. Raises Disarmed when padding lies between the ranks' rows."""
    if ranks == 1:
        return embedding.weight.data
    if embedding.num_embeddings_padded != embedding.org_vocab_size:
        raise bk_kernels.Disarmed("the vocabulary does not divide evenly between the ranks")
    return gather(embedding.weight.data, 0).contiguous()


def prepare(speculator, model, ranks, gather):
    """Gives a drafter its head. The ranks agree before they gather and after the prewarm."""
    opened = []

    def open_library():
        bk_kernels.stays(speculator.vllm_config, shared_workspace=False)
        why = refuse(model, speculator.vocab_size, speculator._d2t_scatter_index is not None)
        if why is not None:
            raise bk_kernels.Disarmed(why)
        opened.append(make_ops(bk_kernels.library()))

    def open_head():
        head = model.model.markov_head
        speculator.bk_head = Head(opened[0], *[whole(part, ranks, gather) for part in (head.markov_w1, head.markov_w2)],
                                  speculator.vocab_size)

    if MODULE.prepare(open_library):
        MODULE.prepare(open_head)


def serves(head, requests, steps):
    return head is not None and 1 <= requests <= MAX_BATCH and requests * steps <= MAX_ROWS


def choose(speculator, requests, hidden):
    """The base logits' best tokens, [steps, requests, 512] each: a step's rows lie together, as its launch needs them."""
    steps = speculator.num_speculative_steps
    places = speculator.sample_indices[:requests * steps].view(requests, steps).t().reshape(-1)
    logits = speculator.model.compute_draft_logits(hidden[places])
    values, idx = speculator.bk_head.select(logits)
    return values.view(steps, requests, COUNT), idx.view(steps, requests, COUNT)


def sample(speculator, requests, values, idx, gumbel_sample):
    """Draws the drafts from left to right, each with the bias of the one before it."""
    steps = speculator.num_speculative_steps
    owners = speculator.sample_idx_mapping[:requests * steps].view(requests, steps)
    positions = speculator.sample_pos[:requests * steps].view(requests, steps)
    prev = speculator.input_buffers.input_ids[speculator._anchor_idx[:requests]].long()
    for step in range(steps):
        logits = speculator.bk_head.bias(values[step], idx[step], prev.contiguous())
        if speculator.draft_logits is None:
            prev = logits.argmax(dim=-1)
        else:  # a draft is verified with the noise of the position before its own
            prev = gumbel_sample(logits, owners[:, step], speculator.temperature, speculator.seeds, positions[:, step] - 1,
                                 apply_temperature=True, output_processed_logits=speculator.draft_logits,
                                 output_processed_logits_col=speculator._step_cols[step], use_fp64=speculator.use_fp64_gumbel)
        speculator.draft_tokens[:requests, step] = prev


def replacement(stock, gumbel_sample):
    """What stands in for DSparkSpeculator._sample_sequential, of the same signature."""

    def run(self, num_reqs, head_hidden):
        sample(self, num_reqs, *choose(self, num_reqs, head_hidden), gumbel_sample)
        return True

    def _sample_sequential(self, num_reqs, head_hidden):
        if MODULE.fits(serves, getattr(self, "bk_head", None), num_reqs, self.num_speculative_steps):
            if MODULE.attempt(run, self, num_reqs, head_hidden):
                MODULE.say(f"serves the Markov bias (the {COUNT} best of {self.bk_head.vocabulary} tokens)")
                return
        stock(self, num_reqs, head_hidden)

    return _sample_sequential


def arm():
    from vllm.distributed import get_tensor_model_parallel_world_size, tensor_model_parallel_all_gather
    from vllm.v1.worker.gpu.sample.gumbel import gumbel_sample
    from vllm.v1.worker.gpu.spec_decode.dspark.speculator import DSparkSpeculator

    stock_load = DSparkSpeculator.load_draft_model

    def load_draft_model(self, target_model, target_attn_layer_names):
        model = stock_load(self, target_model, target_attn_layer_names)
        prepare(self, model, get_tensor_model_parallel_world_size(), tensor_model_parallel_all_gather)
        return model

    DSparkSpeculator.load_draft_model = load_draft_model
    DSparkSpeculator._sample_sequential = replacement(DSparkSpeculator._sample_sequential, gumbel_sample)
    MODULE.say("armed")


def register():
    """vLLM's entry point."""
    MODULE.register(arm)
