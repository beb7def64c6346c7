#!/bin/bash
# test_matrix.sh [RELEASE...] - the whole test run on other Debian releases, each with its own PostgreSQL, libpg_query and
# Boost: trixie (PostgreSQL 17) and sid (18), unless others are named.
#
# Makes a root file system of each release with debootstrap and runs PS_MATRIX_COMMAND (`make test`) on a copy of the
# checkout in it, in mount and process namespaces of its own, so that nothing is left behind. As root only; where that
# cannot be, it says so and succeeds. PS_MATRIX_DIR keeps the root file systems for the next time; the log of each release
# is build/matrix/RELEASE.log. Ends with a line for each release, and fails when one of them did.
set -u -o pipefail
cd "$(dirname "$0")/.." || exit 1

skip() {
  echo "the matrix is skipped: $1"
  exit 0
}
[ "$(id -u)" -eq 0 ] || skip "a root file system is made by root only"
command -v debootstrap >/dev/null || skip "debootstrap is not installed"
unshare --mount --pid --fork true 2>/dev/null || skip "namespaces cannot be made here"

releases=("$@")
if [ ${#releases[@]} -eq 0 ]; then releases=(trixie sid); fi
roots=${PS_MATRIX_DIR:-}
if [ -z "$roots" ]; then
  roots=$(mktemp -d "${PS_TMPDIR:-/tmp}/ps_matrix.XXXXXX")
  trap 'rm -rf --one-file-system "$roots"' EXIT
  trap 'exit 130' INT TERM HUP
fi
# Where this machine gets its own packages from.
# shellcheck disable=SC2016
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' 2>/dev/null |
  grep -v security | head -n 1)
mkdir -p build/matrix "$roots"

# In the root file system: its own /proc, shared memory and a name to be found by.
inside() {
  local root=$1
  shift
  # shellcheck disable=SC2016
  unshare --mount --pid --fork --kill-child bash -c '
    mount --make-rprivate / && mount -t proc proc "$1/proc" && mount -t tmpfs -o mode=1777 tmpfs "$1/dev/shm" || exit 1
    root=$1; shift
    exec chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 LC_ALL=C.UTF-8 "$@"' - "$root" "$@"
}

run_release() {
  local release=$1 root=$roots/$1 log=build/matrix/$1.log
  if ! [ -e "$root/made" ]; then
    rm -rf --one-file-system "$root"
    debootstrap --variant=minbase --include=make,ca-certificates "$release" "$root" ${mirror:+"$mirror"} >"$log" 2>&1 &&
      touch "$root/made" || return
    # A mirror of a moving release may be some weeks old.
    echo 'Acquire::Check-Valid-Until "false";' >"$root/etc/apt/apt.conf.d/90old_mirror"
  fi
  mkdir -p "$root/dev/shm"
  # What was built there from other sources may be newer than these.
  rm -rf "${root:?}/checkout"
  mkdir -p "$root/checkout"
  tar --exclude=./.git --exclude=./build --exclude='*.so' --exclude=./results -cf - . | tar -C "$root/checkout" --no-same-owner -xf -
  # shellcheck disable=SC2086
  inside "$root" bash -c "cd /checkout && ${PS_MATRIX_COMMAND:-make test}" >"$log" 2>&1
}

failed=0
for release in "${releases[@]}"; do
  started=$SECONDS
  echo "== $release: $(date -u '+%H:%M'), log in build/matrix/$release.log"
  run_release "$release" || failed=1
  version=$(sed -nE 's/.*starting (PostgreSQL [0-9.]+).*/\1/p' "build/matrix/$release.log" | head -n 1)
  echo "$release: ${version:-no server}: $(tail -n 1 "build/matrix/$release.log") ($(((SECONDS - started + 59) / 60)) min)"
done
exit $failed
