"""What clients without a server-side tokenizer need: a book and tokenizer.json files, so that they need no network."""

import hashlib
import json
import pathlib
import random
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "engines"))
from gguf import Gguf  # noqa: E402

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


def gguf_tokenizer(folder, gguf):
    return folder_with(folder, json.dumps(Gguf(gguf).tokenizer()))
