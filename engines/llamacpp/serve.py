"""Runs the llama.cpp server of the xllamacpp package and shows what it runs with.

The server itself is llama.cpp's C++ one; this file only fills its parameters. Its log, at a verbosity that shows threads,
slots and speculation, is what the profile's proofs read.
"""

import argparse
import os
import signal
import threading

import xllamacpp

VERBOSITY = 4  # 3 hides the speculation that was set up, 5 writes lines for every token

SPECULATION = {
    "none": "COMMON_SPECULATIVE_TYPE_NONE",
    "ngram": "COMMON_SPECULATIVE_TYPE_NGRAM_SIMPLE",
    "draft": "COMMON_SPECULATIVE_TYPE_DRAFT_SIMPLE",
}


def parse_flags():
    flags = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    flags.add_argument("--model", required=True, help="GGUF file")
    flags.add_argument("--alias", default="", help="name that clients may use")
    flags.add_argument("--host", default="127.0.0.1")
    flags.add_argument("--port", type=int, required=True)
    flags.add_argument("--threads", type=int, default=1, help="compute threads")
    flags.add_argument("--poll", type=int, help="0 sleeps between steps, 100 spins: on busy cores spinning costs 30 times; default: the package's")
    flags.add_argument("--spec", choices=sorted(SPECULATION), default="none")
    flags.add_argument("--draft-max", type=int, default=5, help="draft tokens per step")
    flags.add_argument("--ngram-size", type=int, default=3, help="tokens that must match before an n-gram draft")
    flags.add_argument("--ctx", type=int, default=8192, help="tokens of context per sequence")
    flags.add_argument("--parallel", type=int, default=2, help="sequences at once")
    flags.add_argument("--batch", type=int, default=512, help="prompt tokens per step")
    return flags.parse_args()


def parameters(flags):
    params = xllamacpp.CommonParams()
    params.model.path = flags.model
    params.hostnames = [flags.host]
    params.port = flags.port
    if flags.alias:
        params.model_alias = {flags.alias}
    params.n_ctx = flags.ctx * flags.parallel
    params.n_parallel = flags.parallel
    params.n_batch = params.n_ubatch = flags.batch
    params.verbosity = VERBOSITY
    params.endpoint_metrics = params.endpoint_slots = params.endpoint_props = True
    for cpu in (params.cpuparams, params.cpuparams_batch):
        cpu.n_threads = flags.threads
        if flags.poll is not None:
            cpu.poll = flags.poll
    speculation = params.speculative
    speculation.types = [getattr(xllamacpp.common_speculative_type, SPECULATION[flags.spec])]
    speculation.draft.n_max = flags.draft_max
    speculation.ngram_simple.size_n, speculation.ngram_simple.size_m = flags.ngram_size, flags.draft_max
    if flags.spec == "draft":
        speculation.draft.mparams.path = flags.model
        for cpu in (speculation.draft.cpuparams, speculation.draft.cpuparams_batch):
            cpu.n_threads, cpu.poll = flags.threads, params.cpuparams.poll
    if os.environ.get("LLAMA_API_KEY"):
        params.api_keys = [os.environ["LLAMA_API_KEY"]]
    return params


def say(line):
    """One write, on a line of its own: the server's threads log to the same file meanwhile."""
    os.write(2, f"\n{line}\n".encode())


def main():
    flags = parse_flags()
    params = parameters(flags)
    server = xllamacpp.Server(params)
    say(f"threads {params.cpuparams.n_threads} poll {params.cpuparams.poll}")
    say(f"listening on {server.listening_address} xllamacpp {xllamacpp.__version__}")
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    stop.wait()
    os._exit(0)


if __name__ == "__main__":
    main()
