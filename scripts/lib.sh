# Sourced by ./dev and the scripts: stages, packages, builds. Expects ROOT.
JOBS=${JOBS:-$(nproc)}
LOGS=$ROOT/build/logs
STAGE_LINES=()
FAILED=()

say() { printf '%s\n' "$*" >&2; }
die() { say "dev: error: $*"; exit 3; }

# stage NAME COMMAND...: runs it with its output in a log; one line with the time; on failure the log's end. Returns its status.
stage() {
  local name=$1 log started status=0 line
  shift
  mkdir -p "$LOGS"
  log=$LOGS/$name.log
  printf '%-22s ' "$name" >&2
  started=$(date +%s)
  ("$@") >"$log" 2>&1 || status=$?
  line=$(printf '%-22s %5d s  %s' "$name" $(($(date +%s) - started)) "$([ "$status" = 0 ] && echo ok || echo "FAILED ($status)")")
  printf '%s\n' "${line:23}" >&2
  STAGE_LINES+=("$line")
  if [ "$status" != 0 ]; then
    FAILED+=("$name")
    say "--- the end of $log"
    tail -n "${STAGE_TAIL:-60}" "$log" >&2
    say "---"
  fi
  return "$status"
}

# need NAME COMMAND...: a stage without which nothing after it makes sense.
need() { stage "$@" || exit 1; }

# packages_of GROUP...: their names, from packages.txt.
packages_of() {
  local group
  for group in "$@"; do
    awk -v group="$group" '!/^#/ { for (i = 2; i <= NF; i++) if ($i == group) print $1 }' "$ROOT/scripts/packages.txt"
  done
}

missing_packages() {
  local package
  for package in $(packages_of "$@"); do
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || echo "$package"
  done
}

# install_packages GROUP...: installs what is missing; does nothing, and needs no network, when all is there.
install_packages() {
  local missing sudo=
  command -v dpkg-query >/dev/null || die "this needs Debian 12 (dpkg is missing); packages: $(packages_of "$@" | tr '\n' ' ')"
  missing=$(missing_packages "$@" | tr '\n' ' ')
  [ -n "$missing" ] || { echo "all packages are there"; return 0; }
  if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null || die "packages are missing and there is no sudo; as root run: apt-get install $missing"
    sudo='sudo'
  fi
  echo "installing $missing"
  $sudo apt-get update -qq || echo "the package lists could not be refreshed; trying those at hand"
  # shellcheck disable=SC2086
  $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing
}

configure() { cmake --preset "$1" -S "$ROOT" "${@:2}"; }

# build PRESET [TARGET...]: those targets, or all.
build() {
  local preset=$1 targets=()
  shift
  [ $# = 0 ] || targets=(--target "$@")
  cmake --build "$ROOT/build/$preset" -j "$JOBS" "${targets[@]}"
}

# ctest_in PRESET ARGS...: ctest there; no test is a failure.
ctest_in() { ctest --test-dir "$ROOT/build/$1" --output-on-failure --no-tests=error -j "$JOBS" "${@:2}"; }

# ctest_summary LOG: ctest's closing lines.
ctest_summary() { sed -n '/tests passed,/,$p' "$1"; }

print_stages() {
  say ""
  say "stages"
  printf '  %s\n' "${STAGE_LINES[@]}" >&2
}
