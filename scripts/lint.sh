# ./dev lint: clang-format and clang-tidy as gates.
sources() { git ls-files '*.cc' '*.h' '*.cu' '*.cuh'; }

check_format() { sources | xargs -r -n 40 clang-format --dry-run --Werror; }

# For every object of the dev build: "source<TAB>hash of it, of our headers that it includes, of its flags and of the checks".
tidy_keys() {
  local common
  common=$( (cat .clang-tidy; clang-tidy --version) | sha256sum)
  ninja -C build/dev -t deps | awk -v root="$ROOT/" '
    /^[^ ].*: #deps/ { if (list != "") print list; list = ""; next }
    /^    / { path = $1
              if (index(path, "../../") == 1) path = substr(path, 7)
              else if (index(path, root) == 1) path = substr(path, length(root) + 1)
              else next
              if (path !~ /^build\//) list = list (list == "" ? "" : " ") path }
    END { if (list != "") print list }' |
    while read -r source headers; do
      case $source in harness/*.cc | bench/*.cc | sim/*.cc | overlay/*.cc | fleet/*.cc) ;; *) continue ;; esac
      # shellcheck disable=SC2086
      printf '%s\t%s\n' "$source" "$( (echo "$common"; cat "$source" $headers) | sha256sum | cut -c1-40)"
    done
}

tidy_one() {
  local source=$1 stamp=$TIDY_CACHE/$2
  [ ! -e "$stamp" ] || return 0
  if clang-tidy -p build/dev --quiet --extra-arg=-Wno-unknown-warning-option "$source" 2>/dev/null; then
    touch "$stamp"
  else
    echo "clang-tidy: $source"
    return 1
  fi
}

# Files that passed before, unchanged with all that they include, are not read again.
run_tidy() {
  export TIDY_CACHE=${XDG_CACHE_HOME:-$HOME/.cache}/bracketkit/tidy
  mkdir -p "$TIDY_CACHE"
  export -f tidy_one
  local keys
  keys=$(tidy_keys | sort -u)
  [ -n "$keys" ] || { echo "nothing to check: build first"; return 1; }
  printf '%s\n' "$keys" | tr '\t' '\n' | xargs -n 2 -P "$JOBS" bash -c 'tidy_one "$0" "$1"'
}

run_lint() {
  need install install_packages build test
  if [ "${1:-}" = --fix ]; then
    sources | xargs -r -n 40 clang-format -i
    say "formatted"
    return 0
  fi
  need configure configure dev
  need build build dev
  stage format check_format || true
  STAGE_TAIL=400 stage tidy run_tidy || true
  print_stages
  [ ${#FAILED[@]} = 0 ] || exit 1
}
