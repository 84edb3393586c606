"""benchy and its peers in turn on the same engines: their rows, how far apart, and what each costs.

Run by `./dev bench --peers`. Standard library only; each peer lives in a virtual environment of its own. Exit code 1
when a column is further apart, or a ratio lower, than wanted: on a busy machine the times say little.
"""

import argparse
import pathlib
import sys

import costs
import engines
import parity
import texts
import tools

ROOT = pathlib.Path(__file__).resolve().parents[2]
# No noise and no drafts: two runs differ by nothing but their clients. One prompt is one step.
STILL = ["--profile", "sim-dsv4"] + [w for k in ("STEP_SD=0", "BOOT_SD=0", "SPEC_TOKENS=0", "MAX_NUM_BATCHED=16384")
                                     for w in ("--knob", k)]
SIM_GRID = ["--pp", "2048", "--tg", "32", "--depth", "0 2048", "--concurrency", "1 2", "--runs", "2", "--exact-tg",
            "--latency-mode", "none"]
# A 135M model does not always name the capital of France.
LLAMA_GRID = ["--pp", "128", "--tg", "32", "--concurrency", "1 2", "--runs", "3", "--exact-tg", "--latency-mode", "none",
              "--no-cache", "--skip-coherence"]


def main():
    parser = argparse.ArgumentParser(prog="peers", description=__doc__.splitlines()[0])
    parser.add_argument("--bin", type=pathlib.Path, required=True, help="this build's programs")
    parser.add_argument("--venvs", type=pathlib.Path, required=True, help="folder of the peers' virtual environments")
    parser.add_argument("--work", type=pathlib.Path, required=True, help="folder for what comes and goes")
    parser.add_argument("--rounds", type=int, default=3, help="how often the tools take turns")
    parser.add_argument("--only", choices=["sim", "llama-cpp", "costs"], help="one part")
    parser.add_argument("--all", action="store_true", help="the costs of guidellm and vLLM's bench too")
    args = parser.parse_args()
    work, sim = args.work.resolve(), str(args.bin.resolve() / "sim-engine")
    work.mkdir(parents=True, exist_ok=True)
    texts.write_book(work / "home")
    tokenizer = texts.sim_tokenizer(work / "sim", sim)
    ours = tools.Benchy(args.bin.resolve() / "benchy", work)
    peer = tools.LlamaBenchy(args.venvs / "llama-benchy/bin/llama-benchy", work)
    beyond = 0
    if args.only in (None, "sim"):
        with engines.Sim(sim, STILL, tokenizer) as engine:
            beyond += parity.compare("sim-engine", engine, peer, ours, SIM_GRID, args.rounds, bound_pct=1)
    if args.only in (None, "llama-cpp"):
        gguf = engines.gguf_of(ROOT)
        with engines.LlamaCpp(ROOT, gguf, texts.gguf_tokenizer(work / "llama-cpp", gguf)) as engine:
            beyond += parity.compare("llama.cpp", engine, peer, ours, LLAMA_GRID, args.rounds)
    if args.only in (None, "costs"):
        peers = [peer] + (tools.others(args.venvs, work) if args.all else [])
        beyond += costs.compare(peers, ours, sim, work, tokenizer, args.rounds)
    sys.exit(1 if beyond else 0)


if __name__ == "__main__":
    main()
