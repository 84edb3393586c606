"""The kernel modules' logic against stand-ins for torch and vLLM: knobs, what is served, what falls back, what disarms."""

import ctypes
import os
import sys
import types
import unittest
from unittest import mock

from modules_support import MODULES, load

sys.modules["torch"] = sys.modules["vllm"] = None  # neither may be imported here, installed or not


class Tensor:
    """As much of a tensor as the modules look at."""

    def __init__(self, rows, columns=256, dtype="torch.bfloat16", address=64):
        self.shape, self.dtype, self.address, self.is_cuda, self.device = (rows, columns), dtype, address, True, "gpu"

    def dim(self):
        return 2

    def stride(self, axis):
        return (self.shape[1], 1)[axis]

    def data_ptr(self):
        return self.address

    def is_contiguous(self):
        return True

    def numel(self):
        return self.shape[0] * self.shape[1]

    def new_empty(self, shape):
        return Tensor(*shape, address=0)


def layer_config(sleeps=False, batches=False):
    return types.SimpleNamespace(model_config=types.SimpleNamespace(enable_sleep_mode=sleeps),
                                 parallel_config=types.SimpleNamespace(use_ubatching=batches))


class TopKRouter:
    top_k, scoring_func, renormalize = 8, "softmax", True

    def _compute_routing(self, hidden_states, router_logits, indices_type, *, input_ids=None):
        return "stock", router_logits


class Runner:
    """vLLM's runner of one layer, as the module for the router reads it."""

    do_naive_dispatch_combine = False

    def __init__(self, router=None):
        self.router = router or TopKRouter()
        self.gate = types.SimpleNamespace(weight=Tensor(128), bias=None, forward=lambda x: (f"logits of {x.shape[0]}", None))
        self.routed_experts = types.SimpleNamespace(quant_method=types.SimpleNamespace(is_monolithic=False))
        self.moe_config = types.SimpleNamespace(pcp_size=1)


class Launches:
    """Stands for the entry of moe_route; torch is as much of it as a call needs."""

    def __init__(self, module):
        self.module, self.failing, self.jobs = module, False, []
        kernels = sys.modules["bk_kernels"]
        kernels.launch = self.launch
        torch = types.ModuleType("torch")
        torch.bfloat16, torch.float32, torch.int32, torch.uint8 = "torch.bfloat16", "torch.float32", "torch.int32", "torch.uint8"
        torch.empty = lambda shape, dtype, device: types.SimpleNamespace(data_ptr=lambda: 0, shape=shape, to=lambda kind: kind)
        torch.full = lambda shape, value, dtype, device: types.SimpleNamespace(data_ptr=lambda: 512, device="gpu")
        sys.modules["torch"] = torch
        module.Router.prewarm = lambda router: None

    def launch(self, so, entry, device, gate, route):
        if self.failing:
            raise RuntimeError("launch failed")
        self.jobs.append((entry, gate.w, gate.m, route.top_k))


def route(runner, x, routed=None):
    logits, _ = runner.gate.forward(x)
    return runner.router._compute_routing(routed or x, logits, None)


class Size:
    """Stands for a C function that gives a size."""

    restype = None

    def __call__(self, _):
        return 64


class Knobs(unittest.TestCase):
    def test_only_one_arms_and_what_is_misspelt_says_so(self):
        for name in MODULES:
            for knob, armed in ((None, False), ("", False), ("0", False), ("1", True), ("on", False), ("True", False), ("1 ", False)):
                with self.subTest(module=name, knob=knob):
                    module = load(name, knob)
                    words = ("on",) if name == "prep_fused" else ()
                    self.assertEqual(module.MODULE.armed, armed or knob in words)
                    self.assertEqual(module.MODULE.reason is not None, knob not in (None, "", "0", "1", *words))

    def test_prep_fused_has_a_shadow_and_is_off_by_name(self):
        for knob, mode in (("off", None), ("shadow", "shadow"), ("1", "on"), ("on", "on"), ("Shadow", None), ("shadows", None)):
            module = load("prep_fused", knob).MODULE
            self.assertEqual((module.mode, module.armed), (mode, mode is not None))
        self.assertIn("none of 0, off, shadow, 1, on", module.reason)

    def test_a_missing_engine_or_library_disarms_and_never_raises(self):
        for name in MODULES:
            module = load(name, "1")
            module.register()
            self.assertFalse(module.MODULE.armed)
            self.assertIn("vllm" if name != "moe_gate_sm121" else "torch", module.MODULE.reason)

    def test_a_library_that_is_not_named_not_there_or_none_is_said_in_one_line(self):
        load("mhc", "0")
        kernels = sys.modules["bk_kernels"]
        for path, said in (("", "does not name libbk_kernels.so"), ("/nonexistent/libbk_kernels.so", "cannot be loaded"),
                           (__file__, "cannot be loaded")):
            with mock.patch.dict(os.environ, {"BK_KERNELS": path}), self.assertRaisesRegex(kernels.Disarmed, said):
                kernels.library()

    def test_a_library_without_the_entries_disarms_and_never_raises(self):
        module = load("moe_route", "1")
        kernels = sys.modules["bk_kernels"]
        kernels.everywhere = lambda yes, question, group: (1, yes)
        other = ctypes.CDLL(None)  # this process: it has none of them
        Launches(module)
        self.addCleanup(sys.modules.__setitem__, "torch", None)
        self.assertFalse(module.MODULE.prepare(module.put_in, Runner(), other))
        self.assertIn("bk_moe_workspace_bytes", module.MODULE.reason)

    def test_with_the_knob_off_nothing_of_the_engine_is_imported_or_patched(self):
        for name in MODULES:
            for knob in (None, "0", "wrong"):
                module = load(name, knob)
                module.arm = lambda: self.fail("armed")
                module.register()
                self.assertIsNone(sys.modules["vllm"])
                self.assertIsNone(sys.modules["torch"])

    def test_a_disarm_keeps_its_first_reason(self):
        module = load("moe_route", "1").MODULE
        module.disarm("first")
        module.disarm("second")
        self.assertEqual(module.reason, "first")
        self.assertIsNone(module.attempt(lambda: 1))


class Route(unittest.TestCase):
    def setUp(self):
        self.module = load("moe_route", "1")
        self.module.MODULE.registered = True
        self.launches = Launches(self.module)
        self.addCleanup(sys.modules.__setitem__, "torch", None)

    def put_in(self):
        runner = Runner()
        self.assertIsNone(self.module.refuse(runner, TopKRouter))
        self.module.put_in(runner, types.SimpleNamespace(bk_moe_workspace_bytes=Size()))
        return runner

    def fused(self, runner, tokens):
        """Whether the kernel made this call's choice."""
        before = len(self.launches.jobs)
        answer = route(runner, Tensor(tokens))
        self.assertEqual(len(self.launches.jobs) > before, answer[0] != "stock")
        if answer[0] == "stock":
            self.assertEqual(answer, ("stock", f"logits of {tokens}"))
        return answer[0] != "stock"

    def test_few_tokens_are_served_and_more_take_the_stock_path(self):
        runner = self.put_in()
        self.assertEqual([self.fused(runner, tokens) for tokens in (5, 33, 32, 0)], [True, False, True, False])
        self.assertEqual(self.launches.jobs[0], ("bk_moe_route", 64, 5, 8))

    def test_the_weight_is_the_one_of_the_moment(self):
        runner = self.put_in()
        runner.gate.weight = Tensor(128, address=4096)
        self.assertTrue(self.fused(runner, 5))
        self.assertEqual(self.launches.jobs[-1][1], 4096)
        for weight in (Tensor(128, dtype="torch.float32"), Tensor(64), Tensor(128, address=8)):
            runner.gate.weight = weight
            self.assertFalse(self.fused(runner, 5))

    def test_logits_that_go_elsewhere_than_to_these_tokens_choice_are_made(self):
        for change in (lambda r: setattr(r.routed_experts.quant_method, "is_monolithic", True),
                       lambda r: setattr(r, "do_naive_dispatch_combine", True), lambda r: setattr(r.moe_config, "pcp_size", 2)):
            runner = self.put_in()
            change(runner)
            logits, _ = runner.gate.forward(Tensor(5))
            self.assertEqual(logits, "logits of 5")
            self.assertFalse(self.fused(runner, 5))

    def test_a_guard_that_throws_disarms_and_gives_the_stock_answer(self):
        runner = self.put_in()
        del runner.moe_config
        self.assertFalse(self.fused(runner, 5))
        self.assertIn("moe_config", self.module.MODULE.reason)

    def test_a_failing_kernel_gives_the_stock_answer_and_disarms_for_good(self):
        runner = self.put_in()
        self.launches.failing = True
        self.assertFalse(self.fused(runner, 5))
        self.assertFalse(self.module.MODULE.armed)
        self.assertIn("launch failed", self.module.MODULE.reason)
        self.launches.failing = False
        self.assertFalse(self.fused(runner, 5))

    def test_among_several_ranks_a_failing_kernel_stops_the_engine(self):
        runner = self.put_in()
        self.module.MODULE.bound, self.launches.failing = True, True
        with self.assertRaisesRegex(RuntimeError, "boot with BK_MOE_ROUTE=0"):
            route(runner, Tensor(5))

    def test_tokens_that_were_exchanged_in_between_get_the_logits_after_all(self):
        runner = self.put_in()
        self.assertEqual(route(runner, Tensor(5), Tensor(5, address=128)), ("stock", "logits of 5"))
        self.assertTrue(self.module.MODULE.armed)
        with self.assertRaisesRegex(RuntimeError, "the router"):
            route(runner, Tensor(5), Tensor(10))

    def test_sleep_mode_and_micro_batches_disarm(self):
        kernels = sys.modules["bk_kernels"]
        kernels.stays(layer_config(), True)
        kernels.stays(layer_config(batches=True), False)
        for config, shared, said in ((layer_config(sleeps=True), False, "sleep"), (layer_config(batches=True), True, "micro-batches")):
            with self.assertRaisesRegex(Exception, said):
                kernels.stays(config, shared)

    def test_layers_that_the_kernel_does_not_fit_are_refused(self):
        def refused(change):
            runner = Runner()
            change(runner)
            return self.module.refuse(runner, TopKRouter)

        class Other(TopKRouter):
            pass

        self.assertIn("Other", refused(lambda r: setattr(r, "router", Other())))
        self.assertIn("bf16", refused(lambda r: setattr(r.gate, "weight", Tensor(128, dtype="torch.float32"))))
        self.assertIn("512 experts", refused(lambda r: setattr(r.gate, "weight", Tensor(512))))
        self.assertIn("bias", refused(lambda r: setattr(r.gate, "bias", 1)))
        self.assertIn("scoring", refused(lambda r: setattr(r.router, "scoring_func", "sqrt")))


class Ring(unittest.TestCase):
    """open_ring() of one rank whose peers answer as given."""

    def open(self, answers=(), step=None, world=2):
        module, made = load("tp_oneshot_ar", "1"), []
        kernels, peers = sys.modules["bk_kernels"], iter(answers)
        kernels.everywhere = lambda yes, question, group: (group.world_size, yes and next(peers, True))
        kernels.library = lambda: "so"

        class OfRank:
            def __init__(self, so, communicator):
                self.done = []
                made.append(self)

            def meet(self):
                self.take("meet")

            def test(self):
                self.take("test")

            def take(self, name):
                if name == step:
                    raise OSError(f"no {name}")
                self.done.append(name)

        module.Ring = OfRank
        ring = module.open_ring(types.SimpleNamespace(world_size=world))
        return ring, module.MODULE, made[0].done if made else []

    def test_the_ring_opens_when_all_agree_at_every_step(self):
        ring, module, done = self.open()
        self.assertEqual(([ring is not None, module.armed, module.bound], done), ([True] * 3, ["meet", "test"]))

    def test_one_no_of_a_peer_at_any_step_keeps_the_stock_path(self):
        for step, taken in enumerate(([], ["meet"], ["meet", "test"])):
            ring, module, done = self.open([True] * step + [False])
            self.assertEqual((ring, module.armed, done), (None, False, taken))
            self.assertIn("another rank", module.reason)

    def test_an_own_failure_is_a_no_and_no_further_step_is_taken(self):
        for step, taken in (("meet", []), ("test", ["meet"])):
            ring, module, done = self.open(step=step)
            self.assertEqual((ring, module.armed, done), (None, False, taken))
            self.assertIn(f"no {step}", module.reason)
        self.assertIn("at most 8", self.open(world=9)[1].reason)

    def test_a_rank_that_is_off_or_misspelt_changes_nothing(self):
        for knob in ("0", "yes"):
            module = load("tp_oneshot_ar", knob)
            module.arm = lambda: self.fail("armed")
            module.register()
            self.assertEqual(module.MODULE.reason is None, knob == "0")

    def test_calls_that_fit_go_through_the_ring_and_others_do_not(self):
        module = load("tp_oneshot_ar", "1")

        class Communicator:
            world_size, unique_name, rank_in_group = 2, "tp:0", 0

            def __init__(self):
                pass

            def all_reduce(self, input_):
                return "stock"

        class Fits:
            def serves(self, x):
                return x == "small"

            def __call__(self, x):
                return "ring"

        module.open_ring = lambda communicator: Fits()
        module.put_in(Communicator)
        communicator = Communicator()
        self.assertEqual([communicator.all_reduce(x) for x in ("small", "large")], ["ring", "stock"])
        self.assertTrue(any("serves all-reduces" in line for line in module.MODULE.said))


if __name__ == "__main__":
    unittest.main()
