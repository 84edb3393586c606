"""The servers that the clients are compared on."""

import collections
import json
import pathlib
import re
import socket
import subprocess
import time
import urllib.request


class Engine:
    """A server process; `url` once it listens. Ends with the block."""

    def __init__(self, argv, model, tokenizer, ready=None):
        self.model, self.tokenizer = model, tokenizer
        self.log = subprocess.DEVNULL if ready else subprocess.PIPE
        self.process = subprocess.Popen(argv, stdout=self.log, stderr=subprocess.DEVNULL, text=True)
        self.url = ready or self.process.stdout.readline().split()[-1]
        while ready and not self.answers("/health"):
            if self.process.poll() is not None:
                raise SystemExit(f"peers: error: {argv[0]} ended with {self.process.returncode} before it served")
            time.sleep(0.1)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()

    def get(self, path):
        with urllib.request.urlopen(self.url + path, timeout=30) as answer:
            return answer.read().decode()

    def answers(self, path):
        try:
            self.get(path)
            return True
        except OSError:
            return False


class Sim(Engine):
    def __init__(self, program, flags, tokenizer):
        super().__init__([program, "--port", "0", *flags], "deepseek-v4-flash", tokenizer)
        self.seen = 0

    def counted(self):
        """How often each number of generated tokens came since the last call, and prompt tokens likewise."""
        requests = json.loads(self.get(f"/sim/truth?since={self.seen}"))["requests"]
        self.seen += len(requests)
        streamed = [r for r in requests if r["completion_tokens"] > 10]  # not the warm-ups and the coherence question
        return [dict(collections.Counter(r[key] for r in streamed)) for key in ("completion_tokens", "prompt_tokens")]


class LlamaCpp(Engine):
    MODEL = "smollm2-135m"

    def __init__(self, root, gguf, tokenizer):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        argv = [root / ".engines/venv/bin/python", root / "engines/llamacpp/serve.py", "--port", port, "--model", gguf,
                "--alias", self.MODEL, "--poll", 0]
        super().__init__([str(word) for word in argv], self.MODEL, tokenizer, f"http://127.0.0.1:{port}")
        self.before = self.totals()

    def totals(self):
        page = self.get("/metrics")
        return [int(float(re.search(rf"^llamacpp:{name}_total (\S+)", page, re.M).group(1)))
                for name in ("tokens_predicted", "prompt_tokens")]

    def counted(self):
        """Generated and prompt tokens since the last call, by the server's own counters."""
        now = self.totals()
        before, self.before = self.before, now
        return [b - a for a, b in zip(before, now)]


def gguf_of(root):
    models = sorted(pathlib.Path(root / ".engines/models").glob("*.gguf"))
    if not models:
        raise SystemExit("peers: error: there is no model under .engines/models; ./dev engines fetches one")
    return models[0]
