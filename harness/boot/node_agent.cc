#include "boot/node_agent.h"

namespace bk::boot {

const char* keeper_script() {
  return R"sh(
lock=$1 lane=$2 who=$3 home=$4
export LC_ALL=C
trap '' PIPE HUP
trap 'exit 143' TERM INT
trap give_back EXIT
mine=
no() { echo "no $*"; exit 1; }
start_of() { sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | cut -d' ' -f20; }
field() { sed -n "s/^$1=//p" "$lock"; }
give_back() { [ -z "$mine" ] || [ "$(cat "$lock" 2>/dev/null)" != "$mine" ] || rm -f "$lock"; }
take() {
  dir=${lock%/*}
  mkdir -p "$dir" 2>/dev/null && { chmod 1777 "$dir" 2>/dev/null || :; } && [ -w "$dir" ] || no "$dir cannot be written there"
  mine=$(printf 'lane=%s\nuser=%s\nhost=%s\npid=%s\nstart=%s\nsince=%s' "$lane" "${who%@*}" "${who#*@}" $$ "$(start_of $$)" "$(date -u +%Y-%m-%dT%H:%M:%SZ)")
  echo "$mine" >"$dir/.lane.$$"
  if ln "$dir/.lane.$$" "$lock" 2>/dev/null; then rm -f "$dir/.lane.$$"; return; fi
  rm -f "$dir/.lane.$$"
  mine=
  [ -e "$lock" ] || no "$lock cannot be made there"
  holder="lane $(field lane) of $(field user)@$(field host), pid $(field pid), since $(field since)"
  if [ "$(start_of "$(field pid)")" = "$(field start)" ] && [ -n "$(field start)" ]; then
    no "this node is taken by $holder: one lane runs at a time"
  fi
  no "a stale run lock of $holder, whose process is gone: check that no engine of it is left, then remove $lock there"
}
while read -r verb a b; do
  case $verb in
  look)
    if [ -n "$home" ]; then
      [ -L "$home/current" ] || no "nothing is deployed in $home: run overlay deploy"
      cd "$home/current/" || no "$home/current cannot be read"
      echo "release $(pwd -P | sed 's|.*/||')"
      sed 's/^/row /' manifest.tsv
      find . -mindepth 1 -maxdepth 1 -type f ! -name SHA256SUMS -printf '%f\0' | sort -z | xargs -0r sha256sum -- | sed 's/^/hash /'
    fi
    echo ok ;;
  run)
    line=
    while [ "$a" -gt 0 ] && IFS= read -r word; do line="$line $word" a=$((a - 1)); done
    out=$(eval "$line" 2>&1 </dev/null) || no "$(echo "$out" | grep -v -e "^Run 'docker " -e '^$' | tail -n 1)"
    [ -z "$out" ] || echo "$out" | sed 's/^/out /'
    echo ok ;;
  folder)
    [ "$a" = ro ] || mkdir -p "$b" 2>/dev/null
    [ -d "$b" ] || no "the folder $b is not there"
    [ "$a" = ro ] || [ -w "$b" ] || no "the folder $b cannot be written"
    echo ok ;;
  there)
    path=$a${b:+ $b}
    [ -r "$path" ] || no "the engine needs $path, which is not there"
    echo ok ;;
  take)
    [ -z "$lock" ] || take
    echo ok ;;
  free)
    sync
    if (echo 1 >/proc/sys/vm/drop_caches) 2>/dev/null; then echo dropped; else echo "kept: not allowed"; fi
    sed -n 's/^MemAvailable: *\([0-9]*\) kB/available_kib \1/p' /proc/meminfo
    echo ok ;;
  forget) rm -f "$a"; echo ok ;;
  started)
    left=300
    while [ ! -s "$a" ] && [ $left -gt 0 ]; do sleep 0.1; left=$((left - 1)); done
    [ -s "$a" ] || no "the engine's process did not start there"
    echo ok ;;
  environ)
    tr '\0' '\n' <"/proc/$(cat "$a")/environ" 2>/dev/null | sed 's/^/env /'
    echo ok ;;
  *) exit 0 ;;
  esac
done
exit 0
)sh";
}

const char* engine_script() {
  return R"sh(
pid_file=$1 dir=$2 grace=$3 stop=$4
shift 4
trap '' PIPE HUP
while IFS= read -r line && [ -n "$line" ]; do export "$line"; done
cd "$dir" || exit 126
mkdir -p "${pid_file%/*}"
exec 3<&0
setsid "$@" </dev/null 3<&- &
pid=$!
echo $pid >"$pid_file"
end() {
  if [ -n "$stop" ]; then eval "$stop" >/dev/null 2>&1; else kill -TERM -$pid 2>/dev/null; fi
  left=$((grace * 10))
  while [ $left -gt 0 ] && kill -0 -$pid 2>/dev/null; do sleep 0.1; left=$((left - 1)); done
  kill -KILL -$pid 2>/dev/null
}
trap 'end; exit 143' TERM INT
(while read -r line; do :; done <&3; end) &
watch=$!
wait $pid
code=$?
kill -KILL $watch 2>/dev/null
kill -KILL -$pid 2>/dev/null
rm -f "$pid_file"
exit $code
)sh";
}

}  // namespace bk::boot
