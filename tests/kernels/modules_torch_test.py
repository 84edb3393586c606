"""The kernel modules with real torch on the CPU: the operators' schemas, the prewarms, what a wrong kernel leads to.

The C entries are acted out on host memory from what their headers say. Skipped where torch is not installed.
"""

import ctypes as c
import sys
import threading
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


def moe_route(gate, job):
    x, w = rows(gate.x, gate.m, gate.k, gate.x_stride, torch.bfloat16).double(), at(gate.w, gate.n, gate.k).double()
    logits = x @ w.T
    score = logits.softmax(-1) if job.scoring == 1 else 1 / (1 + (-logits).exp())
    ids = torch.argsort(score, dim=-1, descending=True, stable=True)[:, :job.top_k]
    chosen = score.gather(1, ids)
    chosen = chosen / chosen.sum(-1, keepdim=True) if job.renormalise else chosen
    at(job.weights, gate.m, job.top_k, dtype=torch.float32).copy_(chosen * job.scale)
    at(job.ids, gate.m, job.top_k, dtype=torch.int32).copy_(ids)


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


ENTRIES = {entry.__name__: entry for entry in (moe_gate, moe_route, mhc_pre, mhc_post, mhc_post_pre, mhc_head, indexer_query, fp8_quantise, fp8_head, topk_select,
                                               markov_topk, swa_windows)}
REPEATED = torch.library.custom_op


class OnGpu:
    """A tensor of host memory that says it lies on a GPU."""

    is_cuda = True

    def __init__(self, tensor):
        self.tensor = tensor

    def __getattr__(self, name):
        return getattr(self.tensor, name)


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
        kernels.everywhere = lambda yes, question, group: (1, yes)
        plain, numbers = kernels.plain, kernels.numbers
        kernels.plain = lambda tensor, dtype, dims: plain(OnGpu(tensor), dtype, dims)
        kernels.numbers = lambda tensor, dtype, count: numbers(OnGpu(tensor), dtype, count)
        # A process registers an operator once; the tests load a module several times.
        def custom_op(name, *args, **kwargs):
            if name.startswith("bk::"):
                OPERATORS.append(name)
                name = f"{name}_{len(OPERATORS)}"
            return REPEATED(name, *args, **kwargs)

        self.enterContext(mock.patch.object(torch.library, "custom_op", custom_op))
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


    def test_a_compiled_model_keeps_the_stock_path_and_an_eager_one_is_served(self):
        module = self.load("moe_gate_sm121")

        class GateLinear(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.weight, self.bias, self.out_dtype = torch.nn.Parameter(torch.randn(32, 256).bfloat16(), requires_grad=False), None, torch.float32

            def forward(self, x):
                return torch.nn.functional.linear(x, self.weight).float(), None

        config = types.SimpleNamespace(model_config=types.SimpleNamespace(enable_sleep_mode=False),
                                       parallel_config=types.SimpleNamespace(use_ubatching=False))
        names = {"vllm.config": {"get_current_vllm_config": lambda: config},
                 "vllm.model_executor.layers.fused_moe.router.gate_linear": {"GateLinear": GateLinear}}
        made = {}
        for name, attributes in names.items():
            parts = name.split(".")
            for i in range(1, len(parts) + 1):
                made.setdefault(".".join(parts[:i]), types.ModuleType(".".join(parts[:i])))
            vars(made[name]).update(attributes)
        for name in made:  # not patch.dict(), which would take back what torch imports meanwhile
            self.addCleanup(sys.modules.pop, name)
        sys.modules.update(made)
        sys.modules["bk_kernels"].library = lambda: types.SimpleNamespace(bk_moe_workspace_bytes=Bytes())
        module.refuse = lambda gate: None
        module.serves = lambda gate, x: gate.bk_workspace is not None and x.shape[0] <= 32
        module.register()
        gate, x = GateLinear(), torch.randn(5, 256).bfloat16()
        self.assertIsNotNone(gate.bk_workspace, module.MODULE.reason)
        self.calls.clear()
        want = x.double() @ gate.weight.double().T
        self.assertLess((gate(x)[0].double() - want).abs().max(), 1e-4)
        self.assertEqual(self.calls, ["bk_moe_gate"])
        compiled = torch.compile(gate, backend="eager", fullgraph=True)
        self.assertTrue(torch.equal(compiled(x)[0], torch.nn.functional.linear(x, gate.weight).float()))
        self.assertEqual(self.calls, ["bk_moe_gate"])
        self.assertTrue(module.MODULE.armed)


class Route(OnHost):
    def router(self, scoring="softmax", renormalise=True):
        module = self.load("moe_route")
        runner = types.SimpleNamespace(gate=types.SimpleNamespace(weight=torch.randn(32, 256).bfloat16()),
                                       router=types.SimpleNamespace(top_k=4, renormalize=renormalise, scoring_func=scoring))
        return module.Router(types.SimpleNamespace(bk_moe_workspace_bytes=Bytes()), runner)

    def test_the_prewarm_agrees_in_every_scoring(self):
        for scoring in ("softmax", "sigmoid"):
            for renormalise in (True, False):
                self.router(scoring, renormalise).prewarm()
                self.assertEqual(self.calls, ["bk_moe_route"] * 5)

    def test_wrong_weights_and_wrong_experts_are_found(self):
        def weights(gate, route):
            at(route.weights, 1, dtype=torch.float32).add_(0.01)

        def other_expert(gate, route):
            ids = at(route.ids, gate.m, route.top_k, dtype=torch.int32)
            ids[0, 0] = next(i for i in range(32) if i not in ids[0].tolist())

        def twice(gate, route):
            at(route.ids, gate.m, route.top_k, dtype=torch.int32)[0, 1] = at(route.ids, 1, dtype=torch.int32)[0]

        def outside(gate, route):
            at(route.ids, 1, dtype=torch.int32).fill_(32)

        for wrong in (weights, other_expert, twice, outside):
            router = self.router()
            self.spoil = lambda entry, gate, route, wrong=wrong: wrong(gate, route)
            with self.subTest(wrong=wrong.__name__), self.assertRaisesRegex(Exception, "does not agree"):
                router.prewarm()


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
        self.assertTrue(copy.serves(OnGpu(wide)))
        for other in (torch.randn(33, 256).bfloat16(), torch.randn(6, 256), torch.randn(6, 512).bfloat16(), torch.randn(12, 256).bfloat16().T,
                      torch.randn(6, 260).bfloat16()[:, 4:], torch.randn(0, 256).bfloat16()):
            self.assertFalse(copy.serves(OnGpu(other)))
        self.assertFalse(copy.serves(wide))
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


class Ranks(unittest.TestCase):
    """The question that ranks settle, over the store that torch's ranks meet by."""

    WORLD = 3

    def answers(self, said, patience_s):
        """What each rank that asks hears; said: rank to its yes or no."""
        kernels, heard = sys.modules["bk_kernels"], {}
        server = torch.distributed.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)

        def ask(rank):
            mine = torch.distributed.TCPStore("127.0.0.1", server.port, is_master=False, wait_for_workers=False)
            store = torch.distributed.PrefixStore("default_pg", mine)
            heard[rank] = kernels.settle(store, "bk/tp:0/0/mhc/1", rank, self.WORLD, said[rank], patience_s)

        ranks = [threading.Thread(target=ask, args=(rank,)) for rank in said]
        for each in ranks:
            each.start()
        for each in ranks:
            each.join(60)
        return heard

    def test_all_hear_the_same(self):
        support.load("mhc", "0")
        self.assertEqual(self.answers({0: True, 1: True, 2: True}, 60), {0: True, 1: True, 2: True})
        self.assertEqual(self.answers({0: True, 1: False, 2: True}, 600), {0: False, 1: False, 2: False})
        self.assertEqual(self.answers({0: True, 2: True}, 0.2), {0: False, 2: False})


if __name__ == "__main__":
    unittest.main()
