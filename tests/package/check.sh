#!/usr/bin/env bash
# A Debian package, installed into an empty root: everything is there, runs from there, and the package names what its
# programs are linked with. check.sh BUILD_DIR makes the package of that build first; check.sh FILE.deb takes one that was
# made. One for arm64 runs under qemu over the cross build's sysroot.
set -euo pipefail
root_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

die() {
  echo "check.sh: $*" >&2
  exit 1
}

if [ -d "$1" ]; then
  build=$(cd "$1" && pwd)
  # One fast compression for the test; the shipped package is made with the default one.
  (cd "$work" && cpack -G DEB --config "$build/CPackConfig.cmake" -B "$work/deb" -D CPACK_DEBIAN_COMPRESSION_TYPE=gzip) >"$work/cpack.log" ||
    { cat "$work/cpack.log" >&2; die "cpack failed"; }
  deb=$(echo "$work"/deb/*.deb)
  [ -f "$deb" ] || die "no package came out"
  [ "$(dpkg-deb -f "$deb" Architecture)" = "$(dpkg --print-architecture)" ] || die "the package is for another architecture"
else
  deb=$1
  [ -f "$deb" ] || { echo "skipped: there is no $deb; ./dev package arm64 makes it"; exit 0; }
fi

native=yes run=()
if [ "$(dpkg-deb -f "$deb" Architecture)" != "$(dpkg --print-architecture)" ]; then
  sysroot=$root_dir/.cross/sysroot
  [ -d "$sysroot" ] || { echo "skipped: there is no $sysroot; ./dev cross makes it"; exit 0; }
  native=
  run=(qemu-aarch64-static -L "$sysroot" -E "LD_LIBRARY_PATH=$sysroot/usr/lib/aarch64-linux-gnu:$sysroot/lib/aarch64-linux-gnu")
fi

root=$work/root
if [ "$(id -u)" = 0 ]; then
  mkdir -p "$root/var/lib/dpkg/info" "$root/var/lib/dpkg/updates"
  touch "$root/var/lib/dpkg/status"
  dpkg --root="$root" --force-depends --force-architecture --log=/dev/null -i "$deb" >"$work/dpkg.log" 2>&1 || { cat "$work/dpkg.log" >&2; die "dpkg failed"; }
  [ "$(dpkg-query --admindir="$root/var/lib/dpkg" -W -f='${db:Status-Status}' bracketkit)" = installed ] || die "not installed"
else
  dpkg-deb -x "$deb" "$root"
fi

count=0
for program in "$root"/usr/bin/*; do
  name=${program##*/}
  [ "$("${run[@]}" "$program" --version | cut -d' ' -f1)" = "$name" ] || die "$name --version"
  [ -e "$root/usr/share/bash-completion/completions/$name" ] || die "no completion for $name"
  count=$((count + 1))
done
[ "$count" -ge 20 ] || die "only $count programs"
[ ! -e "$root/usr/bin/bk-perf" ] || die "bk-perf is no program for users"
for file in lib/systemd/system/bracketkit-gate@.service lib/systemd/system/bracketkit-gate@.timer lib/systemd/system/bracketkit-calibrate.service share/bracketkit/profiles/sim.env \
  share/bracketkit/schema/001_initial.sql share/zsh/vendor-completions/_bracketkit share/doc/bracketkit/copyright; do
  [ -f "$root/usr/$file" ] || die "$file is missing"
done

# Profiles are found beside the program, and the engine too.
if [ -n "$native" ]; then
  cd "$work"
  "$root/usr/bin/bracket" gate --profile sim --contexts 2K --needle-context 2048 --korean-rounds 1 --db "$work/r.db" --quiet >"$work/gate" ||
    { cat "$work/gate" >&2; die "the installed gate did not pass"; }
fi

# The package of every library is named, of the linked ones and of those that are loaded late. Packages of one library
# have one name on every architecture: this machine's own tell which it is.
depends=$(dpkg-deb -f "$deb" Depends | tr ',' '\n' | sed -E 's/ *\(.*//; s/^ +//')
needed=$(for program in "$root"/usr/bin/*; do readelf -d "$program"; done | sed -nE 's/.*\(NEEDED\).*\[(.*)\]/\1/p' | sort -u)
[ -n "$needed" ] || die "the programs are linked with nothing"
late=$(grep -rhoE 'LateLibrary library\("[^"]+' "$root_dir/harness" | sed 's/.*"//')
[ -n "$late" ] || die "no library is loaded late any more: this check wants a change"
needed+=" $late"
for library in $needed; do
  case $library in ld-linux*) continue ;; esac
  path=$(ldconfig -p | awk -v name="$library" '$1 == name && !path { path = $NF } END { print path }')
  [ -n "$path" ] || die "$library is not on this machine"
  owner=$(dpkg -S "$path" 2>/dev/null || dpkg -S "$(readlink -f "$path")" 2>/dev/null || dpkg -S "${path#/usr}" 2>/dev/null ||
    dpkg -S "/usr$path" 2>/dev/null || true)
  [ -n "$owner" ] || die "no package owns $path"
  grep -qxF "${owner%%:*}" <<<"$depends" || die "${owner%%:*} ($library) is not among the package's dependencies"
done
echo "$count programs from ${deb##*/}"
