"""Puts the kernel bk_oneshot_ar in place of vLLM's all-reduce of small bf16 messages inside a tensor-parallel group.

Loaded as a vLLM plugin. Nothing changes unless BK_TP_ONESHOT_AR is 1. The ranks arm together or not at all: each step of arming
is settled among them, and a rank with the knob off, without peer access or with a failed self-test keeps all of them on the stock
path. Whether a call is served depends on its shape and type alone, which are equal on every rank.
"""

import ctypes as c

import bk_kernels

MAX_ELEMENTS = 131072
MAX_WORLD = 8
REPORT_LOOKS, ABORT_LOOKS = 1 << 22, 1 << 28  # seconds, and minutes: a peer may still be compiling
MODULE = bk_kernels.Module("tp_oneshot_ar", "BK_TP_ONESHOT_AR")


class OneshotAr(c.Structure):
    _fields_ = [("source", c.c_void_p), ("out", c.c_void_p), ("regions", c.c_void_p * 8), ("state", c.c_void_p),
                ("report", c.c_void_p), ("elements", c.c_int64), ("rank", c.c_int), ("world", c.c_int),
                ("report_spins", c.c_uint32), ("abort_spins", c.c_uint32)]


class Ring:
    """The memory that the ranks of one group share, and the call."""

    def __init__(self, so, communicator):
        import torch
        import torch.distributed._symmetric_memory as symm

        self.so, self.torch, self.communicator = so, torch, communicator
        for name in ("bk_oneshot_region_bytes", "bk_oneshot_state_bytes"):
            getattr(so, name).restype = c.c_size_t
        device = communicator.device
        self.region = symm.empty(so.bk_oneshot_region_bytes(communicator.world_size), dtype=torch.uint8, device=device)
        self.region.zero_()
        self.state = torch.zeros(so.bk_oneshot_state_bytes(), dtype=torch.uint8, device=device)
        self.report = torch.zeros(3, dtype=torch.int32).pin_memory()
        self.job = None

    def meet(self):
        """Maps the peers' memory. Every rank has to come here."""
        import torch.distributed._symmetric_memory as symm

        group = self.communicator
        handle = symm.rendezvous(self.region, group.device_group.group_name)
        regions = (c.c_void_p * 8)(*[int(pointer) for pointer in handle.buffer_ptrs])
        self.job = OneshotAr(None, None, regions, self.state.data_ptr(), self.report.data_ptr(), 0, group.rank_in_group,
                             group.world_size, REPORT_LOOKS, ABORT_LOOKS)
        self.torch.cuda.synchronize(group.device)

    def serves(self, x):
        return (x.dtype == self.torch.bfloat16 and x.is_cuda and x.is_contiguous() and 0 < x.numel() <= MAX_ELEMENTS
                and x.numel() % 2 == 0)

    def __call__(self, x):
        if int(self.report[0]) >= 2:  # every rank's sums are NaN from here on: better no engine than such answers
            raise RuntimeError(f"tp_oneshot_ar: a peer stayed away; phase, call and missing ranks: {self.report.tolist()}")
        out = self.torch.empty_like(x)
        self.job.source, self.job.out, self.job.elements = x.data_ptr(), out.data_ptr(), x.numel()
        bk_kernels.launch(self.so, "bk_oneshot_ar", x.device, self.job)
        return out

    def test(self):
        """Rank r gives r + 1; all have to see the sum, at a few sizes and over several turns of the ring."""
        torch, world = self.torch, self.job.world
        for rows in (1, 6, 32, 6, 1, 6):
            x = torch.full((rows, 4096), float(self.job.rank + 1), dtype=torch.bfloat16, device=self.region.device)
            if not bool((self(x) == world * (world + 1) / 2).all()) or int(self.report[0]) != 0:
                raise bk_kernels.Disarmed("the self-test's sums are wrong")


def open_ring(communicator):
    """The group's ring, on every rank or on none: each step is taken by all."""
    rings = []

    def allocate():
        if communicator.world_size > MAX_WORLD:
            raise bk_kernels.Disarmed(f"{communicator.world_size} ranks, at most {MAX_WORLD} are served")
        rings.append(Ring(bk_kernels.library(), communicator))

    for step in (allocate, lambda: rings[0].meet(), lambda: rings[0].test()):
        if not MODULE.prepare(step, group=communicator):
            return None
    return rings[0]


def put_in(communicator_class):
    """Opens a ring for every tensor-parallel group."""
    stock_init, stock_all_reduce = communicator_class.__init__, communicator_class.all_reduce

    def init(self, *args, **kwargs):
        stock_init(self, *args, **kwargs)
        self.bk_ring = None
        if self.world_size > 1 and self.unique_name.startswith("tp"):
            self.bk_ring = open_ring(self)
            if self.bk_ring is not None:
                MODULE.say(f"armed, rank {self.rank_in_group} of {self.world_size}")

    def all_reduce(self, input_):
        ring = self.bk_ring
        if ring is None or not MODULE.fits(ring.serves, input_):
            return stock_all_reduce(self, input_)
        out = ring(input_)
        MODULE.say(f"serves all-reduces of up to {MAX_ELEMENTS} bf16 numbers")
        return out

    communicator_class.__init__, communicator_class.all_reduce = init, all_reduce


def arm():
    from vllm.distributed.device_communicators.cuda_communicator import CudaCommunicator

    put_in(CudaCommunicator)


def register():
    """vLLM's entry point."""
    MODULE.register(arm)
