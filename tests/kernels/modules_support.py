"""What the tests of the kernel modules share: a module as a fresh process would have it."""

import importlib
import os
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "overlay", "modules")
MODULES = {"moe_route": ("moe-route", "BK_MOE_ROUTE"), "tp_oneshot_ar": ("tp-oneshot-ar", "BK_TP_ONESHOT_AR"),
           "moe_gate_sm121": ("moe-gate-sm121", "BK_MOE_GATE"), "mhc": ("mhc", "BK_MHC"),
           "mla_indexer": ("mla-indexer", "BK_MLA_INDEXER"), "mla_sparse_swa": ("mla-sparse-swa", "BK_MLA_SPARSE_SWA"),
           "spec_fp8_head": ("spec-fp8-head", "BK_SPEC_FP8_HEAD"), "markov_topk": ("markov-topk", "BK_MARKOV_TOPK")}
sys.dont_write_bytecode = True
sys.path[:0] = [os.path.join(ROOT, folder) for folder in ["bk-kernels"] + [folder for folder, _ in MODULES.values()]]


def load(name, knob):
    """The module as a fresh process with this knob would have it."""
    os.environ.pop(MODULES[name][1], None)
    if knob is not None:
        os.environ[MODULES[name][1]] = knob
    for each in ("bk_kernels", name):
        sys.modules.pop(each, None)
    module = importlib.import_module(name)
    module.MODULE.lines = []
    return module
