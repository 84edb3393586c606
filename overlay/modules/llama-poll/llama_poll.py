"""Lets LLAMA_POLL set the default of thread polling in xllamacpp.CommonParams (0 sleeps between steps, 100 spins).

Loaded at start-up by llama_poll.pth. Nothing changes unless LLAMA_POLL is set; a value that is no whole number from 0 to 100
stops the program, since a misspelt switch must not look like an effect of zero.
"""

import importlib.abc
import importlib.machinery
import os
import sys

NAME = "LLAMA_POLL"


def wanted():
    text = os.environ.get(NAME, "")
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and 0 <= int(text) <= 100):
        sys.stderr.write(f"llama_poll: error: {NAME}={text!r} is no whole number from 0 to 100\n")
        sys.stderr.flush()
        os._exit(2)
    return int(text)


def patch(module, poll):
    package_class = module.CommonParams

    class CommonParams(package_class):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            for cpu in (self.cpuparams, self.cpuparams_batch):
                cpu.poll = poll

    before = package_class().cpuparams.poll
    module.CommonParams = CommonParams
    after = module.CommonParams().cpuparams.poll
    sys.stderr.write(f"llama_poll: default poll {before} -> {after}\n")
    sys.stderr.flush()


class Finder(importlib.abc.MetaPathFinder):
    """Lets the package load itself, then patches it."""

    def __init__(self, poll):
        self.poll = poll

    def find_spec(self, name, path, target=None):
        if name != "xllamacpp":
            return None
        sys.meta_path.remove(self)
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is not None:
            run = spec.loader.exec_module

            def exec_module(module):
                run(module)
                patch(module, self.poll)

            spec.loader.exec_module = exec_module
        return spec


POLL = wanted()
if POLL is not None:
    sys.meta_path.insert(0, Finder(POLL))
