# ./dev cross: the libraries and their unit tests for arm64, run under qemu. The arm64 packages are unpacked into a private
# sysroot (.cross), because several -dev packages cannot be installed beside the host's. apt's own state is left alone.

CROSS=$ROOT/.cross
CROSS_PACKAGES="catch2 libbenchmark-dev libcli11-dev libcpp-httplib-dev libcurl4-openssl-dev libeigen3-dev libexpected-dev libfmt-dev
  libarchive-dev libicu-dev libopenmpi-dev libpq-dev libsimdjson-dev libsqlite3-dev nlohmann-json3-dev zlib1g-dev"
# These suites run their own code only. Those that start programs of the build would start arm64 ones without qemu, and
# qemu does not pass on the kernel's receive stamps that http reads.
CROSS_SUITES="base stream stats gate report manifest physics trace engine load leg store ledger cli"

cross_apt() { APT_CONFIG=$CROSS/apt.conf apt-get -q "$@"; }

sysroot() {
  local key
  key=$( (echo "$CROSS_PACKAGES"; cat scripts/cross.sh) | sha256sum)
  [ "$(cat "$CROSS/done" 2>/dev/null)" != "$key" ] || { echo "the sysroot stands"; return 0; }
  rm -rf "$CROSS"
  mkdir -p "$CROSS"/{lists/partial,cache/archives/partial,sysroot}
  : >"$CROSS/status"
  cat >"$CROSS/apt.conf" <<TEXT
APT::Architecture "arm64";
#clear APT::Architectures;
APT::Architectures { "arm64"; };
APT::Sandbox::User "";
APT::Install-Recommends "false";
Acquire::Languages "none";
Dir::State::Lists "$CROSS/lists";
Dir::State::status "$CROSS/status";
Dir::Cache "$CROSS/cache";
TEXT
  cross_apt update
  # shellcheck disable=SC2086
  cross_apt install --download-only -y $CROSS_PACKAGES
  unpack_sysroot
  rm -rf "$CROSS/cache" "$CROSS/lists"
  echo "$key" >"$CROSS/done"
}

unpack_sysroot() {
  local deb link target
  for deb in "$CROSS"/cache/archives/*.deb; do
    # The cross compiler brings the C library's headers itself.
    case ${deb##*/} in libc6-dev_* | linux-libc-dev_* | perl* | icu-devtools_*) continue ;; esac
    dpkg-deb -x "$deb" "$CROSS/sysroot"
  done
  find "$CROSS/sysroot" -type l -lname '/*' | while read -r link; do
    target=$(readlink "$link")
    ln -sfn "$CROSS/sysroot$target" "$link"
  done
}

cross_suites() {
  local suite
  for suite in $CROSS_SUITES; do
    [ ! -e "tests/$suite/CMakeLists.txt" ] || echo "$suite"
  done
}

cross_build() {
  local suite targets=()
  for suite in $(cross_suites); do targets+=("${suite}_test"); done
  for suite in harness/*/CMakeLists.txt; do targets+=("bk_$(basename "$(dirname "$suite")")"); done
  build arm64 "${targets[@]}"
}

cross_tests() { ctest_in arm64 -R "^($(cross_suites | paste -sd'|'))$"; }

cross_stages() {
  if stage cross-sysroot sysroot && stage cross-configure configure arm64 && stage cross-build cross_build; then
    stage cross-tests cross_tests || true
  fi
}

run_cross() {
  need install install_packages build cross
  cross_stages
  print_stages
  [ ${#FAILED[@]} = 0 ] || exit 1
}
