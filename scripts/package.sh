# ./dev package [arm64]: the Debian package, under build/package, checked in an empty root. arm64 comes from the cross build's sysroot (./dev cross).
. "$ROOT/scripts/cross.sh"

run_package() {
  local preset=release deb
  need install install_packages build
  if [ "${1:-}" = arm64 ]; then
    preset=arm64-release
    need install install_packages build cross
    need cross-sysroot sysroot
  fi
  need configure configure "$preset"
  need build build "$preset"
  need package make_package "$preset"
  deb=$(ls -t "$ROOT"/build/package/*.deb | head -n 1)
  need check bash "$ROOT/tests/package/check.sh" "$deb"
  echo "$deb"
}

make_package() { (cd "$ROOT/build" && cpack --config "$ROOT/build/$1/CPackConfig.cmake" -B "$ROOT/build/package"); }
