"""What the tests of the kernel modules share: a module as a fresh process would have it."""

import importlib
import os
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "overlay", "modules")
MODULES = {"moe_route": ("moe-route", "BK_MOE_ROUTE"), "tp_oneshot_ar": ("tp-oneshot-ar", "BK_TP_ONESHOT_AR"),
           "moe_gate_sm121": ("moe-gate-sm121", "BK_MOE_GATE"), "mhc": ("mhc", "BK_MHC"),
           "mla_indexer": ("mla-indexer", "BK_MLA_INDEXER"), "mla_sparse_swa": ("mla-sparse-swa", "BK_MLA_SPARSE_SWA"),
           "spec_fp8_head": ("spec-fp8-head", "BK_SPEC_FP8_HEAD"), "markov_topk": ("markov-topk", "BK_MARKOV_TOPK"),
           "prep_fused": ("prep-fused", "BK_PREP_FUSED")}
sys.dont_write_bytecode = True
sys.path[:0] = [os.path.join(ROOT, folder) for folder in ["bk-kernels"] + [folder for folder, _ in MODULES.values()]]


def without_torch(script):
    """Starts a test again with a Python that has torch, BK_TORCH_PYTHON or the one of `./dev engines --vllm`; else says so and ends."""
    other = os.environ.pop("BK_TORCH_PYTHON", "") or os.path.join(ROOT, "..", "..", ".engines", "vllm", "bin", "python")
    if os.path.exists(other) and os.environ.get("BK_WITHOUT_TORCH") != "1":
        os.environ["BK_WITHOUT_TORCH"] = "1"
        os.execv(other, [other, script])
    print("skipped: torch is not installed")
    sys.exit(0)


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
