"""Writes a Llama model that vLLM loads from a GGUF file of the types F32, Q8_0 and Q4_1: its weights in bfloat16, its
tokenizer and chat template. make_model.py GGUF FOLDER"""

import json
import pathlib
import struct
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from gguf import Gguf  # noqa: E402

F32, Q4_1, Q8_0 = 0, 3, 8
NAMES = {
    "attn_norm": "input_layernorm", "attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj", "attn_output": "self_attn.o_proj", "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj", "ffn_down": "mlp.down_proj",
}


def values(gguf, name):
    """A tensor's numbers in float32. Quantised ones are blocks of 32: a scale, for Q4_1 an offset too, then the codes."""
    shape, kind, at = gguf.tensors[name]
    count = int(np.prod(shape))
    if kind == F32:
        flat = np.frombuffer(gguf.bytes, "<f4", count, at)
    elif kind == Q8_0:
        blocks = np.frombuffer(gguf.bytes, [("d", "<f2"), ("q", "i1", 32)], count // 32, at)
        flat = blocks["q"] * blocks["d"].astype("f4")[:, None]
    elif kind == Q4_1:
        blocks = np.frombuffer(gguf.bytes, [("d", "<f2"), ("m", "<f2"), ("q", "u1", 16)], count // 32, at)
        codes = np.concatenate([blocks["q"] & 15, blocks["q"] >> 4], axis=1)
        flat = codes * blocks["d"].astype("f4")[:, None] + blocks["m"].astype("f4")[:, None]
    else:
        sys.exit(f"make_model: error: {name} has the type {kind}; F32 (0), Q4_1 (3) and Q8_0 (8) are understood")
    return flat.reshape(shape)


def apart(rows, heads):
    """Rotary halves as Llama wants them: GGUF keeps the two numbers of a rotation side by side."""
    return rows.reshape(heads, -1, 2, rows.shape[1]).swapaxes(1, 2).reshape(rows.shape)


def bfloat16(array):
    bits = np.ascontiguousarray(array, "<f4").view("<u4")
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype("<u2")  # rounded to the nearest, ties to even


def weights(gguf):
    fields = gguf.fields
    heads = {"attn_q": fields["llama.attention.head_count"], "attn_k": fields["llama.attention.head_count_kv"]}
    for name in gguf.tensors:
        array = values(gguf, name)
        if name == "token_embd.weight":
            target = "model.embed_tokens.weight"
        elif name == "output_norm.weight":
            target = "model.norm.weight"
        elif name == "output.weight":
            target = "lm_head.weight"
        else:
            _, layer, part, _ = name.split(".")
            target = f"model.layers.{layer}.{NAMES[part]}.weight"
            if part in heads:
                array = apart(array, heads[part])
        yield target, bfloat16(array)


def write_safetensors(path, tensors):
    """An eight-byte length, a JSON head that says where each tensor's bytes lie, the bytes."""
    head, bodies, at = {}, [], 0
    for name, array in tensors:
        head[name] = {"dtype": "BF16", "shape": list(array.shape), "data_offsets": [at, at + array.nbytes]}
        bodies.append(array.tobytes())
        at += array.nbytes
    text = json.dumps(head).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + b"".join(bodies))


def config(fields, tied):
    return {
        "architectures": ["LlamaForCausalLM"], "model_type": "llama", "torch_dtype": "bfloat16", "hidden_act": "silu",
        "hidden_size": fields["llama.embedding_length"], "intermediate_size": fields["llama.feed_forward_length"],
        "num_hidden_layers": fields["llama.block_count"], "vocab_size": fields["llama.vocab_size"],
        "num_attention_heads": fields["llama.attention.head_count"],
        "num_key_value_heads": fields["llama.attention.head_count_kv"],
        "head_dim": fields["llama.rope.dimension_count"], "rope_theta": fields["llama.rope.freq_base"],
        "rms_norm_eps": fields["llama.attention.layer_norm_rms_epsilon"], "tie_word_embeddings": tied,
        "max_position_embeddings": fields["llama.context_length"], "attention_bias": False, "mlp_bias": False,
        "bos_token_id": fields["tokenizer.ggml.bos_token_id"], "eos_token_id": fields["tokenizer.ggml.eos_token_id"],
    }


def main():
    gguf, folder = Gguf(sys.argv[1]), pathlib.Path(sys.argv[2])
    tokens = gguf.fields["tokenizer.ggml.tokens"]
    named = {f"{name}_token": tokens[gguf.fields[f"tokenizer.ggml.{key}_token_id"]]
             for name, key in (("bos", "bos"), ("eos", "eos"), ("unk", "unknown"), ("pad", "padding"))}
    part = folder.with_suffix(".part")
    part.mkdir(parents=True, exist_ok=True)
    write_safetensors(part / "model.safetensors", weights(gguf))
    documents = {
        "config.json": config(gguf.fields, "output.weight" not in gguf.tensors),
        "tokenizer.json": gguf.tokenizer(),
        "tokenizer_config.json": {"tokenizer_class": "PreTrainedTokenizerFast", **named,
                                  "chat_template": gguf.fields["tokenizer.chat_template"]},
    }
    for name, document in documents.items():
        (part / name).write_text(json.dumps(document))
    part.rename(folder)


if __name__ == "__main__":
    main()
