"""Ranks in processes of their own settle what they serve: all or none, whatever fails on one and whoever never asks."""

import multiprocessing
import random
import sys
import threading
import time
import unittest
from multiprocessing.managers import BaseManager

from modules_support import load

sys.modules["torch"] = sys.modules["vllm"] = None  # neither may be imported here, installed or not
WORLD = 4


class Store:
    """The store that ranks meet by, as torch's answers."""

    def __init__(self):
        self.values, self.lock = {}, threading.Lock()

    def set(self, key, value):
        with self.lock:
            self.values[key] = value.encode()

    def get(self, key):
        with self.lock:
            return self.values[key]

    def check(self, keys):
        with self.lock:
            return all(key in self.values for key in keys)

    def compare_set(self, key, expected, value):
        with self.lock:
            if key not in self.values if expected == "" else self.values.get(key) == expected.encode():
                self.values[key] = value.encode()
            return self.values[key]


class Stores(BaseManager):
    pass


def settle(store, rank, late_s, yes, patience_s, question, out):
    time.sleep(late_s)
    out.put((rank, sys.modules["bk_kernels"].settle(store, question, rank, WORLD, yes, patience_s)))


def arm(store, rank, knob, failing, patience_s, out):
    """One rank of a module whose two steps of arming are put to the ranks."""
    module = load("mhc", knob)
    kernels = sys.modules["bk_kernels"]

    def everywhere(yes, question, group):
        return WORLD, kernels.settle(store, question, rank, WORLD, yes, patience_s)

    def act(step):
        if failing == (rank, step):
            raise OSError(f"no step {step}")

    def arm_here():
        for step in (1, 2, 3):
            module.MODULE.prepare(act, step)

    kernels.everywhere = everywhere
    module.MODULE.register(arm_here)
    out.put((rank, module.MODULE.armed, module.MODULE.asked, module.MODULE.bound))


class Ranks(unittest.TestCase):
    def setUp(self):
        load("mhc", "0")
        self.context = multiprocessing.get_context("fork")
        made = Store()
        Stores.register("Store", callable=lambda: made)
        self.manager = Stores(ctx=self.context)
        self.manager.start()
        self.addCleanup(self.manager.shutdown)
        self.store = self.manager.Store()

    def run_ranks(self, act, jobs):
        """What each rank answered, by rank; jobs: rank to the arguments of act."""
        out = self.context.Queue()
        ranks = [self.context.Process(target=act, args=(self.store, rank, *job, out)) for rank, job in jobs.items()]
        for each in ranks:
            each.start()
        answers = sorted(out.get(timeout=60) for _ in ranks)
        for each in ranks:
            each.join(60)
        return answers

    def test_all_say_yes(self):
        answers = self.run_ranks(settle, {rank: (0, True, 60, "q") for rank in range(WORLD)})
        self.assertEqual(answers, [(rank, True) for rank in range(WORLD)])

    def test_one_no_is_heard_by_all_and_nobody_waits_for_the_rest(self):
        patient = {0: (0, False, 600, "q"), 1: (0, True, 600, "q"), 2: (0, True, 600, "q")}  # the fourth never asks
        self.assertEqual(self.run_ranks(settle, patient), [(rank, False) for rank in range(3)])

    def test_a_rank_that_never_asks_keeps_the_others_on_the_stock_path(self):
        answers = self.run_ranks(settle, {rank: (0, True, 0.3, "q") for rank in range(WORLD - 1)})
        self.assertEqual(answers, [(rank, False) for rank in range(WORLD - 1)])

    def test_a_rank_that_is_late_hears_what_the_others_were_told(self):
        late = {rank: (1 if rank == 3 else 0, True, 0.05, "q") for rank in range(WORLD)}
        self.assertEqual(self.run_ranks(settle, late), [(rank, False) for rank in range(WORLD)])

    def test_ranks_that_come_as_the_patience_of_others_ends_hear_one_answer(self):
        draw = random.Random(1)
        for turn in range(12):
            jobs = {rank: (draw.uniform(0, 0.2), True, 0.1, f"q{turn}") for rank in range(WORLD)}
            answers = self.run_ranks(settle, jobs)
            self.assertEqual(len({answer for _, answer in answers}), 1, answers)

    def test_a_module_arms_on_all_ranks_or_on_none(self):
        on = {rank: ("1", None, 60) for rank in range(WORLD)}
        self.assertEqual(self.run_ranks(arm, on), [(rank, True, 3, True) for rank in range(WORLD)])

    def test_a_step_that_fails_on_one_rank_disarms_all_at_that_step(self):
        failing = {rank: ("1", (2, 2), 60) for rank in range(WORLD)}
        self.assertEqual(self.run_ranks(arm, failing), [(rank, False, 2, False) for rank in range(WORLD)])

    def test_a_rank_whose_knob_is_off_or_misspelt_disarms_the_others_and_hangs_none(self):
        for knob in ("0", "yes"):
            self.manager.shutdown()
            self.setUp()
            mixed = {rank: (knob if rank == 1 else "1", None, 0.5) for rank in range(WORLD)}
            self.assertEqual(self.run_ranks(arm, mixed), [(rank, False, 0 if rank == 1 else 1, False) for rank in range(WORLD)])


if __name__ == "__main__":
    unittest.main()
