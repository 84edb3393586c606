"""Puts the kernel bk_prep_fused in place of the block tables' copies and the slot mappings of a decode step in vLLM's first runner.

Loaded as a vLLM plugin. Nothing changes unless BK_PREP_FUSED is shadow or on. In shadow the fused step is made, then the stock one over
it, and both are compared; on, that happens at the first step and every 64th. A difference in any number takes the stock path for the
rest of the boot, and so does whatever fails; a step that the kernel does not fit takes it for that step.
"""

import ctypes as c

import bk_kernels

MAX_GROUPS, MAX_REQUESTS, MAX_QUERY = 7, 256, 64
BUFFERS, SELF_CHECK_STEPS = 4, 64
MODULE = bk_kernels.Module("prep_fused", "BK_PREP_FUSED",
                           {"": None, "0": None, "off": None, "shadow": "shadow", "1": "on", "on": "on"}, alone=True)  # its numbers are the stock ones


class PrepGroup(c.Structure):
    _fields_ = [("block_table", c.c_void_p), ("slots", c.c_void_p), ("seq_lens", c.c_void_p), ("token_seq_lens", c.c_void_p),
                ("token_rows", c.c_void_p), ("block_counts", c.c_void_p), ("block_size", c.c_int), ("ratio", c.c_int),
                ("width", c.c_int)]


class Prep(c.Structure):
    _fields_ = [("staging", c.c_void_p), ("packed", c.c_void_p), ("bytes", c.c_int64), ("positions", c.c_void_p),
                ("seq_lens", c.c_void_p), ("query_start", c.c_void_p), ("logits_index", c.c_void_p),
                ("group", PrepGroup * MAX_GROUPS), ("groups", c.c_int), ("requests", c.c_int), ("query", c.c_int)]


def make_op(so):
    """The operator bk::prep_fused. What the kernel makes and the engine does not take goes to `scratch`."""
    import typing

    import torch
    from torch import Tensor

    @torch.library.custom_op("bk::prep_fused", mutates_args=("packed", "tables", "slots", "positions", "query_start", "scratch"))
    def prep(staging: Tensor, words: int, packed: Tensor, tables: typing.List[Tensor], slots: typing.List[Tensor], positions: Tensor,
             query_start: Tensor, scratch: Tensor, block_sizes: typing.List[int], requests: int, query: int) -> None:
        place = [scratch.data_ptr() + 4 * i * MAX_REQUESTS * MAX_QUERY for i in range(4)]
        groups = [PrepGroup(table.data_ptr(), slot.data_ptr(), *place, size, 1, table.shape[1])
                  for table, slot, size in zip(tables, slots, block_sizes)]
        job = Prep(staging.data_ptr(), packed.data_ptr(), 4 * words, positions.data_ptr(), place[0], query_start.data_ptr(), place[1],
                   (PrepGroup * MAX_GROUPS)(*groups), len(groups), requests, query)
        bk_kernels.launch(so, "bk_prep_fused", packed.device, job)

    prep.register_fake(lambda *_: None)
    return prep


class Staging:
    """Pinned buffers in turn: one is written again only after the copy out of it is done."""

    def __init__(self, words, pin, event):
        self.buffers = [pin(words) for _ in range(BUFFERS)]
        self.copied = [event() for _ in self.buffers]
        self.used, self.next = [False] * BUFFERS, 0

    def acquire(self):
        """The next buffer's number, or None while its last copy is under way."""
        turn = self.next
        if self.used[turn] and not self.copied[turn].query():
            return None
        self.used[turn], self.next = True, (turn + 1) % BUFFERS
        return turn


def power_of_two(value):
    return value > 0 and value & (value - 1) == 0


def refuse_runner(runner):
    """Why an engine's steps keep the stock path altogether, or None."""
    tables = runner.input_batch.block_table.block_tables
    if runner.use_async_spec_decode:
        return "with asynchronous speculation the host does not know how many tokens are computed"
    if not 1 <= len(tables) <= MAX_GROUPS:
        return f"{len(tables)} KV groups"
    for table in tables:
        if table.slot_mapping_mode.value != "token_to_kv_slot" or table.dcp_world_size * table.pcp_world_size != 1:
            return "a KV group has no slots, or they are spread over ranks"
        if not power_of_two(table.block_size):
            return f"blocks of {table.block_size} tokens"
    return None


def refuse_step(tables, computed, scheduled):
    """Why one step keeps the stock path, or None. Its new tokens have to end in the blocks that each request has."""
    query = int(scheduled[0]) if len(scheduled) else 0
    if not 1 <= len(scheduled) <= MAX_REQUESTS or not power_of_two(query) or query > MAX_QUERY or (scheduled != query).any():
        return "not every request has the same power of two of new tokens"
    for table in tables:
        counts = table.num_blocks_per_row[:len(scheduled)]
        if (counts * table.block_size < computed + query).any() or (counts > table.max_num_blocks_per_req).any():
            return "new tokens lie beyond the blocks of a request"
    return None


def pack(words, computed, tables):
    """Writes what the kernel reads, and returns how many words that is."""
    requests, groups = len(computed), len(tables)
    words[0], words[1:1 + requests] = requests, computed
    begin, place = 1 + requests, 1 + requests + groups * (requests + 1)
    for table in tables:
        counts = table.num_blocks_per_row[:requests]
        rows = table.block_table.np[:requests, :max(int(counts.max()), 1)]
        blocks = rows[table.bk_columns[:rows.shape[1]] < counts[:, None]]
        words[begin] = place
        words[begin + 1:begin + 1 + requests] = place + counts.cumsum()
        words[place:place + len(blocks)] = blocks
        begin, place = begin + requests + 1, place + len(blocks)
    return place


class Fused:
    """The fused step of one engine."""

    def __init__(self, runner):
        import numpy
        import torch

        why = refuse_runner(runner)
        if why is not None:
            raise bk_kernels.Disarmed(why)
        self.torch, self.batch = torch, runner.input_batch
        self.tables = self.batch.block_table.block_tables
        requests = min(self.tables[0].max_num_reqs, MAX_REQUESTS)
        words = 1 + requests + sum(requests + 1 + requests * table.max_num_blocks_per_req for table in self.tables)
        ints = {"dtype": torch.int32, "device": runner.device}
        for table in self.tables:
            table.bk_columns = numpy.arange(table.max_num_blocks_per_req)
        self.op = make_op(bk_kernels.library())
        self.staging = Staging(words, lambda size: torch.zeros(size, dtype=torch.int32, device="cpu", pin_memory=runner.device.type == "cuda"),
                               runner_event(torch, runner.device))
        self.packed, self.scratch = torch.zeros(words, **ints), torch.zeros(4 * MAX_REQUESTS * MAX_QUERY, **ints)
        self.positions = torch.zeros(MAX_REQUESTS * MAX_QUERY, dtype=torch.int64, device=runner.device)
        self.query_start = torch.zeros(MAX_REQUESTS + 1, **ints)
        self.steps = 0

    def run(self, computed, query, written):
        """Whether the engine's own tables and slots are made; the handles are those of this moment. `written`: slots that the step
        before left, which have to go."""
        turn = self.staging.acquire()
        if turn is None:
            return False
        buffer = self.staging.buffers[turn]
        words = pack(buffer.numpy(), computed, self.tables)
        tokens = len(computed) * query
        slots = [table.slot_mapping.gpu for table in self.tables]
        self.op(buffer, words, self.packed, [table.block_table.gpu for table in self.tables], slots, self.positions, self.query_start,
                self.scratch, [table.block_size for table in self.tables], len(computed), query)
        self.staging.copied[turn].record()
        for slot in slots if written > tokens else ():
            slot[tokens:written].fill_(-1)
        return True

    def kept(self, requests, query):
        return [(table.block_table.gpu[:requests].clone(), table.slot_mapping.gpu[:requests * query].clone()) for table in self.tables]

    def drift(self, kept, query_start, positions):
        """Numbers that differ between the fused step and the stock one that was made over it."""
        off = (self.positions[:len(positions)] != positions).sum() + (self.query_start[:len(query_start)] != query_start).sum()
        for table, (blocks, slots) in zip(self.tables, kept):
            counts = self.torch.from_numpy(table.num_blocks_per_row[:len(blocks)]).to(blocks.device)
            real = self.torch.arange(blocks.shape[1], device=blocks.device) < counts.unsqueeze(-1)
            off = off + ((blocks != table.block_table.gpu[:len(blocks)]) & real).sum() + (slots != table.slot_mapping.gpu[:len(slots)]).sum()
        return int(off)


def runner_event(torch, device):
    """What makes an event of a device; host memory has none to wait for."""
    if device.type == "cuda":
        return torch.cuda.Event

    class Done:
        def query(self):
            return True

        def record(self):
            pass

    return Done


class Step:
    """One decode step, from the copy of the tables that is left out to the slots."""

    def __init__(self, fused, computed, query):
        self.fused, self.computed, self.query = fused, computed, query

    def make(self, stock, num_reqs, query_start, positions, written):
        """Makes the tables and slots; stock() makes both as the engine would."""
        fused = self.fused
        if not MODULE.attempt(fused.run, self.computed, self.query, written):
            stock()
            return
        due = MODULE.mode == "shadow" or fused.steps % SELF_CHECK_STEPS == 0
        fused.steps += 1
        if due:
            kept = MODULE.attempt(fused.kept, num_reqs, self.query)
            stock()
            off = None if kept is None else MODULE.attempt(fused.drift, kept, query_start, positions)
            if off:
                MODULE.disarm(f"drift: {off} numbers differ at step {fused.steps - 1}")
            elif off == 0:
                MODULE.say(f"{'shadow' if MODULE.mode == 'shadow' else 'self-check'}: no number differs")
        if MODULE.mode == "on" and MODULE.armed:
            MODULE.say(f"serves decode steps ({len(fused.tables)} KV groups)")


def open_step(runner, scheduled):
    """The step, or None where the engine's own path makes it."""
    if getattr(runner, "bk_prep", None) is None:
        runner.bk_prep = Fused(runner)
    fused = runner.bk_prep
    if fused.batch is not runner.input_batch:  # made anew with other block sizes
        fused = runner.bk_prep = Fused(runner)
    computed = runner.input_batch.num_computed_tokens_cpu[:len(scheduled)]
    why = refuse_step(fused.tables, computed, scheduled)
    return Step(fused, computed, int(scheduled[0])) if why is None else None


def put_in(runner_class, table_class):
    """Patches the runner, which knows the step, and the tables, which make its tensors."""
    stock_prepare = runner_class._prepare_inputs
    stock_commit, stock_slots = table_class.commit_block_table, table_class.compute_slot_mapping

    def _prepare_inputs(self, scheduler_output, num_scheduled_tokens):
        tables = self.input_batch.block_table
        tables.bk_step = MODULE.attempt(open_step, self, num_scheduled_tokens)
        try:
            return stock_prepare(self, scheduler_output, num_scheduled_tokens)
        finally:
            tables.bk_step = None

    def commit_block_table(self, num_reqs):
        if getattr(self, "bk_step", None) is None:  # else the fused step writes the tables with the slots
            stock_commit(self, num_reqs)

    def compute_slot_mapping(self, num_reqs, query_start_loc, positions):
        step, self.bk_step = getattr(self, "bk_step", None), None

        def stock():
            stock_commit(self, num_reqs)
            stock_slots(self, num_reqs, query_start_loc, positions)

        if step is None:
            stock_slots(self, num_reqs, query_start_loc, positions)
        else:
            written = getattr(self, "bk_written", self.block_tables[0].max_num_batched_tokens)
            step.make(stock, num_reqs, query_start_loc, positions, written)
        self.bk_written = len(positions)

    runner_class._prepare_inputs = _prepare_inputs
    table_class.commit_block_table, table_class.compute_slot_mapping = commit_block_table, compute_slot_mapping


def arm():
    from vllm.v1.worker.block_table import MultiGroupBlockTable
    from vllm.v1.worker.gpu_model_runner import GPUModelRunner

    put_in(GPUModelRunner, MultiGroupBlockTable)
    MODULE.say(f"armed, {MODULE.mode}")


def register():
    """vLLM's entry point."""
    MODULE.register(arm)
