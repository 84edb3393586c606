#!/usr/bin/env bash
# The Debian package of this build, installed into an empty root: everything is there, runs from there, and the package
# names what its programs are linked with. check.sh BUILD_DIR
set -euo pipefail
build=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

die() {
  echo "check.sh: $*" >&2
  exit 1
}

# One fast compression for the test; the shipped package is made with the default one.
(cd "$work" && cpack -G DEB --config "$build/CPackConfig.cmake" -B "$work/deb" -D CPACK_DEBIAN_COMPRESSION_TYPE=gzip) >"$work/cpack.log" ||
  { cat "$work/cpack.log" >&2; die "cpack failed"; }
deb=$(echo "$work"/deb/*.deb)
[ -f "$deb" ] || die "no package came out"
[ "$(dpkg-deb -f "$deb" Architecture)" = "$(dpkg --print-architecture)" ] || die "the package is for another architecture"

root=$work/root
if [ "$(id -u)" = 0 ]; then
  mkdir -p "$root/var/lib/dpkg/info" "$root/var/lib/dpkg/updates"
  touch "$root/var/lib/dpkg/status"
  dpkg --root="$root" --force-depends --log=/dev/null -i "$deb" >"$work/dpkg.log" 2>&1 || { cat "$work/dpkg.log" >&2; die "dpkg failed"; }
  [ "$(dpkg-query --admindir="$root/var/lib/dpkg" -W -f='${db:Status-Status}' bracketkit)" = installed ] || die "not installed"
else
  dpkg-deb -x "$deb" "$root"
fi

count=0
for program in "$root"/usr/bin/*; do
  name=${program##*/}
  [ "$("$program" --version | cut -d' ' -f1)" = "$name" ] || die "$name --version"
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
cd "$work"
"$root/usr/bin/bracket" gate --profile sim --contexts 2K --needle-context 2048 --korean-rounds 1 --db "$work/r.db" --quiet >"$work/gate" ||
  { cat "$work/gate" >&2; die "the installed gate did not pass"; }

# Every linked library's package is named.
depends=$(dpkg-deb -f "$deb" Depends | tr ',' '\n' | sed -E 's/ *\(.*//; s/^ +//')
for library in $(for program in "$root"/usr/bin/*; do ldd "$program"; done | sed -nE 's/.*=> (\/[^ ]+) .*/\1/p' | sort -u); do
  needed=$(for program in "$root"/usr/bin/*; do objdump -p "$program"; done | sed -nE 's/ *NEEDED +//p' | sort -u)
  grep -qxF "${library##*/}" <<<"$needed" || continue
  owner=$(dpkg -S "$library" 2>/dev/null || dpkg -S "$(readlink -f "$library")" 2>/dev/null || dpkg -S "${library#/usr}" 2>/dev/null ||
    dpkg -S "/usr$library" 2>/dev/null || true)
  [ -n "$owner" ] || die "no package owns $library"
  grep -qxF "${owner%%:*}" <<<"$depends" || die "${owner%%:*} ($library) is not among the package's dependencies"
done
echo "$count programs from ${deb##*/}"
