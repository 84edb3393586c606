"""What the kernel modules share: the knob, the library, one line in the log, and a disarm that holds for good."""

import ctypes
import os
import sys

LIBRARY = "BK_KERNELS"


class Disarmed(Exception):
    """Why a module leaves the engine as it is."""


OFF_OR_ON = {"": None, "0": None, "1": "on"}


class Module:
    """One overlay module in this process. Off unless its knob says otherwise; whatever goes wrong leaves the stock path, for good."""

    def __init__(self, name, knob, modes=None):
        """modes: what each value of the knob means, None for off; without, 1 is on."""
        self.name, self.knob = name, knob
        self.reason = None
        self.said = set()
        self.registered = False
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
            self.reason = str(why) or type(why).__name__
            self.say(f"disarmed: {self.reason}")

    def register(self, arm, always=False):
        """What a module's plugin entry point does: arm(), once, however often vLLM calls it in a process. `always`: also where the
        module is off, for one whose ranks vote."""
        if self.registered:
            return
        self.registered = True
        if self.armed:
            self.attempt(arm)
        elif always:
            try:
                arm()
            except Exception as error:
                self.say(f"cannot vote: {type(error).__name__}: {error}")

    def prepare(self, act, *args):
        """act(*args) on every rank of the tensor-parallel group: where it fails on one, all disarm. Every rank has to come here, and
        the answer is whether all may go on."""
        self.attempt(act, *args)
        try:
            agreed = everywhere(self.armed)
        except Exception as error:
            self.disarm(f"{type(error).__name__}: {error}")
            agreed = False
        if not agreed:
            self.disarm("another rank is not armed")
        return agreed

    def attempt(self, act, *args):
        """act(*args), or None after a failure, which disarms."""
        if not self.armed:
            return None
        try:
            return act(*args)
        except Exception as error:  # a fast path must never take the engine down
            self.disarm(f"{type(error).__name__}: {error}")
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


def check(status, entry):
    """Raises when a C entry refused."""
    if status != 0:
        raise Disarmed(f"{entry} refused with status {status}")


def everywhere(yes):
    """Whether every rank of the tensor-parallel group says yes."""
    import torch
    from vllm.distributed.parallel_state import get_tp_group

    group = get_tp_group()
    if group.world_size == 1:
        return yes
    vote = torch.tensor([int(yes)], dtype=torch.int32, device="cpu")
    torch.distributed.all_reduce(vote, op=torch.distributed.ReduceOp.MIN, group=group.cpu_group)
    return bool(vote.item())


def this_device():
    """The GPU that this process computes on now."""
    import torch

    return torch.device("cuda", torch.cuda.current_device())


def launch(so, entry, device, *jobs):
    """A C entry on torch's current stream of a device. Raises when it refused."""
    import torch

    stream = ctypes.c_void_p(torch.cuda.current_stream(device).cuda_stream)
    check(getattr(so, entry)(*[ctypes.byref(job) for job in jobs], stream), entry)


def plain(tensor, dtype, dims):
    """Whether a tensor is what the entries take: of this type and so many dimensions, contiguous, aligned, on a GPU."""
    return (str(tensor.dtype) == f"torch.{dtype}" and tensor.dim() == dims and tensor.is_cuda and tensor.is_contiguous()
            and tensor.data_ptr() % 16 == 0)


def agrees(got, want, relative):
    """Whether two tensors agree but for this part of the largest number; NaN never does."""
    largest = want.double().abs().max().clamp(min=1e-30)
    return bool(((got.double() - want.double()).abs().max() / largest) <= relative)
