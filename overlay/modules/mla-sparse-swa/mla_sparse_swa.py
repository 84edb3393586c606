"""Puts the kernel bk_swa_windows in place of the two that make the window lists of vLLM's DeepSeek V4 attention metadata.

Loaded as a vLLM plugin. Nothing changes unless BK_MLA_SPARSE_SWA is 1. Another window than 128 or another page than 64 tokens takes
the stock path; whatever fails takes it for the rest of the boot.
"""

import ctypes as c

import bk_kernels

WINDOW, PAGE = 128, 64
MODULE = bk_kernels.Module("mla_sparse_swa", "BK_MLA_SPARSE_SWA", alone=True)  # its lists are the stock ones


class Windows(c.Structure):
    _fields_ = [("query_start", c.c_void_p), ("seq_lens", c.c_void_p), ("token_rows", c.c_void_p), ("valid", c.c_void_p),
                ("block_table", c.c_void_p), ("slots", c.c_void_p), ("lengths", c.c_void_p), ("table_stride", c.c_int64),
                ("slots_stride", c.c_int64), ("first", c.c_int), ("t", c.c_int), ("width", c.c_int), ("list_width", c.c_int),
                ("causal", c.c_int)]


def make_op(so):
    """The operator bk::swa_windows."""
    import torch
    from torch import Tensor

    @torch.library.custom_op("bk::swa_windows", mutates_args=("slots", "lengths"))
    def windows(slots: Tensor, lengths: Tensor, query_start: Tensor, seq_lens: Tensor, token_rows: Tensor, valid: Tensor,
                block_table: Tensor, first: int, tokens: int, list_width: int, causal: bool) -> None:
        job = Windows(query_start.data_ptr(), seq_lens.data_ptr(), token_rows.data_ptr(), valid.data_ptr(), block_table.data_ptr(),
                      slots.data_ptr(), lengths.data_ptr(), block_table.stride(0), slots.stride(0), first, tokens,
                      block_table.shape[1], list_width, int(causal))
        bk_kernels.launch(so, "bk_swa_windows", slots.device, job)

    windows.register_fake(lambda *_: None)
    return windows


def expected(case, first, tokens, list_width, causal):
    """The lists and lengths by the definition, token by token."""
    starts, lens, rows, valid, table = case
    lists, lengths = [], []
    for token in range(first, first + tokens):
        row = rows[token]
        prefix = lens[row] - (starts[row + 1] - starts[row])
        position = prefix + token - starts[row]
        begin, end = (max(position - WINDOW + 1, 0), position + 1) if causal else (max(prefix - WINDOW, 0), lens[row])
        places = range(begin, end) if valid[token] else range(0)
        lengths.append(len(places))
        lists.append([table[row][p // PAGE] * PAGE + p % PAGE for p in places] + [-1] * (list_width - len(places)))
    return lists, lengths


class Kernel:
    """The operator; ready once it has agreed with the definition."""

    def __init__(self):
        self.asked, self.op, self.ready = False, None, False

    def open(self, device):
        self.op = make_op(bk_kernels.library())
        self.prewarm(device)
        self.ready = True

    def prewarm(self, device):
        """Outside any capture: requests of several lengths, a padded token, both kinds of list."""
        import torch

        starts, lens = [0, 6, 12, 13], [6, 1000, 129]
        rows = [row for row in range(3) for _ in range(starts[row], starts[row + 1])]
        table = [[(7 * row + 3 * block) % 50 for block in range(20)] for row in range(3)]
        case = (starts, lens, rows, [token != 3 for token in range(13)], table)

        def put(values, dtype=torch.int32):
            return torch.tensor(values, dtype=dtype, device=device)

        on_device = (put(starts), put(lens), put(rows), put(case[3], torch.bool), put(table))
        for first, tokens, list_width, causal in ((0, 12, 128, True), (12, 1, 128, True), (0, 13, 256, False)):
            slots = torch.zeros((tokens, 1, list_width), dtype=torch.int32, device=device)
            lengths = torch.full((tokens,), -1, dtype=torch.int32, device=device)
            self.op(slots, lengths, *on_device, first, tokens, list_width, causal)
            if (slots.squeeze(1).tolist(), lengths.tolist()) != expected(case, first, tokens, list_width, causal):
                raise bk_kernels.Disarmed("the prewarm does not agree with the definition")


def words(*tensors):
    return all(str(tensor.dtype) == "torch.int32" and tensor.stride(-1) == 1 and tensor.is_cuda for tensor in tensors)


class Launcher:
    """Stands in for one of vLLM's kernels: kernel[grid](arguments)."""

    def __init__(self, kernel, stock, causal):
        self.kernel, self.stock, self.causal = kernel, stock, causal

    def __getitem__(self, grid):
        return lambda *args, **kwargs: self.launch(grid, args, kwargs)

    def launch(self, grid, args, kwargs):
        job = MODULE.attempt(self.job, grid, *args, **kwargs) if self.kernel.ready else None
        if job is None or not MODULE.attempt(self.run, job):
            return self.stock[grid](*args, **kwargs)
        MODULE.say(f"serves {'window lists' if self.causal else 'lists of draft blocks'}")
        return None

    def job(self, grid, slots, slots_stride, lengths, window, *rest, token_offset, TRITON_BLOCK_SIZE):
        """The operator's arguments, or None for a call that keeps the stock path. The lists that end with the block have their width
        as one more argument."""
        tokens, (list_width, rest) = grid[0], (window, rest) if self.causal else (rest[0], rest[1:])
        query_start, seq_lens, token_rows, valid, table, table_stride, page = rest
        if (window != WINDOW or page != PAGE or tokens < 1 or table_stride != table.stride(0) or slots_stride != slots.stride(0)
                or list_width > slots.shape[-1] or not words(slots, lengths, query_start, seq_lens, token_rows, table)
                or str(valid.dtype) != "torch.bool" or not valid.is_cuda or valid.stride(-1) != 1):
            return None
        return slots, lengths, query_start, seq_lens, token_rows, valid, table, token_offset, tokens, list_width, self.causal

    def run(self, job):
        self.kernel.op(*job)
        return True


def arm():
    from vllm.v1.attention.backends.mla import sparse_swa

    kernel = Kernel()
    builder = sparse_swa.DeepseekSparseSWAMetadataBuilder
    stock_init = builder.__init__

    def init(self, *args, **kwargs):
        stock_init(self, *args, **kwargs)
        if not kernel.asked:
            kernel.asked = True
            MODULE.prepare(kernel.open, self.device)

    builder.__init__ = init
    sparse_swa._compute_swa_indices_and_lens_kernel = Launcher(kernel, sparse_swa._compute_swa_indices_and_lens_kernel, True)
    sparse_swa._compute_dspark_noncausal_swa_indices_kernel = Launcher(
        kernel, sparse_swa._compute_dspark_noncausal_swa_indices_kernel, False)
    MODULE.say("armed")


def register():
    """vLLM's entry point."""
    MODULE.register(arm)
