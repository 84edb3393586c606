"""What the kernel modules put in place of vLLM 0.26.0's functions has their arguments, names and defaults alike.

Reads a wheel, which is not installed: the one that BK_VLLM_WHEEL names, or that `./dev engines --wheels` fetched. Skipped without.
"""

import ast
import glob
import inspect
import os
import sys
import types
import unittest
import zipfile

from modules_support import ROOT, load

sys.modules["torch"] = None  # may not be imported here, installed or not


def wheel():
    named = os.environ.get("BK_VLLM_WHEEL", "")
    found = sorted(glob.glob(os.path.join(ROOT, "..", "..", ".engines", "wheels", "vllm-0.26.0-*.whl")))
    return named if os.path.exists(named) else found[-1] if found else None


def of_source(text, path):
    """Names and defaults of a function's arguments, from source text; a path is a class and a method, or a function."""
    body = ast.parse(text).body
    for name in path.split("."):
        (node,) = [each for each in body if getattr(each, "name", None) == name]
        body = node.body
    names = [each.arg for each in node.args.posonlyargs + node.args.args]
    return [(name, None) for name in names[:len(names) - len(node.args.defaults)]] + [
        (name, ast.literal_eval(value)) for name, value in zip(names[len(names) - len(node.args.defaults):], node.args.defaults)]


def of_function(function):
    return [(each.name, None if each.default is each.empty else each.default) for each in inspect.signature(function).parameters.values()]


class Signatures(unittest.TestCase):
    def same(self, path, name, function):
        with zipfile.ZipFile(wheel()) as archive:
            self.assertEqual(of_function(function), of_source(archive.read(path).decode(), name), name)

    def test_what_stands_in_has_the_arguments_of_what_it_replaces(self):
        mhc = load("mhc", "1")
        pre, post, both, head = mhc.replacements(None, None, None, None, None)
        for name, function in (("mhc_pre_tilelang", pre), ("mhc_post_tilelang", post), ("mhc_fused_post_pre_tilelang", both),
                               ("hc_head_fused_kernel_tilelang", head)):
            self.same("vllm/model_executor/kernels/mhc/tilelang.py", name, function)
        self.same("vllm/models/deepseek_v4/common/ops/fused_indexer_q.py", "fused_indexer_q_rope_quant",
                  load("mla_indexer", "1").replacement(None, None))
        self.same("vllm/v1/worker/gpu/spec_decode/dspark/speculator.py", "DSparkSpeculator._sample_sequential",
                  load("markov_topk", "1").replacement(None, None))
        processor = types.SimpleNamespace(_apply_head=None)
        load("spec_fp8_head", "1").put_in(processor, {})
        self.same("vllm/model_executor/layers/logits_processor.py", "LogitsProcessor._apply_head",
                  lambda self, lm_head, hidden_states, embedding_bias: None)
        self.assertEqual([name for name, _ in of_function(processor._apply_head)], ["lm_head", "hidden_states", "embedding_bias"])

    def test_the_methods_that_prep_fused_replaces_are_called_as_it_calls_them(self):
        runner, tables = type("Runner", (), {}), type("Tables", (), {})
        runner._prepare_inputs = tables.commit_block_table = tables.compute_slot_mapping = None
        load("prep_fused", "on").put_in(runner, tables)
        self.same("vllm/v1/worker/gpu_model_runner.py", "GPUModelRunner._prepare_inputs", runner._prepare_inputs)
        for method in ("commit_block_table", "compute_slot_mapping"):
            self.same("vllm/v1/worker/block_table.py", f"MultiGroupBlockTable.{method}", getattr(tables, method))

    def test_every_name_that_a_module_patches_stands_in_the_file_that_it_pins(self):
        patched = {"vllm/models/deepseek_v4/nvidia/model.py": ["DeepseekV4DecoderLayer", "mhc_pre_tilelang", "mhc_post_tilelang",
                                                               "mhc_fused_post_pre_tilelang", "hc_head_fused_kernel_tilelang"],
                   "vllm/models/deepseek_v4/nvidia/mtp.py": ["mhc_post_tilelang", "hc_head_fused_kernel_tilelang"],
                   "vllm/models/deepseek_v4/nvidia/dspark.py": ["mhc_post_tilelang", "hc_head_fused_kernel_tilelang"],
                   "vllm/models/deepseek_v4/attention.py": ["DeepseekV4Indexer", "fused_indexer_q_rope_quant"],
                   "vllm/v1/attention/backends/mla/sparse_swa.py": ["DeepseekSparseSWAMetadataBuilder"],
                   "vllm/v1/worker/gpu/spec_decode/speculator.py": ["DraftModelSpeculator"],
                   "vllm/v1/spec_decode/llm_base_proposer.py": ["SpecDecodeBaseProposer"],
                   "vllm/model_executor/layers/vocab_parallel_embedding.py": ["UnquantizedEmbeddingMethod"],
                   "vllm/v1/worker/gpu/sample/gumbel.py": ["gumbel_sample"],
                   "vllm/distributed/parallel_state.py": ["get_tp_group"]}
        for path, names in patched.items():
            with zipfile.ZipFile(wheel()) as archive:
                tree = ast.parse(archive.read(path).decode())
            there = {each.name for each in tree.body if hasattr(each, "name")}
            there |= {alias.asname or alias.name for each in tree.body if isinstance(each, ast.ImportFrom) for alias in each.names}
            self.assertLessEqual(set(names), there, path)

    def test_the_launches_that_are_taken_over_have_the_arguments_that_are_read(self):
        with zipfile.ZipFile(wheel()) as archive:
            text = archive.read("vllm/v1/attention/backends/mla/sparse_swa.py").decode()
        common = ["query_start_loc_ptr", "seq_lens_ptr", "token_to_req_indices_ptr", "is_valid_token_ptr", "block_table_ptr",
                  "block_table_stride", "block_size", "token_offset", "TRITON_BLOCK_SIZE"]
        head = ["swa_indices_ptr", "swa_indices_stride", "swa_lens_ptr", "window_size"]
        for name, more in (("_compute_swa_indices_and_lens_kernel", []), ("_compute_dspark_noncausal_swa_indices_kernel", ["index_width"])):
            self.assertEqual([each for each, _ in of_source(text, name)], head + more + common)


if __name__ == "__main__":
    if wheel() is None:
        print("skipped: no wheel vllm-0.26.0-* in .engines/wheels")
    else:
        unittest.main()
