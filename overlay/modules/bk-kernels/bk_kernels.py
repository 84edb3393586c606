"""What the kernel modules share: the knob, the library, one line in the log, and a disarm that holds for good."""

import ctypes
import os
import sys

LIBRARY = "BK_KERNELS"


class Disarmed(Exception):
    """Why a module leaves the engine as it is."""


class Module:
    """One overlay module in this process. Off unless its knob is 1; whatever goes wrong leaves the stock path, for good."""

    def __init__(self, name, knob):
        self.name, self.knob = name, knob
        self.reason = None
        self.said = set()
        text = os.environ.get(knob, "")
        self.wanted = text == "1"
        if text not in ("", "0", "1"):
            self.disarm(f"{knob}={text!r} is neither 0 nor 1")
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
