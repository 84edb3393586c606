#include "node_script.h"

namespace bk::overlay {

const char* node_script() {
  return R"sh(
base=$1 home=$1/$2 run_lock=$3 who=$4
umask 022
export LC_ALL=C
trap '' PIPE HUP
trap 'exit 143' TERM INT
trap undo EXIT
locked=
no() { echo "no $*"; exit 1; }
target_of() { [ -L "$home/current" ] && readlink "$home/current" | sed 's|^releases/||' || echo none; }
point() { rm -f "$home/.next" && ln -s "releases/$1" "$home/.next" && mv -T "$home/.next" "$home/current"; }
hashes() { (cd "$1" && find . -mindepth 1 -maxdepth 1 -type f ! -name SHA256SUMS -printf '%f\0' | sort -z | xargs -0r sha256sum --); }
odd() { find "$1/" -mindepth 1 ! -type f | head -n 1; }
roll_back() {
  was=$(sed -n 1p "$home/pending") new=$(sed -n 2p "$home/pending")
  if [ "$was" = none ]; then rm -f "$home/current"; else point "$was"; fi || return
  [ "$was" = "$new" ] || rm -rf "${home:?}/releases/$new"
  rm -f "$home/pending"
}
undo() {
  [ -n "$locked" ] || return 0
  rm -rf "$home/.staging"
  [ ! -e "$home/pending" ] || roll_back || exit 5
  rm -f "$base/.holder"
  rmdir "$home/releases" "$home" 2>/dev/null
  return 0
}
state() {
  id=$(target_of)
  echo "release $id"
  if [ "$id" != none ]; then
    sed -n 's/^# commit \([0-9a-f]*\)$/commit \1/p;2q' "$home/current/manifest.tsv" 2>/dev/null
    sum=$(hashes "$home/current/" | sha256sum | cut -d' ' -f1)
    if [ "$sum" = "$id" ] && [ -z "$(odd "$home/current")" ]; then echo intact; else
      echo "changed $(hashes "$home/current/" | diff - "$home/current/SHA256SUMS" 2>/dev/null | sed -n 's/^[<>] [0-9a-f]*  //p' | head -n 1)"
    fi
  fi
  [ ! -e "$home/pending" ] || echo "pending $(sed -n 2p "$home/pending")"
}
while read -r verb a b; do
  case $verb in
  look)
    for tool in flock tar sha256sum find sort xargs sed diff; do command -v $tool >/dev/null || no "$tool is missing there"; done
    [ ! -e "$base" ] || [ -d "$base" ] || no "$base is no folder there"
    state
    if [ -e "$base/.lock" ] && ! flock -n "$base/.lock" true; then echo "deploying $(head -n 1 "$base/.holder" 2>/dev/null)"; fi
    [ ! -e "$run_lock" ] || sed 's/^/run /' "$run_lock"
    echo ok ;;
  lock)
    mkdir -p "$home/releases" 2>/dev/null && touch "$base/.lock" 2>/dev/null || no "$base cannot be written there"
    exec 9>>"$base/.lock"
    flock -w 1 9 || no "another deploy runs: $(head -n 1 "$base/.holder" 2>/dev/null)"
    locked=yes
    echo "$who" >"$base/.holder"
    if [ -e "$home/pending" ]; then roll_back && echo recovered || no "an unfinished deploy cannot be rolled back"; fi
    state
    echo ok ;;
  stage)
    rm -rf "$home/.staging" && mkdir "$home/.staging" || no "$home cannot be written there"
    said=$(head -c "$b" 2>/dev/null | tar -xf - -C "$home/.staging" --no-same-owner 2>&1) ||
      no "unpacking failed: $(echo "$said" | sed -n 's/^tar: //p' | head -n 1) ($(df -Pk "$home" | awk 'NR == 2 {print $4}') KiB are free there)"
    [ -z "$(odd "$home/.staging")" ] || no "what was unpacked holds more than files"
    sync -f "$home/.staging" || no "$home cannot be written there"
    hashes "$home/.staging"
    echo ok ;;
  activate)
    was=$(target_of)
    printf '%s\n%s\n' "$was" "$a" >"$home/.pending" && mv -T "$home/.pending" "$home/pending" || no "$home cannot be written there"
    if [ "$was" = "$a" ]; then rm -rf "$home/.staging"; else
      rm -rf "${home:?}/releases/$a"
      mv -T "$home/.staging" "$home/releases/$a" && point "$a" || no "the release cannot be put in place"
    fi
    hashes "$home/current/"
    echo ok ;;
  commit) cp "$home/pending" "$home/.former" && rm -f "$home/pending" || no "cannot commit"; echo ok ;;
  revert) mv -T "$home/.former" "$home/pending" && roll_back || no "cannot go back"; echo ok ;;
  done)
    was=$(sed -n 1p "$home/.former") new=$(sed -n 2p "$home/.former")
    for old in "$home"/releases/*; do
      case ${old##*/} in "$was" | "$new") ;; *) rm -rf "$old" ;; esac
    done
    rm -f "$home/.former"
    echo ok ;;
  *) exit 0 ;;
  esac
done
exit 0
)sh";
}

}  // namespace bk::overlay
