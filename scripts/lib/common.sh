# Shared by the scripts of this folder; sourced, not run. Needs bash.
set -euo pipefail
export LC_ALL=C.UTF-8

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

say() { printf '\n== %s\n' "$*"; }
fail() { printf 'error: %s\n' "$*" >&2; exit 1; }

as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    fail "need root for: $* (run as root, or install sudo)"
  fi
}

BUILD_PACKAGES=(g++ cmake ninja-build ccache pkg-config linux-libc-dev
  libbotan-2-dev libsqlite3-dev libsqlitecpp-dev libyaml-cpp-dev nlohmann-json3-dev
  libcli11-dev libseccomp-dev)
TEST_PACKAGES=(libgtest-dev libgmock-dev python3 git gcc make bash util-linux procps strace
  python3-cryptography python3-jsonschema musl-tools libc-ares-dev)
CHECK_PACKAGES=(clang-14 clang-tidy-14 clang-format-14 libclang-rt-14-dev)

# need_packages NAME... : installs what is missing of the named Debian packages.
need_packages() {
  local missing=()
  local name
  for name in "$@"; do
    dpkg-query -W -f='${db:Status-Status}\n' "$name" 2>/dev/null | grep -qx installed || missing+=("$name")
  done
  [ "${#missing[@]}" -eq 0 ] && return 0
  say "installing Debian packages: ${missing[*]}"
  as_root apt-get update -qq
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"
}

# tests_at_once : half as many again as there are processors, because many of the tests wait.
tests_at_once() {
  local processors
  processors=$(nproc)
  echo $((processors + (processors + 1) / 2))
}

# build_preset NAME [TARGET...] : configures once, then builds incrementally.
build_preset() {
  local preset=$1
  shift
  cd "$ROOT"
  [ -f "build/$preset/build.ninja" ] || cmake --preset "$preset" >/dev/null
  if [ $# -gt 0 ]; then
    cmake --build "build/$preset" --target "$@"
  else
    cmake --build "build/$preset"
  fi
}
