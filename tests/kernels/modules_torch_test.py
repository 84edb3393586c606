"""The kernel modules with real torch on the CPU: the operators' schemas, the prewarms, what a wrong kernel leads to.

The C entries are acted out on host memory from what their headers say. Skipped where torch is not installed.
"""

import ctypes as c
import sys
import types
import unittest
from unittest import mock

import modules_support as support

try:
    import torch
except ImportError:
    support.without_torch(__file__)

EPS = 1e-6


def at(address, *shape, dtype=torch.bfloat16):
    """Host memory as a tensor."""
    count = 1
    for size in shape:
        count *= size
    raw = (c.c_uint8 * (count * torch.empty(0, dtype=dtype).element_size())).from_address(address)
    return torch.frombuffer(raw, dtype=dtype).view(shape)


def rows(address, count, width, stride, dtype):
    """Rows that lie apart."""
    return at(address, (count - 1) * stride + width, dtype=dtype).as_strided((count, width), (stride, 1))


def mhc_pre(job):
    x, fn = at(job.x, job.t, 4, job.h).double(), at(job.fn, 24, 4 * job.h, dtype=torch.float32).double()
    scale, base = at(job.scale, 3, dtype=torch.float32).double(), at(job.base, 24, dtype=torch.float32).double()
    for token in range(job.t):
        flat = x[token].flatten()
        mix = (fn @ flat) / (flat.square().mean() + EPS).sqrt()
        pre = 1 / (1 + (-(mix[:4] * scale[0] + base[:4])).exp()) + EPS
        at(job.post, job.t, 4, dtype=torch.float32)[token] = (2 / (1 + (-(mix[4:8] * scale[1] + base[4:8])).exp())).float()
        comb = (mix[8:] * scale[2] + base[8:]).view(4, 4).exp()
        comb = comb / comb.sum(1, keepdim=True) + EPS
        for turn in range(20):
            if turn:
                comb = comb / (comb.sum(1, keepdim=True) + EPS)
            comb = comb / (comb.sum(0, keepdim=True) + EPS)
        at(job.comb, job.t, 4, 4, dtype=torch.float32)[token] = comb.float()
        layer_in = pre @ x[token]
        if job.norm:
            layer_in = layer_in / (layer_in.square().mean() + EPS).sqrt() * at(job.norm, job.h).double()
        at(job.layer_in, job.t, job.h)[token] = layer_in.bfloat16()


def mhc_post(job):
    x, y = at(job.x, job.t, 4, job.h).double(), at(job.y, job.t, job.h).double()
    post, comb = at(job.post, job.t, 4, dtype=torch.float32), at(job.comb, job.t, 4, 4, dtype=torch.float32)
    for stream in range(4):
        new = post[:, stream, None].double() * y + sum(comb[:, j, stream, None].double() * x[:, j] for j in range(4))
        at(job.out, job.t, 4, job.h)[:, stream] = new.bfloat16()


def mhc_post_pre(before, job):
    mhc_post(before)
    mhc_pre(job)


def mhc_head(job):
    x, fn = at(job.x, job.t, 4, job.h).double(), at(job.fn, 4, 4 * job.h, dtype=torch.float32).double()
    scale, base = at(job.scale, 1, dtype=torch.float32).double(), at(job.base, 4, dtype=torch.float32).double()
    for token in range(job.t):
        flat = x[token].flatten()
        pre = 1 / (1 + (-((fn @ flat) / (flat.square().mean() + EPS).sqrt() * scale + base)).exp()) + EPS
        at(job.out, job.t, job.h)[token] = (pre @ x[token]).bfloat16()


def moe_gate(job):
    x, w = rows(job.x, job.m, job.k, job.x_stride, torch.bfloat16).double(), at(job.w, job.n, job.k).double()
    at(job.logits, job.m, job.n, dtype=torch.float32).copy_(x @ w.T)


def indexer_query(job):
    q = at(job.q, job.t, 64, 128).float().clone()
    weight = at(job.weight, job.t, 64, dtype=torch.bfloat16 if job.weight_bf16 else torch.float32).float()
    positions = at(job.positions, job.t, dtype=torch.int64)
    table = at(job.cos_sin, job.max_position, 64, dtype=torch.float32)
    for token in range(job.t):
        cos, sin = table[positions[token], :32], table[positions[token], 32:]
        even, odd = q[token, :, 64::2].clone(), q[token, :, 65::2].clone()
        q[token, :, 64::2] = (even * cos - odd * sin).bfloat16().float()
        q[token, :, 65::2] = (even * sin + odd * cos).bfloat16().float()
    scale = 2 ** torch.ceil(torch.log2(q.abs().amax(-1).clamp(min=1e-4).double() / 448))
    at(job.q8, job.t, 64, 128, dtype=torch.float8_e4m3fn).copy_((q / scale[..., None]).float())
    at(job.weight_out, job.t, 64, dtype=torch.float32).copy_(weight * scale * (128 * 64) ** -0.5)


def fp8_quantise(job):
    w = at(job.w, job.v, job.k).float()
    scale = w.abs().amax(1).clamp(min=1e-6) / 448
    at(job.scale, job.v, dtype=torch.float32).copy_(scale)
    at(job.w8, job.v, job.k, dtype=torch.float8_e4m3fn).copy_(w / scale[:, None])


def fp8_head(job):
    kind = torch.float32 if job.logits_fp32 else torch.bfloat16
    w = at(job.w8, job.v, job.k, dtype=torch.float8_e4m3fn).double() * at(job.scale, job.v, dtype=torch.float32).double()[:, None]
    x = rows(job.x, job.m, job.k, job.x_stride, torch.bfloat16).double()
    rows(job.logits, job.m, job.v, job.logits_stride, kind).copy_(x @ w.T)


def topk_select(job):
    kind = torch.float32 if job.fp32 else torch.bfloat16
    logits = rows(job.logits, job.batch, job.v, job.logits_stride, kind)
    idx = torch.argsort(logits.float(), dim=-1, descending=True, stable=True)[:, :job.count].sort(-1).values
    at(job.idx, job.batch, job.count, dtype=torch.int64).copy_(idx)
    at(job.values, job.batch, job.count, dtype=kind).copy_(logits.gather(1, idx))


def markov_topk(job):
    kind = torch.float32 if job.fp32 else torch.bfloat16
    base, idx = at(job.base, job.batch, job.count, dtype=kind), at(job.idx, job.batch, job.count, dtype=torch.int64)
    w1, w2 = at(job.w1, job.v, 256).double(), at(job.w2, job.v, 256).double()
    out = rows(job.logits, job.batch, job.v, job.logits_stride, kind)
    out.fill_(-torch.inf)
    for b, prev in enumerate(at(job.prev, job.batch, dtype=torch.int64).tolist()):
        out[b, idx[b]] = (base[b].double() + w2[idx[b]] @ w1[prev]).to(kind)


def swa_windows(job):
    rows_of, valid = at(job.token_rows, job.first + job.t, dtype=torch.int32), at(job.valid, job.first + job.t, dtype=torch.uint8)
    for place in range(job.t):
        token = job.first + place
        row = int(rows_of[token])
        begin, after = at(job.query_start, row + 2, dtype=torch.int32)[row:].tolist()
        seq_len = int(at(job.seq_lens, row + 1, dtype=torch.int32)[row])
        prefix = seq_len - (after - begin)
        position = prefix + token - begin
        seen = range(max(position - 127, 0), position + 1) if job.causal else range(max(prefix - 128, 0), seq_len)
        seen = seen if valid[token] else []
        table = at(job.block_table + 4 * row * job.table_stride, job.width, dtype=torch.int32)
        out = at(job.slots + 4 * place * job.slots_stride, job.list_width, dtype=torch.int32)
        out.copy_(torch.tensor([int(table[p // 64]) * 64 + p % 64 for p in seen] + [-1] * (job.list_width - len(seen))))
        at(job.lengths, job.t, dtype=torch.int32)[place] = len(seen)


ENTRIES = {entry.__name__: entry for entry in (moe_gate, mhc_pre, mhc_post, mhc_post_pre, mhc_head, indexer_query, fp8_quantise, fp8_head, topk_select,
                                               markov_topk, swa_windows)}
REPEATED = torch.library.custom_op


class OnHost(unittest.TestCase):
    """Entries run on the host; `spoil` stands for a kernel that computes something else."""

    def load(self, name, knob="1"):
        module = support.load(name, knob)
        kernels = sys.modules["bk_kernels"]
        self.calls, self.spoil = [], None

        def launch(so, entry, device, *jobs):
            self.calls.append(entry)
            ENTRIES[entry.removeprefix("bk_")](*jobs)
            if self.spoil is not None:
                self.spoil(entry, *jobs)

        kernels.launch = launch
        kernels.library = lambda: types.SimpleNamespace(bk_mhc_workspace_bytes=lambda hidden: 64)
        kernels.this_device = lambda: torch.device("cpu")
        kernels.everywhere = lambda yes: yes
        plain = kernels.plain
        kernels.plain = lambda tensor, dtype, dims: plain(mock.Mock(wraps=tensor, dtype=tensor.dtype, is_cuda=True), dtype, dims)
        # A process registers an operator once; the tests load a module several times.
        self.enterContext(mock.patch.object(torch.library, "custom_op",
                                            lambda name, **kwargs: REPEATED(f"{name}_{len(OPERATORS)}_{OPERATORS.append(1)}", **kwargs)))
        return module


OPERATORS = []


class Gate(OnHost):
    def test_the_prewarm_agrees_and_a_wrong_logit_is_found(self):
        module = self.load("moe_gate_sm121")
        gate, so = types.SimpleNamespace(weight=torch.randn(32, 256).bfloat16()), types.SimpleNamespace(bk_moe_workspace_bytes=Bytes())
        op = module.make_op(so)
        self.assertEqual(module.prepare(gate, so, op).numel(), 64)
        self.spoil = lambda entry, job: at(job.logits, 1, dtype=torch.float32).add_(0.01)
        with self.assertRaisesRegex(Exception, "does not agree"):
            module.prepare(gate, so, op)


class Bytes:
    """Stands for a C function that gives a size."""

    restype = None

    def __call__(self, _):
        return 64


class Mhc(OnHost):
    def setUp(self):
        self.module = self.load("mhc")
        self.module.PREWARM_TOKENS = (1, 16, 17)
        self.kernels = self.module.Kernels()
        self.kernels.ops = self.module.make_ops(None)

    def test_the_prewarm_runs_every_entry_and_agrees(self):
        self.kernels.prewarm(512, 64, torch.device("cpu"))
        self.assertEqual(set(self.calls), {"bk_mhc_pre", "bk_mhc_post", "bk_mhc_post_pre", "bk_mhc_head"})

    def test_a_wrong_layer_input_is_found(self):
        def spoil(entry, *jobs):
            if entry.endswith("pre"):
                at(jobs[-1].layer_in, jobs[-1].t, jobs[-1].h).mul_(1.05)

        self.spoil = spoil
        with self.assertRaisesRegex(Exception, "does not agree"):
            self.kernels.prewarm(512, 64, torch.device("cpu"))

    def test_a_wrong_head_is_found(self):
        self.spoil = lambda entry, *jobs: at(jobs[0].out, jobs[0].t, jobs[0].h).mul_(1.05) if entry == "bk_mhc_head" else None
        with self.assertRaisesRegex(Exception, "of the head"):
            self.kernels.prewarm(512, 64, torch.device("cpu"))

    def test_what_stands_in_has_the_shapes_of_what_it_replaces(self):
        self.kernels.workspace, self.kernels.hidden = torch.zeros(64, dtype=torch.uint8), 512
        stock = mock.Mock(return_value="stock")
        pre, post, post_pre, head = self.module.replacements(self.kernels, stock, stock, stock, stock)
        x, y = torch.randn(3, 4, 512).bfloat16(), torch.randn(3, 512).bfloat16()
        fn, scale, base = torch.randn(24, 2048), torch.ones(3), torch.zeros(24)
        norm = torch.ones(512).bfloat16()
        constants = (1e-6, 1e-6, 1e-6, 2.0, 20)
        mix, comb, layer_in = pre(x, fn, scale, base, *constants, norm_weight=norm, norm_eps=1e-6)
        self.assertEqual((mix.shape, comb.shape, layer_in.shape), ((3, 4, 1), (3, 4, 4), (3, 512)))
        new, mix, comb, layer_in = post_pre(y, x, mix, comb, fn, scale, base, *constants, n_splits=1, tile_n=1, norm_weight=norm)
        self.assertEqual((new.shape, mix.shape, comb.shape, layer_in.shape), ((3, 4, 512), (3, 4, 1), (3, 4, 4), (3, 512)))
        self.assertEqual(post(y, x, mix, comb).shape, (3, 4, 512))
        self.assertEqual(head(x, fn[:4].contiguous(), scale[:1], base[:4], 1e-6, 1e-6).shape, (3, 512))
        stock.assert_not_called()
        self.assertEqual(pre(x, fn, scale, base, 1e-5, 1e-6, 1e-6, 2.0, 20), "stock")
        self.assertEqual(post_pre(y, x, mix, comb, fn, scale, base, 1e-6, 1e-6, 1e-6, 2.0, 10), "stock")
        self.assertEqual(post(y.float(), x, mix, comb), "stock")
        self.assertEqual(head(x, fn[:4].contiguous(), scale[:1], base[:4], 1e-6, 1e-5), "stock")


class Indexer(OnHost):
    def setUp(self):
        self.module = self.load("mla_indexer")
        self.kernel = self.module.Kernel()

    def test_the_prewarm_agrees_and_the_replacement_serves_both_types_of_weight(self):
        self.kernel.open()
        stock = mock.Mock(return_value="stock")
        run = self.module.replacement(self.kernel, stock)
        q, weight = torch.randn(5, 64, 128).bfloat16(), torch.randn(5, 64)
        table = torch.cat((torch.ones(10, 32), torch.zeros(10, 32)), -1)
        args = (torch.arange(5), q, table)
        for given in (weight, weight.bfloat16()):
            q8, out = run(*args, given, 128**-0.5, 64**-0.5)
            self.assertEqual((q8.dtype, q8.shape, out.dtype, out.shape), (torch.float8_e4m3fn, q.shape, torch.float32, weight.shape))
        stock.assert_not_called()
        self.assertEqual(run(*args, weight, 1.0, 64**-0.5), "stock")
        self.assertEqual(run(*args, weight, 128**-0.5, 64**-0.5, use_fp4=True), "stock")
        self.assertEqual(run(torch.arange(5).int(), q, table, weight, 128**-0.5, 64**-0.5), "stock")

    def test_a_wrong_weight_is_found(self):
        self.spoil = lambda entry, job: at(job.weight_out, job.t, 64, dtype=torch.float32).mul_(1.001)
        with self.assertRaisesRegex(Exception, "does not agree"):
            self.kernel.open()


class Head(OnHost):
    def setUp(self):
        self.module = self.load("spec_fp8_head")
        self.weight = torch.randn(48, 256).bfloat16()

    def test_a_copy_agrees_and_serves_up_to_32_rows(self):
        copy = self.module.Copy(self.module.make_ops(None), self.weight)
        wide = torch.randn(6, 512).bfloat16()[:, :256]
        self.assertTrue(copy.serves(wide))
        self.assertFalse(copy.serves(torch.randn(33, 256).bfloat16()))
        self.assertFalse(copy.serves(torch.randn(6, 256)))
        for fp32, kind in ((True, torch.float32), (False, torch.bfloat16)):
            logits = copy(wide, fp32)
            self.assertEqual(logits.dtype, kind)
            want = wide.float() @ self.weight.float().T
            self.assertLess((logits.float() - want).norm() / want.norm(), 0.05)

    def test_a_wrong_copy_and_wrong_logits_are_found(self):
        for entry, wrong in (("bk_fp8_quantise", lambda job: at(job.scale, job.v, dtype=torch.float32).mul_(1.2)),
                             ("bk_fp8_head", lambda job: at(job.logits, 1, dtype=torch.float32).add_(1))):
            self.spoil = lambda name, job, entry=entry, wrong=wrong: wrong(job) if name == entry else None
            with self.assertRaisesRegex(Exception, "does not agree"):
                self.module.Copy(self.module.make_ops(None), self.weight)


class Markov(OnHost):
    VOCABULARY, STEPS = 1024, 3

    def setUp(self):
        self.module = self.load("markov_topk")
        self.w1, self.w2 = torch.randn(self.VOCABULARY, 256).bfloat16() / 8, torch.randn(self.VOCABULARY, 256).bfloat16() / 8

    def speculator(self, requests, probabilistic):
        """As much of a DSpark drafter as the loop reads."""
        made = types.SimpleNamespace(num_speculative_steps=self.STEPS, temperature=None, seeds=None, use_fp64_gumbel=False)
        made.sample_indices = torch.randperm(requests * self.STEPS)
        made.sample_idx_mapping = torch.arange(requests).repeat_interleave(self.STEPS)
        made.sample_pos = torch.arange(requests * self.STEPS) + 100
        made.input_buffers = types.SimpleNamespace(input_ids=torch.randint(0, self.VOCABULARY, (requests * self.STEPS,), dtype=torch.int32))
        made._anchor_idx = torch.arange(requests) * self.STEPS
        made._step_cols = torch.arange(self.STEPS)
        made.draft_logits = torch.zeros(1) if probabilistic else None
        made.draft_tokens = torch.full((requests, self.STEPS), -1)
        made.logits = torch.randn(requests * self.STEPS, self.VOCABULARY)
        made.model = types.SimpleNamespace(compute_draft_logits=lambda hidden: made.logits[hidden[:, 0].long()])
        made.bk_head = self.module.Head(self.module.make_ops(None), self.w1, self.w2, self.VOCABULARY)
        return made

    def dense(self, made, requests, draw):
        """The same loop over all tokens, from the definition; draw(logits, owner's step) picks."""
        drafts = torch.empty(requests, self.STEPS, dtype=torch.long)
        for request in range(requests):
            prev = int(made.input_buffers.input_ids[request * self.STEPS])
            for step in range(self.STEPS):
                base = made.logits[made.sample_indices[request * self.STEPS + step]]
                kept = torch.topk(base, 512).indices
                logits = torch.full_like(base, -torch.inf)
                logits[kept] = (base[kept].double() + self.w2[kept].double() @ self.w1[prev].double()).float()
                prev = draw(logits)
                drafts[request, step] = prev
        return drafts

    def test_drafts_are_those_of_the_truncated_proposal(self):
        for probabilistic in (False, True):
            for requests in (1, 4):
                made = self.speculator(requests, probabilistic)
                asked = []

                def gumbel_sample(logits, owners, temperature, seeds, positions, **kwargs):
                    asked.append((owners.tolist(), positions.tolist(), int(kwargs["output_processed_logits_col"])))
                    return logits.topk(2).indices[:, 1]

                run = self.module.replacement(mock.Mock(side_effect=AssertionError), gumbel_sample)
                hidden = torch.arange(requests * self.STEPS).float().unsqueeze(-1)
                run(made, requests, hidden)
                draw = (lambda logits: int(logits.topk(2).indices[1])) if probabilistic else (lambda logits: int(logits.argmax()))
                self.assertTrue(torch.equal(made.draft_tokens, self.dense(made, requests, draw)))
                if probabilistic:
                    self.assertEqual(asked, [(list(range(requests)), [99 + step + self.STEPS * r for r in range(requests)], step)
                                             for step in range(self.STEPS)])

    def test_what_fails_gives_the_stock_drafts_and_disarms(self):
        made = self.speculator(1, False)
        made.model.compute_draft_logits = mock.Mock(side_effect=RuntimeError("no memory"))
        stock = mock.Mock()
        run = self.module.replacement(stock, None)
        run(made, 1, torch.zeros(3, 1))
        stock.assert_called_once()
        self.assertIn("no memory", self.module.MODULE.reason)

    def test_a_wrong_bias_and_a_wrong_choice_are_found(self):
        for entry, wrong in (("bk_markov_topk", lambda job: at(job.logits, job.v, dtype=torch.float32).add_(0.1)),
                             ("bk_topk_select", lambda job: at(job.idx, 1, dtype=torch.int64).fill_(7))):
            self.spoil = lambda name, job, entry=entry, wrong=wrong: wrong(job) if name == entry and job.fp32 else None
            with self.assertRaisesRegex(Exception, "does not agree"):
                self.module.Head(self.module.make_ops(None), self.w1, self.w2, self.VOCABULARY)


class Windows(OnHost):
    def setUp(self):
        self.module = self.load("mla_sparse_swa")
        self.kernel = self.module.Kernel()

    def test_the_prewarm_agrees_and_a_wrong_list_is_found(self):
        self.kernel.open(torch.device("cpu"))
        self.assertTrue(self.kernel.ready)
        self.spoil = lambda entry, job: at(job.slots, 1, dtype=torch.int32).add_(1)
        with self.assertRaisesRegex(Exception, "does not agree"):
            self.module.Kernel().open(torch.device("cpu"))


if __name__ == "__main__":
    unittest.main()
