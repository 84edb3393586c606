"""The DeepSeek V4 modules against stand-ins for torch and vLLM: how they arm, what falls back, what disarms for good."""

import sys
import types
import unittest
from unittest import mock

from modules_support import load

sys.modules["torch"] = None  # may not be imported here, installed or not


class Tensor:
    """As much of a tensor as the modules look at."""

    def __init__(self, *shape, dtype="bfloat16", is_cuda=True, contiguous=True, address=64):
        self.shape, self.dtype, self.is_cuda, self.contiguous, self.address = shape, f"torch.{dtype}", is_cuda, contiguous, address
        self.device = "gpu"

    def dim(self):
        return len(self.shape)

    def stride(self, axis):
        size = 1
        for width in self.shape[axis % len(self.shape) + 1:]:
            size *= width
        return size

    def is_contiguous(self):
        return self.contiguous

    def data_ptr(self):
        return self.address

    def numel(self):
        size = 1
        for width in self.shape:
            size *= width
        return size

    def unsqueeze(self, _):
        return Tensor(*self.shape, 1, dtype=self.dtype[6:])


def engine(**modules):
    """Stand-ins for vLLM's modules, with these attributes, until the test ends."""
    made = {}
    for name, attributes in modules.items():
        parts = ["vllm"] + name.split("__")
        for i in range(1, len(parts) + 1):
            path = ".".join(parts[:i])
            made.setdefault(path, types.ModuleType(path))
            if i > 1:
                setattr(made[".".join(parts[:i - 1])], parts[i - 1], made[path])
        vars(made[".".join(parts)]).update(attributes)
    return mock.patch.dict(sys.modules, made)


def stock(name):
    return lambda *args, **kwargs: ("stock", name)


class Layer:
    """vLLM's decoder layer, as the module for mhc reads it."""

    hc_mult, hc_sinkhorn_iters, hc_post_alpha, hc_eps, rms_norm_eps, hidden_size = 4, 20, 2.0, 1e-6, 1e-6, 4096

    def __init__(self, vllm_config, prefix="", **changed):
        self.hc_attn_fn = Tensor(24, 16384, dtype="float32")
        self.attn_norm = self.ffn_norm = types.SimpleNamespace(variance_epsilon=1e-6)
        vars(self).update(changed)


def config(batches=False, sleeps=False):
    return types.SimpleNamespace(parallel_config=types.SimpleNamespace(use_ubatching=batches),
                                 model_config=types.SimpleNamespace(enable_sleep_mode=sleeps))


class Armed(unittest.TestCase):
    """A module armed in a stand-in engine."""

    def arm(self, name, agreed=True, opens=True, **modules):
        module = load(name, "1")
        kernels = sys.modules["bk_kernels"]
        self.votes = []
        kernels.everywhere = lambda yes, question, group: (1 if agreed else 2, self.votes.append(yes) or (yes and agreed))
        if opens:
            kernels.library = lambda: types.SimpleNamespace(bk_mhc_workspace_bytes=lambda hidden: 0)
        self.enterContext(engine(**modules))
        module.register()
        self.assertTrue(module.MODULE.armed, module.MODULE.reason)
        return module


class Mhc(Armed):
    CONSTANTS = (1e-6, 1e-6, 1e-6, 2.0, 20)

    def setUp(self):
        class Fresh(Layer):
            pass

        self.model = dict(DeepseekV4DecoderLayer=Fresh, mhc_pre_tilelang=stock("pre"), mhc_post_tilelang=stock("post"),
                          mhc_fused_post_pre_tilelang=stock("both"), hc_head_fused_kernel_tilelang=stock("head"))

    def armed(self, **how):
        drafts = {"mhc_post_tilelang": stock("post")}
        module = self.arm("mhc", models__deepseek_v4__nvidia__model=self.model, models__deepseek_v4__nvidia__mtp=dict(drafts),
                          models__deepseek_v4__nvidia__dspark=dict(drafts), **how)
        module.make_ops = lambda so: tuple(lambda *args, name=name: self.run_kernel(name, args) for name in ("pre", "post", "both", "head"))
        module.Kernels.prewarm = lambda self, *_: None
        self.failing = False
        nvidia = sys.modules["vllm.models.deepseek_v4.nvidia"]
        self.assertIs(nvidia.mtp.mhc_post_tilelang, nvidia.model.mhc_post_tilelang)
        self.assertIs(nvidia.dspark.mhc_post_tilelang, nvidia.model.mhc_post_tilelang)
        self.assertIs(nvidia.dspark.hc_head_fused_kernel_tilelang, nvidia.mtp.hc_head_fused_kernel_tilelang)
        return module, nvidia.model

    def run_kernel(self, name, args):
        if self.failing:
            raise RuntimeError("launch failed")
        t, mix = args[0].shape[0], [Tensor(args[0].shape[0], 4, dtype="float32"), Tensor(args[0].shape[0], 4, 4, dtype="float32")]
        return {"pre": (*mix, Tensor(t, 4096)), "post": Tensor(t, 4, 4096), "both": (Tensor(t, 4, 4096), *mix, Tensor(t, 4096)),
                "head": Tensor(t, 4096)}[name]

    def calls(self, model, t=6, **changed):
        x = changed.get("x", Tensor(t, 4, 4096))
        fn = changed.get("fn", Tensor(24, 16384, dtype="float32"))
        mix, comb = changed.get("mix", Tensor(t, 4, 1, dtype="float32")), changed.get("comb", Tensor(t, 4, 4, dtype="float32"))
        numbers, y, norm = changed.get("numbers", self.CONSTANTS), changed.get("y", Tensor(t, 4096)), changed.get("norm", Tensor(4096))
        scale, base = changed.get("scale", Tensor(3, dtype="float32")), changed.get("base", Tensor(24, dtype="float32"))
        head = [Tensor(*shape, dtype="float32") for shape in ((4, 16384), (1,), (4,))]
        return [model.mhc_pre_tilelang(x, fn, scale, base, *numbers, norm_weight=norm, norm_eps=1e-6),
                model.mhc_post_tilelang(y, x, mix, comb),
                model.mhc_fused_post_pre_tilelang(y, x, mix, comb, fn, scale, base, *numbers, n_splits=1, tile_n=1),
                model.hc_head_fused_kernel_tilelang(x, *head, numbers[0], numbers[1])]

    def test_served_after_the_first_layer_and_not_before(self):
        module, model = self.armed()
        self.assertEqual(self.calls(model), [("stock", name) for name in ("pre", "post", "both", "head")])
        model.DeepseekV4DecoderLayer(config())
        model.DeepseekV4DecoderLayer(config())
        self.assertEqual(self.votes, [True])
        pre, post, both, head = self.calls(model)
        self.assertEqual(head.shape, (6, 4096))
        self.assertEqual([len(pre), post.shape, len(both)], [3, (6, 4, 4096), 4])
        self.assertEqual((pre[0].shape, both[1].shape), ((6, 4, 1), (6, 4, 1)))
        self.assertIn("serves hyper-connections (4 streams of 4096)", module.MODULE.said)

    def test_other_numbers_shapes_and_types_take_the_stock_path(self):
        module, model = self.armed()
        model.DeepseekV4DecoderLayer(config())
        for changed in ({"numbers": (1e-5, 1e-6, 1e-6, 2.0, 20)}, {"numbers": (1e-6, 1e-6, 1e-6, 2.0, 10)},
                        {"fn": Tensor(24, 16384)}, {"x": Tensor(6, 2, 4096)}, {"x": Tensor(6, 4, 4096, contiguous=False)},
                        {"x": Tensor(6, 4, 4096, address=8)}, {"x": Tensor(6, 4, 2048)}, {"x": Tensor(0, 4, 4096)},
                        {"fn": Tensor(12, 16384, dtype="float32")}, {"scale": Tensor(3)}, {"scale": Tensor(1, dtype="float32")},
                        {"base": Tensor(24, dtype="float32", is_cuda=False)}, {"base": Tensor(24, dtype="float32", contiguous=False)}):
            with self.subTest(changed=list(changed)):
                self.assertEqual(self.calls(model, **changed)[0], ("stock", "pre"))
                self.assertEqual(self.calls(model, **changed)[2], ("stock", "both"))
        for changed in ({"y": Tensor(5, 4096)}, {"y": Tensor(6, 2048)}, {"mix": Tensor(6, 4, 1)}, {"mix": Tensor(5, 4, 1, dtype="float32")},
                        {"comb": Tensor(5, 4, 4, dtype="float32")}, {"comb": Tensor(6, 4, 4, dtype="float32", contiguous=False)}):
            with self.subTest(changed=list(changed)):
                self.assertEqual(self.calls(model, **changed)[1:3], [("stock", "post"), ("stock", "both")])
        self.assertEqual(self.calls(model, norm=Tensor(2048))[0], ("stock", "pre"))
        self.assertTrue(module.MODULE.armed)

    def test_a_failing_launch_gives_the_stock_answer_for_good(self):
        module, model = self.armed()
        model.DeepseekV4DecoderLayer(config())
        self.failing = True
        self.assertEqual(self.calls(model), [("stock", name) for name in ("pre", "post", "both", "head")])
        self.failing = False
        self.assertEqual(self.calls(model)[1], ("stock", "post"))
        self.assertIn("launch failed", module.MODULE.reason)

    def test_a_missing_library_another_rank_and_other_models_disarm(self):
        for how, layer, said in (({"opens": False}, {}, "BK_KERNELS"), ({"agreed": False}, {}, "another rank"),
                                 ({}, {"hc_mult": 2}, "2 streams"), ({}, {"hidden_size": 5120}, "5120"),
                                 ({}, {"rms_norm_eps": 1e-5}, "epsilon"),
                                 ({}, {"hc_attn_fn": Tensor(24, 16384, dtype="float32", is_cuda=False)}, "not on a GPU")):
            with self.subTest(said=said):
                self.setUp()
                module, model = self.armed(**how)
                model.DeepseekV4DecoderLayer(config(), **layer)
                self.assertEqual(len(self.votes), 1)  # a rank that fails votes as well, or the others would wait for it
                self.assertIn(said, module.MODULE.reason)
                self.assertEqual(self.calls(model)[1], ("stock", "post"))
        for other, said in ((config(batches=True), "micro-batches"), (config(sleeps=True), "sleep mode")):
            self.setUp()
            module, model = self.armed()
            model.DeepseekV4DecoderLayer(other)
            self.assertIn(said, module.MODULE.reason)

    def test_a_guard_that_throws_disarms_and_never_reaches_the_engine(self):
        module, model = self.armed()
        model.DeepseekV4DecoderLayer(config())
        self.assertEqual(self.calls(model, x="no tensor")[1], ("stock", "post"))
        self.assertIn("AttributeError", module.MODULE.reason)


class Windows(Armed):
    def armed(self, **how):
        class Builder:
            def __init__(self):
                self.device = "gpu"

        class Stock:
            def __init__(self, name):
                self.name = name

            def __getitem__(self, grid):
                return lambda *args, **kwargs: ("stock", self.name, grid)

        module = self.arm("mla_sparse_swa", v1__attention__backends__mla__sparse_swa=dict(
            DeepseekSparseSWAMetadataBuilder=Builder, _compute_swa_indices_and_lens_kernel=Stock("causal"),
            _compute_dspark_noncausal_swa_indices_kernel=Stock("block")), **how)
        self.ran = []
        module.make_op = lambda so: lambda *args: self.ran.append(args)
        module.Kernel.prewarm = lambda self, device: None
        return module, sys.modules["vllm.v1.attention.backends.mla.sparse_swa"]

    def launch(self, swa, window=128, page=64, table_stride=20, kind="int32"):
        slots, lengths, rows = Tensor(9, 1, 128, dtype="int32"), Tensor(9, dtype="int32"), Tensor(9, dtype=kind)
        starts, lens, table = Tensor(3, dtype="int32"), Tensor(2, dtype="int32"), Tensor(2, 20, dtype="int32")
        tail = (starts, lens, rows, Tensor(9, dtype="bool"), table, table_stride, page)
        more = {"token_offset": 2, "TRITON_BLOCK_SIZE": 1024}
        return (swa._compute_swa_indices_and_lens_kernel[(6,)](slots, 128, lengths, window, *tail, **more),
                swa._compute_dspark_noncausal_swa_indices_kernel[(6,)](slots, 128, lengths, window, 128, *tail, **more))

    def test_both_launches_are_served_with_their_own_width_and_rule(self):
        _, swa = self.armed()
        self.assertEqual(self.launch(swa), (("stock", "causal", (6,)), ("stock", "block", (6,))))
        swa.DeepseekSparseSWAMetadataBuilder()
        swa.DeepseekSparseSWAMetadataBuilder()
        self.assertEqual((self.votes, self.launch(swa)), ([True], (None, None)))
        self.assertEqual([args[-4:] for args in self.ran], [(2, 6, 128, True), (2, 6, 128, False)])

    def test_other_windows_pages_and_types_take_the_stock_path(self):
        module, swa = self.armed()
        swa.DeepseekSparseSWAMetadataBuilder()
        for changed in ({"window": 256}, {"page": 32}, {"table_stride": 21}, {"kind": "int64"}):
            self.assertEqual(self.launch(swa, **changed), (("stock", "causal", (6,)), ("stock", "block", (6,))))
        self.assertEqual((self.ran, module.MODULE.armed), ([], True))

    def test_a_launch_that_is_called_in_another_way_disarms_and_never_reaches_the_engine(self):
        module, swa = self.armed()
        swa.DeepseekSparseSWAMetadataBuilder()
        launched = swa._compute_swa_indices_and_lens_kernel[lambda meta: (6,)](Tensor(9, 1, 128, dtype="int32"), 128)
        self.assertEqual(launched[:2], ("stock", "causal"))
        self.assertFalse(module.MODULE.armed)

    def test_a_missing_library_and_another_rank_disarm(self):
        for how, said in (({"opens": False}, "BK_KERNELS"), ({"agreed": False}, "another rank")):
            module, swa = self.armed(**how)
            swa.DeepseekSparseSWAMetadataBuilder()
            self.assertIn(said, module.MODULE.reason)
            self.assertEqual(self.launch(swa)[0], ("stock", "causal", (6,)))


class Indexer(Armed):
    def armed(self, **how):
        class Index:
            pass

        module = self.arm("mla_indexer", models__deepseek_v4__attention=dict(
            DeepseekV4Indexer=Index, fused_indexer_q_rope_quant=stock("query")), **how)
        sys.modules["bk_kernels"].this_device = lambda: "gpu"
        module.make_op = lambda so: lambda *args: ("ours", len(args))
        module.Kernel.prewarm = how.get("prewarm", lambda self, device: None)
        return module, sys.modules["vllm.models.deepseek_v4.attention"]

    def query(self, attention, **changed):
        q = changed.pop("q", Tensor(6, 64, 128))
        return attention.fused_indexer_q_rope_quant(Tensor(6, dtype="int64"), q, Tensor(500, 64, dtype="float32"), Tensor(6, 64),
                                                    128**-0.5, 64**-0.5, **changed)

    def test_served_once_an_indexer_is_made(self):
        _, attention = self.armed()
        self.assertEqual(self.query(attention), ("stock", "query"))
        attention.DeepseekV4Indexer()
        self.assertEqual(self.query(attention), ("ours", 4))
        self.assertEqual(self.query(attention, use_fp4=True), ("stock", "query"))
        self.assertEqual(self.query(attention, q=Tensor(6, 32, 128)), ("stock", "query"))

    def test_a_failed_prewarm_keeps_the_stock_path_for_good(self):
        module, attention = self.armed()

        def prewarm(kernel, device):
            raise sys.modules["bk_kernels"].Disarmed("does not agree with torch")

        module.Kernel.prewarm = prewarm
        attention.DeepseekV4Indexer()
        self.assertEqual((self.votes, self.query(attention)), ([False], ("stock", "query")))
        module.Kernel.prewarm = lambda self, device: None
        attention.DeepseekV4Indexer()
        self.assertEqual(self.query(attention), ("stock", "query"))
        self.assertIn("does not agree", module.MODULE.reason)


class Unquantised:
    pass


class Processor:
    head_dtype = None

    def _apply_head(self, lm_head, hidden_states, embedding_bias):
        return "stock"


class Drafts(Armed):
    def setUp(self):
        self.head = types.SimpleNamespace(weight=Tensor(320, 4096), quant_method=Unquantised(), bias=None)
        self.head.weight.data = self.head.weight
        self.processor, self.target = Processor(), Processor()
        self.model = types.SimpleNamespace(lm_head=self.head, modules=lambda: [self.processor])

    def armed(self, sleeps=False, **how):
        class Drafter:
            vllm_config = config(sleeps=sleeps)

            def __init__(self, model):
                self.made = model

            def load_model(self, target_model):
                self.model = self.made

        class Older(Drafter):
            def load_model(self, target_model):
                self.model = self.made

        module = self.arm("spec_fp8_head", model_executor__layers__logits_processor={"LogitsProcessor": Processor},
                          model_executor__layers__vocab_parallel_embedding={"UnquantizedEmbeddingMethod": Unquantised},
                          v1__spec_decode__llm_base_proposer={"SpecDecodeBaseProposer": Older},
                          v1__worker__gpu__spec_decode__speculator={"DraftModelSpeculator": Drafter}, **how)
        module.make_ops = lambda so: (lambda x, w8, scale, fp32: ("fp8", fp32), lambda weight: ("w8", "scale"))
        module.Copy.prewarm = lambda self, weight: None
        return module, Drafter, Older

    def test_drafts_of_both_runners_read_the_copy_and_the_target_does_not(self):
        for which in (1, 2):
            self.setUp()
            made = self.armed()
            made[which](self.model).load_model(None)
            self.assertEqual(self.processor._apply_head(self.head, Tensor(6, 4096), None), ("fp8", False))
            self.assertEqual(self.processor._apply_head(self.head, Tensor(33, 4096), None), "stock")
            self.assertEqual(self.processor._apply_head(self.head, Tensor(6, 4096), "a bias"), "stock")
            self.assertEqual(self.processor._apply_head(object(), Tensor(6, 4096), None), "stock")
            self.assertEqual(self.target._apply_head(self.head, Tensor(6, 4096), None), "stock")
            self.processor.head_dtype = "torch.float32"
            self.assertEqual(self.processor._apply_head(self.head, Tensor(6, 4096), None), ("fp8", True))

    def test_heads_that_do_not_fit_keep_the_stock_path(self):
        for change, said in (({"bias": 1}, "bias"), ({"quant_method": object()}, "object"), ({"weight": Tensor(320, 5120)}, "5120"),
                             ({"weight": Tensor(330, 4096)}, "330"), ({"weight": Tensor(320, 4096, dtype="float16")}, "bf16")):
            self.setUp()
            vars(self.head).update(change)
            module, drafter, _ = self.armed()
            drafter(self.model).load_model(None)
            self.assertEqual(self.processor._apply_head(self.head, Tensor(6, 4096), None), "stock")
            self.assertTrue(any(said in line for line in module.MODULE.said), module.MODULE.said)

    def test_a_missing_library_disarms(self):
        module, drafter, _ = self.armed(opens=False)
        drafter(self.model).load_model(None)
        self.assertEqual(self.processor._apply_head(self.head, Tensor(6, 4096), None), "stock")
        self.assertIn("BK_KERNELS", module.MODULE.reason)

    def test_sleep_mode_which_may_drop_the_copy_disarms(self):
        module, drafter, _ = self.armed(sleeps=True)
        drafter(self.model).load_model(None)
        self.assertEqual(self.processor._apply_head(self.head, Tensor(6, 4096), None), "stock")
        self.assertIn("sleep mode", module.MODULE.reason)


class Markov(Armed):
    def setUp(self):
        weight = Tensor(1024, 256)
        weight.data = weight
        part = types.SimpleNamespace(weight=weight, num_embeddings_padded=1024, org_vocab_size=1024)
        self.model = types.SimpleNamespace(model=types.SimpleNamespace(markov_head=types.SimpleNamespace(markov_w1=part, markov_w2=part)),
                                           draft_id_to_target_id=None,
                                           logits_processor=types.SimpleNamespace(scale=1.0, soft_cap=None, org_vocab_size=1024))

    def armed(self, ranks=1, **how):
        class Speculator:
            vocab_size, num_speculative_steps, _d2t_scatter_index, vllm_config = 1024, 5, None, config()

            def load_draft_model(drafter, target_model, target_attn_layer_names):
                return self.model

            def _sample_sequential(drafter, num_reqs, head_hidden):
                drafter.ran = "stock"

        self.gathered = []
        module = self.arm("markov_topk", distributed=dict(get_tensor_model_parallel_world_size=lambda: ranks,
                                                          tensor_model_parallel_all_gather=lambda *args: self.gathered.append(args) or mock.Mock()),
                          v1__worker__gpu__sample__gumbel={"gumbel_sample": None},
                          v1__worker__gpu__spec_decode__dspark__speculator={"DSparkSpeculator": Speculator}, **how)
        module.make_ops = lambda so: ("select", "markov")
        module.Head.prewarm = lambda self: None
        module.choose = lambda *_: ()
        module.sample = lambda drafter, *_: setattr(drafter, "ran", "ours")
        drafter = Speculator()
        self.assertIs(drafter.load_draft_model(None, set()), self.model)
        return module, drafter

    def ran(self, drafter, requests=4):
        drafter._sample_sequential(requests, None)
        return drafter.ran

    def test_small_batches_are_served(self):
        module, drafter = self.armed()
        self.assertEqual([self.ran(drafter, requests) for requests in (1, 64, 65)], ["ours", "ours", "stock"])
        drafter.num_speculative_steps = 17
        self.assertEqual(self.ran(drafter, 64), "stock")
        self.assertIn("serves the Markov bias (the 512 best of 1024 tokens)", module.MODULE.said)

    def test_ranks_agree_before_they_gather_and_after_the_prewarm(self):
        _, drafter = self.armed(ranks=4)
        self.assertEqual((self.votes, len(self.gathered), self.ran(drafter)), ([True, True], 2, "ours"))
        _, drafter = self.armed(ranks=4, agreed=False)
        self.assertEqual((self.votes, self.gathered, self.ran(drafter)), ([True], [], "stock"))

    def test_other_drafters_and_a_missing_library_disarm(self):
        for change, said in ((lambda m: setattr(m, "draft_id_to_target_id", 1), "not the target's"),
                             (lambda m: setattr(m.logits_processor, "scale", 0.5), "scaled"),
                             (lambda m: setattr(m.model.markov_head.markov_w1, "weight", Tensor(1024, 128)), "rank 256")):
            self.setUp()
            change(self.model)
            module, drafter = self.armed()
            self.assertIn(said, module.MODULE.reason)
            self.assertEqual(self.ran(drafter), "stock")
        self.setUp()
        module, drafter = self.armed(opens=False)
        self.assertIn("BK_KERNELS", module.MODULE.reason)
        self.assertEqual((self.votes, self.ran(drafter)), ([False], "stock"))


if __name__ == "__main__":
    unittest.main()
