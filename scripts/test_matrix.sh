#!/bin/bash
# test_matrix.sh [RELEASE...] - the whole test run on other Debian releases, each with its own PostgreSQL, libpg_query and
# Boost: trixie (PostgreSQL 17) and sid (18), unless others are named.
#
# Makes a root file system of each release with debootstrap and runs PS_MATRIX_COMMAND (`make test`) on a copy of the
# checkout in it. As root only; where that cannot be, it says so and succeeds. PS_MATRIX_DIR keeps the root file systems
# for the next time (one run at a time; ccache is used where it is installed in them); the log of each release is
# build/matrix/RELEASE.log. Ends with a line for each release, and fails when one of them did.
#
# Whatever runs in a root file system has mount and process namespaces of its own, and they end with this script, however
# it ends: no process and no mount is left. A temporary folder is, when the script itself is killed with SIGKILL.
set -u -o pipefail
cd "$(dirname "$0")/.." || exit 1

skip() {
  echo "the matrix is skipped: $1"
  exit 0
}
[ "$(id -u)" -eq 0 ] || skip "a root file system is made by root only"
command -v debootstrap >/dev/null || skip "debootstrap is not installed"
unshare --mount --pid --fork true 2>/dev/null || skip "namespaces cannot be made here"

running=
# The first process of a namespace takes all others with it, and `unshare` ends when they are gone.
clean_up() {
  local first
  trap '' INT TERM HUP PIPE
  if [ -n "$running" ]; then
    first=$(cat "/proc/$running/task/$running/children" 2>/dev/null)
    kill -KILL ${first:-"$running"} 2>/dev/null
    wait "$running"
  fi
  if [ -z "${PS_MATRIX_DIR:-}" ]; then rm -rf --one-file-system "$roots"; fi
}
roots=${PS_MATRIX_DIR:-$(mktemp -d -p "${PS_TMPDIR:-/tmp}")}
trap clean_up EXIT
trap 'exit 130' INT TERM HUP PIPE

releases=("$@")
if [ ${#releases[@]} -eq 0 ]; then releases=(trixie sid); fi
# Where this machine gets its own packages from.
# shellcheck disable=SC2016
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' 2>/dev/null |
  grep -v security | head -n 1)
mkdir -p build/matrix "$roots"

# Runs a command in namespaces of its own. It is waited for in a way that lets a signal end this script at once, and it
# is killed when this script has no chance to do so.
apart() {
  local status=0
  setpriv --pdeathsig KILL unshare --mount --pid --fork --kill-child --mount-proc "$@" &
  running=$!
  wait $running || status=$?
  running=
  return $status
}

# In the root file system: its own /proc and shared memory, signals as at a terminal.
inside() {
  # shellcheck disable=SC2016
  apart bash -c '
    mount -t proc proc "$1/proc" && mount -t tmpfs -o mode=1777 tmpfs "$1/dev/shm" || exit 1
    root=$1; shift
    exec chroot "$root" env -i --default-signal=INT,QUIT PATH=/usr/lib/ccache:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
      LANG=C.UTF-8 LC_ALL=C.UTF-8 "$@"' - "$@"
}

run_release() {
  local release=$1 root=$roots/$1 log=build/matrix/$1.log
  : >"$log"
  exec 9>"$roots/$release.lock"
  flock -n 9 || { echo "another run is at work in $root" | tee "$log"; return 1; }
  if ! [ -e "$root/made" ]; then
    rm -rf --one-file-system "$root"
    apart debootstrap --variant=minbase --include=make,ca-certificates "$release" "$root" ${mirror:+"$mirror"} >"$log" 2>&1 &&
      touch "$root/made" || return
    # A mirror of a moving release may be some weeks old.
    echo 'Acquire::Check-Valid-Until "false";' >"$root/etc/apt/apt.conf.d/90old_mirror"
  fi
  mkdir -p "$root/dev/shm"
  # What was built there from other sources may be newer than these.
  rm -rf --one-file-system "${root:?}/checkout"
  mkdir -p "$root/checkout"
  tar --exclude=./.git --exclude=./build --exclude='*.so' --exclude=./results -cf - . | tar -C "$root/checkout" --no-same-owner -xf -
  inside "$root" bash -c "cd /checkout && ${PS_MATRIX_COMMAND:-make test}" >"$log" 2>&1
}

# What a release has of that which matters.
versions() {
  # shellcheck disable=SC2016
  dpkg-query --admindir="$roots/$1/var/lib/dpkg" -W -f '${db:Status-Status} ${Package} ${Version}\n' \
    'postgresql-[0-9][0-9]' libpg-query-dev libboost-dev 'g++-[0-9][0-9]' 2>/dev/null |
    sed -n 's/^installed //p' | paste -sd ',' | sed 's/,/, /g'
}

failed=0
for release in "${releases[@]}"; do
  started=$SECONDS
  echo "== $release: $(date -u '+%F %H:%M UTC'), log in build/matrix/$release.log"
  run_release "$release" || failed=1
  echo "$release ($(versions "$release")): $(tail -n 1 "build/matrix/$release.log") ($(((SECONDS - started + 59) / 60)) min)"
done
exit $failed
