"""The kernel modules' logic against stand-ins for torch and vLLM: knobs, what is served, what falls back, what disarms."""

import sys
import types
import unittest

from modules_support import MODULES, load

sys.modules["torch"] = sys.modules["vllm"] = None  # neither may be imported here, installed or not


class Tensor:
    """As much of a tensor as the modules look at."""

    def __init__(self, rows, columns=256, dtype="torch.bfloat16", address=64):
        self.shape, self.dtype, self.address, self.is_cuda = (rows, columns), dtype, address, True

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


class TopKRouter:
    top_k, scoring_func, renormalize = 8, "softmax", True

    def _compute_routing(self, hidden_states, router_logits, indices_type, *, input_ids=None):
        return "stock", router_logits


class Runner:
    def __init__(self, router=None):
        self.router = router or TopKRouter()
        self.gate = types.SimpleNamespace(weight=Tensor(128), bias=None, forward=lambda x: (f"logits of {x.shape[0]}", None))


class Fused:
    """Stands for the kernel of moe_route."""

    fails = False

    def __init__(self, *_):
        pass

    def prewarm(self):
        pass

    def serves(self, x):
        return x.shape[0] <= 32

    def __call__(self, x):
        if Fused.fails:
            raise RuntimeError("launch failed")
        return "fused", x.shape[0]


def route(runner, x, routed=None):
    logits, _ = runner.gate.forward(x)
    return runner.router._compute_routing(routed or x, logits, None)


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

    def test_a_disarm_keeps_its_first_reason(self):
        module = load("moe_route", "1").MODULE
        module.disarm("first")
        module.disarm("second")
        self.assertEqual(module.reason, "first")
        self.assertIsNone(module.attempt(lambda: 1))


class Route(unittest.TestCase):
    def setUp(self):
        self.module = load("moe_route", "1")
        self.module.Router, Fused.fails = Fused, False

    def put_in(self):
        runner = Runner()
        self.assertIsNone(self.module.refuse(runner, TopKRouter))
        self.module.put_in(runner, None)
        return runner

    def test_few_tokens_are_served_and_more_take_the_stock_path(self):
        runner = self.put_in()
        self.assertEqual(route(runner, Tensor(5)), ("fused", 5))
        self.assertEqual(route(runner, Tensor(33)), ("stock", "logits of 33"))
        self.assertEqual(route(runner, Tensor(32)), ("fused", 32))

    def test_a_failing_kernel_gives_the_stock_answer_and_disarms_for_good(self):
        runner = self.put_in()
        Fused.fails = True
        self.assertEqual(route(runner, Tensor(5)), ("stock", "logits of 5"))
        self.assertFalse(self.module.MODULE.armed)
        self.assertIn("launch failed", self.module.MODULE.reason)
        Fused.fails = False
        self.assertEqual(route(runner, Tensor(5)), ("stock", "logits of 5"))

    def test_tokens_that_were_exchanged_in_between_get_the_logits_after_all(self):
        runner = self.put_in()
        self.assertEqual(route(runner, Tensor(5), Tensor(5, address=128)), ("stock", "logits of 5"))
        self.assertEqual(route(runner, Tensor(5), Tensor(10)), ("stock", "logits of 5"))
        self.assertTrue(self.module.MODULE.armed)

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
    def open(self, votes, test=True, library=lambda: "so"):
        """open_ring() of one rank whose peers vote as given."""
        module = load("tp_oneshot_ar", "1")
        peers = iter(votes)
        module.agreed = lambda communicator, mine: bool(mine) and next(peers, True)
        module.Ring = lambda so, communicator: types.SimpleNamespace(test=lambda: test)
        return module.open_ring(types.SimpleNamespace(world_size=2), library), module.MODULE

    def test_the_ring_opens_when_all_agree_at_every_step(self):
        ring, module = self.open([True] * 4)
        self.assertIsNotNone(ring)
        self.assertTrue(module.armed)

    def test_one_no_of_a_peer_at_any_step_keeps_the_stock_path(self):
        for step in range(4):
            ring, module = self.open([True] * step + [False])
            self.assertIsNone(ring)
            self.assertFalse(module.armed)

    def test_a_rank_that_is_off_or_misspelt_votes_and_keeps_the_stock_all_reduce(self):
        for knob in ("0", "yes", "1"):
            module, votes = load("tp_oneshot_ar", knob), []
            module.agreed = lambda communicator, mine: votes.append(mine) or False

            class Communicator:
                world_size, unique_name, rank_in_group = 2, "tp:0", 0

                def __init__(self):
                    pass

                def all_reduce(self, input_):
                    return "stock"

            stock = Communicator.all_reduce
            module.arm = lambda made=module, kind=Communicator: made.put_in(kind)
            module.register()
            communicator = Communicator()
            self.assertEqual(votes, [knob == "1"])
            self.assertIsNone(communicator.bk_ring)
            self.assertEqual(Communicator.all_reduce is stock, knob != "1")
            self.assertEqual(communicator.all_reduce(None), "stock")
            self.assertEqual(module.MODULE.reason is None, knob == "0")

    def test_an_own_failure_is_a_no(self):
        def missing():
            raise OSError("no library")

        for ring, module in (self.open([True] * 4, test=False), self.open([True] * 4, library=missing)):
            self.assertIsNone(ring)
            self.assertFalse(module.armed)


if __name__ == "__main__":
    unittest.main()
