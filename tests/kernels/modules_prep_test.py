"""The module prep_fused with real torch on the CPU, the entry acted out: what a step makes, what disarms, what a disarm survives.

Skipped where torch is not installed.
"""

import sys
import types
import unittest
from unittest import mock

import modules_support as support

try:
    import numpy
    import torch
except ImportError:
    support.without_torch(__file__)

from modules_torch_test import OnHost, at

INT, LONG = torch.int32, torch.int64


def prep_fused(job):
    """bk_prep_fused, from what its header says."""
    words = at(job.staging, job.bytes // 4, dtype=INT)
    tokens, live = job.requests * job.query, int(words[0])
    computed = words[1:1 + job.requests].tolist()
    position = [computed[i // job.query] + i % job.query if i // job.query < live else 0 for i in range(tokens)]
    at(job.positions, tokens, dtype=LONG).copy_(torch.tensor(position))
    at(job.query_start, job.requests + 1, dtype=INT).copy_(torch.tensor([min(i, live) * job.query for i in range(job.requests + 1)]))
    for g in range(job.groups):
        group = job.group[g]
        begins = words[1 + job.requests + g * (job.requests + 1):][:job.requests + 1].tolist()
        table = at(group.block_table, job.requests, group.width, dtype=INT)
        table.zero_()
        for row in range(job.requests):
            table[row, :begins[row + 1] - begins[row]] = words[begins[row]:begins[row + 1]]
        slots = [int(table[i // job.query, p // group.block_size]) * group.block_size + p % group.block_size for i, p in enumerate(position)]
        at(group.slots, tokens, dtype=LONG).copy_(torch.tensor(slots))


class Buffer:
    def __init__(self, *shape, dtype):
        self.cpu, self.gpu = torch.zeros(shape, dtype=dtype), torch.full(shape, -9, dtype=dtype)
        self.np = self.cpu.numpy()


class Table:
    """One KV group's table, as vLLM keeps it."""

    max_num_reqs, max_num_batched_tokens, dcp_world_size, pcp_world_size = 8, 64, 1, 1
    slot_mapping_mode = types.SimpleNamespace(value="token_to_kv_slot")

    def __init__(self, block_size, width):
        self.block_size, self.max_num_blocks_per_req = block_size, width
        self.block_table, self.slot_mapping = Buffer(8, width, dtype=INT), Buffer(64, dtype=LONG)
        self.num_blocks_per_row = numpy.zeros(8, dtype=numpy.int32)


class Engine(OnHost):
    def start(self, knob="on", **changed):
        """A runner with two KV groups, patched."""
        module = self.module = self.load("prep_fused", knob)
        self.entries = mock.patch.dict(sys.modules["modules_torch_test"].ENTRIES, {"prep_fused": prep_fused})
        self.entries.start()
        self.addCleanup(self.entries.stop)
        self.stock, self.after_commit = [], lambda: None
        test = self

        class Tables:
            def __init__(self):
                self.block_tables = [Table(16, 6), Table(4, 24)]

            def commit_block_table(self, num_reqs):
                test.stock.append("commit")
                for table in self.block_tables:
                    table.block_table.gpu[:num_reqs].copy_(table.block_table.cpu[:num_reqs])

            def compute_slot_mapping(self, num_reqs, query_start_loc, positions):
                test.stock.append("slots")
                for table in self.block_tables:
                    rows = torch.bucketize(torch.arange(len(positions)), query_start_loc[1:].long(), right=True)
                    block = table.block_table.gpu[rows, positions // table.block_size].long()
                    table.slot_mapping.gpu.fill_(-1)
                    table.slot_mapping.gpu[:len(positions)] = block * table.block_size + positions % table.block_size

        class Runner:
            use_async_spec_decode, device = False, torch.device("cpu")

            def __init__(self):
                self.input_batch = types.SimpleNamespace(block_table=Tables(), num_computed_tokens_cpu=numpy.zeros(8, dtype=numpy.int32))

            def _prepare_inputs(self, scheduler_output, num_scheduled_tokens):
                batch, requests = self.input_batch, len(num_scheduled_tokens)
                batch.block_table.commit_block_table(requests)
                test.after_commit()
                start = torch.tensor([0, *numpy.cumsum(num_scheduled_tokens).tolist()], dtype=INT)
                positions = torch.cat([torch.arange(scheduled) + int(computed) for scheduled, computed
                                       in zip(num_scheduled_tokens, batch.num_computed_tokens_cpu)])
                batch.block_table.compute_slot_mapping(requests, start, positions)
                return "prepared"

        module.put_in(Runner, Tables)
        self.runner = Runner()
        vars(self.runner).update(changed)
        return module.MODULE

    def step(self, computed=(70, 3, 40), scheduled=(2, 2, 2)):
        """One step; whether the tables and slots are what they have to be, and what of it the stock path did."""
        batch = self.runner.input_batch
        batch.num_computed_tokens_cpu[:len(computed)] = computed
        for number, table in enumerate(batch.block_table.block_tables):
            for row, (done, new) in enumerate(zip(computed, scheduled)):
                count = -(-(done + new) // table.block_size)
                table.num_blocks_per_row[row] = count
                table.block_table.np[row, :count] = [100 * number + 10 * row + i + 1 for i in range(count)]
        self.stock.clear()
        self.assertEqual(self.runner._prepare_inputs(None, numpy.array(scheduled, dtype=numpy.int32)), "prepared")
        for table in batch.block_table.block_tables:
            want = [int(table.block_table.np[row, p // table.block_size]) * table.block_size + p % table.block_size
                    for row, (done, new) in enumerate(zip(computed, scheduled)) for p in range(done, done + new)]
            self.assertEqual(table.slot_mapping.gpu.tolist(), want + [-1] * (64 - len(want)))
            for row in range(len(computed)):
                count = table.num_blocks_per_row[row]
                self.assertEqual(table.block_table.gpu[row, :count].tolist(), table.block_table.np[row, :count].tolist())
        return list(self.stock)

    def test_on_the_first_step_and_every_64th_are_compared_and_the_others_are_fused(self):
        module = self.start()
        seen = [self.step(computed=(i, i % 7, 40)) for i in range(70)]
        self.assertEqual([i for i, stock in enumerate(seen) if stock], [0, 64])
        self.assertEqual(seen[0], ["commit", "slots"])
        self.assertEqual(self.calls, ["bk_prep_fused"] * 70)
        self.assertTrue({"self-check: no number differs", "serves decode steps (2 KV groups)"} <= module.said)

    def test_in_shadow_every_step_is_compared_and_the_stock_path_serves(self):
        module = self.start("shadow")
        for _ in range(3):
            self.assertEqual(self.step(), ["commit", "slots"])
        self.assertIn("shadow: no number differs", module.said)
        self.assertFalse(any("serves" in line for line in module.said))

    def test_drift_disarms_in_either_mode_and_the_stock_numbers_stay(self):
        for knob in ("shadow", "on"):
            module = self.start(knob)
            self.spoil = lambda entry, job: at(job.group[1].slots, 1, dtype=LONG).add_(1)
            self.assertEqual(self.step(), ["commit", "slots"])
            self.assertIn("drift: 1 numbers differ at step 0", module.reason)
            self.spoil = None
            self.assertEqual(self.step(), ["commit", "slots"])
            self.assertEqual(len(self.calls), 1)

    def test_a_drift_that_comes_later_is_found_at_the_next_self_check(self):
        module = self.start()
        self.step()
        self.spoil = lambda entry, job: at(job.positions, 1, dtype=LONG).add_(1)
        for _ in range(63):
            self.step()
        self.assertTrue(module.armed)
        self.step()
        self.assertIn("at step 64", module.reason)

    def test_steps_that_do_not_fit_take_the_stock_path_and_leave_it_armed(self):
        module = self.start()
        self.step()
        for computed, scheduled in (((5, 9), (2, 1)), ((5, 9), (3, 3)), ((0,), (40,))):
            self.assertEqual(self.step(computed, scheduled), ["commit", "slots"])
        self.assertEqual(self.step(), [])  # and leave no slots behind it
        self.assertTrue(module.armed)

    def test_new_tokens_beyond_the_blocks_that_a_request_has_are_refused(self):
        self.start()
        tables = self.runner.input_batch.block_table.block_tables
        self.step(computed=(14,), scheduled=(2,))
        refuse = self.module.refuse_step
        self.assertIsNone(refuse(tables, numpy.array([14]), numpy.array([2])))
        self.assertIn("beyond the blocks", refuse(tables, numpy.array([15]), numpy.array([2])))

    def test_engines_that_do_not_fit_disarm_for_good(self):
        module = self.start(use_async_spec_decode=True)
        self.assertEqual(self.step(), ["commit", "slots"])
        self.assertIn("asynchronous", module.reason)
        for change, said in ((("block_size", 24), "24"), (("pcp_world_size", 2), "ranks"),
                             (("slot_mapping_mode", types.SimpleNamespace(value="none")), "no slots")):
            module = self.start()
            setattr(self.runner.input_batch.block_table.block_tables[1], *change)
            self.runner._prepare_inputs(None, numpy.array([1]))
            self.assertIn(said, module.reason)

    def test_a_launch_that_fails_gives_the_stock_step_and_disarms(self):
        module = self.start()

        def spoil(entry, job):
            raise RuntimeError("launch failed")

        self.spoil = spoil
        self.assertEqual(self.step(), ["commit", "slots"])
        self.assertIn("launch failed", module.reason)

    def test_a_guard_that_throws_disarms_and_never_reaches_the_engine(self):
        module = self.start()
        self.module.refuse_step = mock.Mock(side_effect=ValueError("odd"))
        self.assertEqual(self.step(), ["commit", "slots"])
        self.assertIn("odd", module.reason)

    def test_a_disarm_survives_another_registration_and_new_tables(self):
        module = self.start()
        module.disarm("drift")
        module.register(lambda: self.fail("armed again"))
        batch = self.runner.input_batch
        self.runner.input_batch = types.SimpleNamespace(block_table=type(batch.block_table)(), num_computed_tokens_cpu=batch.num_computed_tokens_cpu)
        self.assertEqual(self.step(), ["commit", "slots"])
        self.assertFalse(module.armed)

    def test_handles_are_read_at_every_launch(self):
        self.start()
        self.step()
        for table in self.runner.input_batch.block_table.block_tables:
            table.block_table.gpu, table.slot_mapping.gpu = table.block_table.gpu.clone(), table.slot_mapping.gpu.clone()
        self.assertEqual(self.step(computed=(9, 3, 41)), [])

    def test_a_buffer_is_written_again_only_after_its_copy(self):
        self.start()
        staging = self.module.Staging(4, lambda size: None, lambda: types.SimpleNamespace(query=lambda: False))
        self.assertEqual([staging.acquire() for _ in range(6)], [0, 1, 2, 3, None, None])
        staging.copied[0].query = lambda: True
        self.assertEqual([staging.acquire(), staging.acquire()], [0, None])

    def test_while_all_copies_are_under_way_a_step_is_the_stock_path_s(self):
        module = self.start()
        self.step()
        self.runner.bk_prep.staging.acquire = lambda: None
        self.assertEqual(self.step(), ["commit", "slots"])
        self.assertTrue(module.armed)


if __name__ == "__main__":
    unittest.main()
