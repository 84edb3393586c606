"""What the kernel modules share: the knob, the library, one line in the log, and a disarm that holds for good."""

import ctypes
import os
import sys
import time

LIBRARY = "BK_KERNELS"
PATIENCE_S = 120  # a rank that is later than this has the knob off, or is gone


class Disarmed(Exception):
    """Why a module leaves the engine as it is."""


OFF_OR_ON = {"": None, "0": None, "1": "on"}


class Module:
    """One overlay module in this process. Off unless its knob says otherwise; whatever goes wrong leaves the stock path, for good."""

    def __init__(self, name, knob, modes=None, alone=False):
        """modes: what each value of the knob means, None for off; without, 1 is on. alone: a rank may take the stock path while the
        others do not, because what either computes is equal, or only proposes."""
        self.name, self.knob, self.alone = name, knob, alone
        self.reason = None
        self.said = set()
        self.registered = False
        self.asked = 0  # questions that were put to the ranks
        self.over = False  # all of them know that one said no
        self.bound = False  # the other ranks serve what this one serves
        text = os.environ.get(knob, "")
        self.mode = (modes or OFF_OR_ON).get(text)
        self.wanted = self.mode is not None
        if text not in (modes or OFF_OR_ON):
            known = "neither 0 nor 1" if modes is None else f"none of {', '.join(filter(None, modes))}"
            self.disarm(f"{knob}={text!r} is {known}")
        elif not self.wanted:
            self.say("off")

    @property
    def armed(self):
        return self.wanted and self.reason is None

    def say(self, text):
        """A line of the log, once a process."""
        if text not in self.said:
            self.said.add(text)
            sys.stderr.write(f"{self.name}: {text}\n")
            sys.stderr.flush()

    def disarm(self, why):
        if self.reason is None:
            self.reason = why if isinstance(why, str) else f"{type(why).__name__}: {why}"
            self.say(f"disarmed: {self.reason}")

    def register(self, arm):
        """What a module's plugin entry point does: arm(), once, however often vLLM calls it in a process."""
        if self.registered:
            return
        self.registered = True
        if self.armed:
            try:
                arm()
            except Exception as error:
                self.disarm(error)

    def prepare(self, act, *args, group=None):
        """act(*args) on every rank of a tensor-parallel group, vLLM's own without `group`: where it fails on one, all disarm. The
        answer, whether all may go on, is the same on every rank, also on one whose peers never ask."""
        if self.over:
            return False
        if self.armed:
            try:
                act(*args)
            except Exception as error:
                self.disarm(error)
        self.asked += 1
        try:
            ranks, agreed = everywhere(self.armed, f"{self.name}/{self.asked}", group)
        except Exception as error:
            self.disarm(error)
            ranks, agreed = 1, False
        self.over, self.bound = not agreed, agreed and ranks > 1 and not self.alone
        if not agreed:
            self.disarm("another rank is not armed")
        return agreed

    def fits(self, guard, *args, **kwargs):
        """Whether a call is one for the kernel. What a guard throws disarms: shapes and types are equal on every rank."""
        try:
            return self.armed and bool(guard(*args, **kwargs))
        except Exception as error:
            self.disarm(error)
            return False

    def attempt(self, act, *args, **kwargs):
        """act(*args), or None after a failure, which disarms. Raises where this rank would then compute something else than the others,
        whose kernels go on: better no engine than such answers."""
        if not self.armed:
            return None
        try:
            return act(*args, **kwargs)
        except Exception as error:  # a fast path must never take the engine down
            self.disarm(error)
            if self.bound:
                raise RuntimeError(f"{self.name}: {self.reason}; the other ranks may have gone on: boot with {self.knob}=0") from error
            return None


def library():
    """The compiled kernels. Raises Disarmed with what to do."""
    path = os.environ.get(LIBRARY, "")
    if not path:
        raise Disarmed(f"{LIBRARY} does not name libbk_kernels.so: build it with cmake --preset cuda")
    try:
        return ctypes.CDLL(path)
    except OSError as error:
        raise Disarmed(f"{path} cannot be loaded: {error}") from error


def stays(config, shared_workspace):
    """Raises where an engine would not leave what a module keeps on the GPU as it is."""
    if config.model_config.enable_sleep_mode:
        raise Disarmed("with sleep mode, what it keeps on the GPU may be dropped")
    if shared_workspace and config.parallel_config.use_ubatching:
        raise Disarmed("with micro-batches, launches that share a workspace are not ordered")


def check(status, entry):
    """Raises when a C entry refused."""
    if status != 0:
        raise Disarmed(f"{entry} refused with status {status}")


def everywhere(yes, question, group=None):
    """How many ranks there are in a group, and whether all of them say yes. It asks through the store that the ranks met by, not by a
    collective, in which the others would hang for one rank that never comes."""
    if group is None:
        from vllm.distributed.parallel_state import get_tp_group

        group = get_tp_group()
    if group.world_size == 1:
        return 1, yes
    from torch.distributed.distributed_c10d import _get_default_store

    key = f"bk/{group.unique_name}/{group.ranks[0]}/{question}"
    return group.world_size, settle(_get_default_store(), key, group.rank_in_group, group.world_size, yes)


def settle(store, key, rank, world, yes, patience_s=PATIENCE_S):
    """Whether every rank said yes to a question in time: the same answer on every rank that asks."""
    store.set(f"{key}/{rank}", "1" if yes else "0")
    open_, until = [f"{key}/{other}" for other in range(world)], time.monotonic() + patience_s
    answer = yes
    while answer and open_:
        if store.check([open_[0]]):
            answer = bytes(store.get(open_.pop(0))) == b"1"
        elif time.monotonic() > until:
            answer = False
        else:
            time.sleep(0.002)
    # Whoever decides first decides for all: else one might give up while another has just heard the last yes.
    return bytes(store.compare_set(f"{key}/all", "", "1" if answer else "0")) == b"1"


def this_device():
    """The GPU that this process computes on now."""
    import torch

    return torch.device("cuda", torch.cuda.current_device())


def launch(so, entry, device, *jobs):
    """A C entry on torch's current stream of a device. Raises when it refused."""
    import torch

    with torch.cuda.device(device):
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        check(getattr(so, entry)(*[ctypes.byref(job) for job in jobs], stream), entry)


def plain(tensor, dtype, dims):
    """Whether a tensor is what the entries take: of this type and so many dimensions, contiguous, aligned, on a GPU."""
    return (str(tensor.dtype) == f"torch.{dtype}" and tensor.dim() == dims and tensor.is_cuda and tensor.is_contiguous()
            and tensor.data_ptr() % 16 == 0)


def numbers(tensor, dtype, count):
    """Whether a tensor is so many numbers of this type that lie together on a GPU."""
    return str(tensor.dtype) == f"torch.{dtype}" and tensor.is_cuda and tensor.is_contiguous() and tensor.numel() == count


def agrees(got, want, relative):
    """Whether two tensors agree but for this part of the largest number; NaN never does."""
    largest = want.double().abs().max().clamp(min=1e-30)
    return bool(((got.double() - want.double()).abs().max() / largest) <= relative)
