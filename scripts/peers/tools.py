"""The clients, and what one run of one costs."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

from texts import BOOK_URL


class Cost:
    """One run of a program: its CPU seconds, wall seconds and peak memory, by the kernel's own account of it and of
    the processes that it waited for. GNU time stands between: a program that this interpreter started itself would
    begin with the interpreter's own peak."""

    def __init__(self, argv, env=None):
        with tempfile.TemporaryFile("w+") as said, tempfile.NamedTemporaryFile("r") as used:
            start = time.monotonic()
            code = subprocess.run(["/usr/bin/time", "--quiet", "--output", used.name, "--format", "%U %S %M",
                                   *[str(word) for word in argv]], stdout=said, stderr=said, env=env).returncode
            self.wall_s = time.monotonic() - start
            said.seek(0)
            self.said = said.read().strip()
            if code != 0:
                sys.exit(f"peers: error: {argv[0]} ended with {code}: {self.said[-500:]}")
            user, system, kilobytes = used.read().split()
        self.cpu_s = float(user) + float(system)
        self.rss_mb = float(kilobytes) * 1024 / 1e6


class Tool:
    """A client. `load` streams `batches` times `streams` answers of `tokens` tokens, of which the first batch is the
    warm-up, and gives its cost and the mean TTFT in milliseconds that it reports."""

    first_streams = 0  # requests before the load that are not streamed
    discarded_batches = 0  # that are not in the mean TTFT

    def __init__(self, program, work):
        self.program, self.work = program, work
        self.env = {**os.environ, "HOME": str(work / "home"), "HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"}

    def version(self):
        return Cost([self.program, "--version"], self.env)


class Benchy(Tool):
    name, first_streams, discarded_batches = "benchy", 2, 1

    def rows(self, engine, flags, seed=1):
        result = self.work / "benchy.json"
        cost = Cost([self.program, "--base-url", engine.url, "--db", self.work / "benchy.db", "--json", "--quiet",
                     "--out", result, "--seed", str(seed), *[flag.replace(" ", ",") for flag in flags]])
        return cost, benchmarks(result)

    def load(self, engine, streams, batches, tokens):
        cost, found = self.rows(engine, ["--pp", "64", "--tg", str(tokens), "--concurrency", str(streams), "--runs",
                                         str(batches - 1), "--latency-mode", "none", "--skip-coherence"])
        return cost, mean_of(next(iter(found.values())), "e2e_ttft")


class LlamaBenchy(Benchy):
    name = "llama-benchy"

    def rows(self, engine, flags, seed=1):
        result = self.work / "llama-benchy.json"
        words = []
        for flag in flags:  # it takes "1 2" as two words, benchy "1,2" as one
            words += [flag] if flag.startswith("--") else flag.split(" ")
        cost = Cost([self.program, "--base-url", engine.url + "/v1", "--model", engine.model, "--tokenizer",
                     engine.tokenizer, "--book-url", BOOK_URL, "--format", "json", "--save-result", result, *words],
                    self.env)
        return cost, benchmarks(result)


class Guidellm(Tool):
    name = "guidellm"

    def load(self, engine, streams, batches, tokens):
        result = self.work / "guidellm.json"
        cost = Cost([self.program, "run", "--backend", f"kind=openai_http,target={engine.url},model={engine.model}",
                     "--profile", f"kind=concurrent,streams={streams}",
                     "--constraint", f"kind=max_requests,count={streams * batches}",
                     "--data", f"kind=synthetic_text,prompt_tokens=64,output_tokens={tokens}",
                     "--tokenizer", f"kind=huggingface_auto,model={engine.tokenizer}",
                     "--output", f"kind=json,path={result}"], self.env)
        metrics = json.loads(result.read_text())["benchmarks"][0]["metrics"]
        return cost, metrics["time_to_first_token_ms"]["successful"]["mean"]


class VllmBench(Tool):
    name = "vllm bench"
    MODULE = ["-m", "vllm.entrypoints.cli.main"]  # the script of that name looks for another package's version

    def version(self):
        return Cost([self.program, *self.MODULE, "bench", "serve", "--help"], self.env)

    def load(self, engine, streams, batches, tokens):
        cost = Cost([self.program, *self.MODULE, "bench", "serve", "--backend", "openai-chat", "--base-url", engine.url,
                     "--endpoint", "/v1/chat/completions", "--model", engine.model, "--tokenizer", engine.tokenizer,
                     "--dataset-name", "random", "--random-input-len", "64", "--random-output-len", tokens,
                     "--num-prompts", streams * batches, "--max-concurrency", streams, "--save-result",
                     "--result-dir", self.work, "--result-filename", "vllm.json"], self.env)
        return cost, json.loads((self.work / "vllm.json").read_text())["mean_ttft_ms"]


def others(venvs, work):
    """The peers of which only the costs are compared, as far as they are installed."""
    found = []
    for tool in (Guidellm(venvs / "guidellm/bin/guidellm", work), VllmBench(venvs / "vllm/bin/python", work)):
        if tool.program.exists():
            found.append(tool)
        else:
            print(f"{tool.name} is left out: {tool.program} is not there")
    return found


def benchmarks(path):
    """Both write the same JSON: rows by what was asked."""
    out = {}
    for row in json.loads(pathlib.Path(path).read_text())["benchmarks"]:
        kind = "ctx" if row["is_context_prefill_phase"] else "inf"
        key = f"{kind} pp{row['prompt_size']} tg{row['response_size']} d{row['context_size']} c{row['concurrency']}"
        out[key] = row
    return out


def mean_of(row, column):
    return (row.get(column) or {}).get("mean")


def values_of(row, column):
    return (row.get(column) or {}).get("values") or []
