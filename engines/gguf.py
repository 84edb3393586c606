"""A GGUF file, version 2 or 3, as data: its fields, its tensors, and its tokenizer as a tokenizer.json."""

import pathlib
import struct

NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
TEXT, LIST = 8, 9


class Gguf:
    """`fields` by key; `tensors`: by name the shape (rows first), the type's number and where its bytes begin."""

    def __init__(self, path):
        self.bytes = pathlib.Path(path).read_bytes()
        self.at = 8
        tensors, fields = self.number("Q"), self.number("Q")
        self.fields = {}
        for _ in range(fields):
            key = self.value(TEXT)
            self.fields[key] = self.value(self.number("I"))
        self.tensors = {}
        for _ in range(tensors):
            name = self.value(TEXT)
            shape = [self.number("Q") for _ in range(self.number("I"))][::-1]
            self.tensors[name] = (shape, self.number("I"), self.number("Q"))
        align = self.fields.get("general.alignment", 32)
        start = -(-self.at // align) * align
        self.tensors = {name: (shape, kind, start + offset) for name, (shape, kind, offset) in self.tensors.items()}

    def number(self, code):
        value, = struct.unpack_from("<" + code, self.bytes, self.at)
        self.at += struct.calcsize("<" + code)
        return value

    def value(self, kind):
        if kind == TEXT:
            size = self.number("Q")
            self.at += size
            return self.bytes[self.at - size:self.at].decode("utf-8", "replace")
        if kind == LIST:
            of, count = self.number("I"), self.number("Q")
            return [self.value(of) for _ in range(count)]
        return self.number(NUMBERS[kind])

    def tokenizer(self):
        """tokenizer.json of its byte-level BPE: digits stand alone, the rest is split as GPT-2 does."""
        tokens = self.fields["tokenizer.ggml.tokens"]
        special = [i for i, kind in enumerate(self.fields["tokenizer.ggml.token_type"]) if kind == 3]
        plain = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
        level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
        steps = [{"type": "Digits", "individual_digits": True}, level]
        return {
            "version": "1.0", "truncation": None, "padding": None,
            "added_tokens": [{"id": i, "content": tokens[i], **plain} for i in special],
            "normalizer": None, "pre_tokenizer": {"type": "Sequence", "pretokenizers": steps}, "post_processor": None,
            "decoder": level,
            "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
                      "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False,
                      "vocab": {token: i for i, token in enumerate(tokens)},
                      "merges": self.fields["tokenizer.ggml.merges"]},
        }
