"""What clients without a server-side tokenizer need: a book and tokenizer.json files, so that they need no network."""

import hashlib
import json
import pathlib
import random
import struct
import subprocess

BOOK_URL = "http://localhost/book.txt"  # never fetched: the text is put into llama-benchy's cache
WORDS = ("river lantern copper meadow engine harbor pebble window thunder garden bridge silver forest market island "
         "winter button candle orchard valley").split()


def write_book(home):
    """Words without a period: prompts cut from two places never share a beginning that a prefix cache would answer."""
    cache = home / ".cache" / "llama-benchy"
    cache.mkdir(parents=True, exist_ok=True)
    words = random.Random(1)
    text = " ".join(words.choice(WORDS) for _ in range(60_000))
    (cache / (hashlib.md5(BOOK_URL.encode()).hexdigest() + ".txt")).write_text(text)


def folder_with(folder, text=None):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "PreTrainedTokenizerFast"}))
    if text is not None:
        (folder / "tokenizer.json").write_text(text)
    return folder


def sim_tokenizer(folder, sim):
    folder_with(folder)
    subprocess.run([sim, "--write-tokenizer", str(folder / "tokenizer.json")], check=True)
    return folder


def gguf_fields(path):
    """The key-value part of a GGUF file, version 2 or 3."""
    data = pathlib.Path(path).read_bytes()
    at = 8
    numbers = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}

    def number(code):
        nonlocal at
        value, = struct.unpack_from("<" + code, data, at)
        at += struct.calcsize("<" + code)
        return value

    def value_of(kind):
        nonlocal at
        if kind == 8:
            size = number("Q")
            at += size
            return data[at - size:at].decode("utf-8", "replace")
        if kind == 9:
            of, count = number("I"), number("Q")
            return [value_of(of) for _ in range(count)]
        return number(numbers[kind])

    number("Q")  # tensors
    fields = {}
    for _ in range(number("Q")):
        key = value_of(8)
        fields[key] = value_of(number("I"))
    return fields


def gguf_tokenizer(folder, gguf):
    """tokenizer.json of a GGUF file's byte-level BPE: its digits stand alone, the rest is split as GPT-2 does."""
    fields = gguf_fields(gguf)
    tokens = fields["tokenizer.ggml.tokens"]
    special = [i for i, kind in enumerate(fields["tokenizer.ggml.token_type"]) if kind == 3]
    plain = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    steps = [{"type": "Digits", "individual_digits": True}, level]
    document = {
        "version": "1.0", "truncation": None, "padding": None,
        "added_tokens": [{"id": i, "content": tokens[i], **plain} for i in special],
        "normalizer": None, "pre_tokenizer": {"type": "Sequence", "pretokenizers": steps}, "post_processor": None,
        "decoder": level,
        "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
                  "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False,
                  "vocab": {token: i for i, token in enumerate(tokens)}, "merges": fields["tokenizer.ggml.merges"]},
    }
    return folder_with(folder, json.dumps(document))
