#!/bin/bash
# Installs the Debian packages that building and testing need, and only those that are missing; with the argument
# "demo" only what the demonstration is built with and runs on, with "bench" also what the measurements compare with and
# count by, with "sqlsmith" what that needs. It says first how many packages come and how much that is to download and on disk.
#
# It looks for what a package provides rather than for its name, so a newer compiler or another Boost is left alone.
# It removes nothing, and no cluster is created or started: a temporary setting keeps the server package from creating
# "main", and a temporary policy keeps it from starting services. Existing clusters stay as they are.
set -euo pipefail

pg_config=${PG_CONFIG:-pg_config}
major=$("$pg_config" --version 2>/dev/null | sed -nE 's/^PostgreSQL ([0-9]+).*/\1/p') || true

# become_root ARGUMENT...: starts this script again as root, when it is not.
become_root() {
  if ! command -v apt-get >/dev/null; then
    echo "this is not a Debian system: please install them by its own means" >&2
    exit 1
  fi
  if [ "$(id -u)" -eq 0 ]; then return; fi
  command -v sudo >/dev/null || { echo "neither root nor sudo: please install them as root" >&2; exit 1; }
  echo "sudo is asked for the rights to install them"
  exec sudo env PG_CONFIG="$pg_config" PS_TOLD="${PS_TOLD:-}" "$0" "$@"
}
# How many packages come, and how many have been downloaded and set up so far.
coming=0
arrived=0
ready=0
show_progress() {
  local line
  while IFS= read -r line; do
    case $line in
      Get:*) if [ $((arrived += 1)) -le "$coming" ] && [ $((arrived % 20)) -eq 0 ]; then echo "  $arrived of $coming are downloaded"; fi ;;
      "Setting up "*) if [ $((ready += 1)) -le "$coming" ] && [ $((ready % 20)) -eq 0 ]; then echo "  $ready of $coming are set up"; fi ;;
    esac
  done
}
# apt_get ARGUMENT...: shows of apt's words what tells how far it is, and all of them when it fails.
apt_get() {
  local log status=0
  log=$(mktemp)
  LC_ALL=C apt-get -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 -q "$@" 2>&1 | tee "$log" | show_progress || status=$?
  if [ "$coming" -gt 0 ]; then
    arrived=$((arrived + $(grep -c '^Get:' "$log" || true)))
    ready=$((ready + $(grep -c '^Setting up ' "$log" || true)))
  fi
  if [ $status -ne 0 ]; then cat "$log" >&2; fi
  rm -f "$log"
  return $status
}
refresh_lists() {
  if [ -z "${refreshed:-}" ]; then
    echo "apt reads its lists"
    apt_get update
  fi
  refreshed=yes
}

# Without a server, the one of this Debian release: what its package "postgresql" depends on.
release_major() {
  apt-cache depends postgresql 2>/dev/null | sed -nE 's/.*Depends: postgresql-([0-9]+)$/\1/p' | head -n 1 || true
}
major=${major:-$(release_major)}
if [ -z "$major" ]; then
  echo "missing packages: a PostgreSQL server"
  become_root "$@"
  refresh_lists
  major=$(release_major)
fi

# package, and the command (or file pattern) that shows it is there
missing=()
welcome=()
is_there() {
  local what
  for what in "$@"; do
    case $what in
      /*) if compgen -G "$what" >/dev/null; then return; fi ;;
      *) if command -v "$what" >/dev/null; then return; fi ;;
    esac
  done
  return 1
}
need() { is_there "${@:2}" || missing+=("$1"); }
# What only a few tests or measurements need, which are left out without it.
welcome() { is_there "${@:2}" || welcome+=("$1"); }
need make make
need g++ g++
need binutils objcopy
need libboost-dev /usr/include/boost/version.hpp /usr/local/include/boost/version.hpp
if [ "${1:-}" != demo ]; then
  need clang clang++
  need libclang-rt-dev '/usr/lib/llvm-*/lib/clang/*/lib/linux/libclang_rt.fuzzer-*.a' '/usr/lib/clang/*/lib/*/libclang_rt.fuzzer*.a'
  need diffutils diff
  need perl perl
  need coinor-libclp-dev /usr/include/coin/ClpSimplex.hpp /usr/local/include/coin/ClpSimplex.hpp
  need libgtest-dev '/usr/lib/*/libgtest_main.a' /usr/local/lib/libgtest_main.a
fi
# Later libpg_query has no C structs for its trees; they are made from their description.
lacks_structs() { [ -e /usr/include/pg_query/pg_query.proto ] && ! [ -e /usr/include/pg_query/pg_query.pb-c.h ]; }
if lacks_structs; then need protobuf-c-compiler protoc-c; fi
need libpg-query-dev '/usr/lib/*/libpg_query.a' /usr/local/lib/libpg_query.a
need libprotobuf-c-dev '/usr/include/protobuf-c/protobuf-c.h' /usr/local/include/protobuf-c/protobuf-c.h
if ! [ -x "$("$pg_config" --bindir 2>/dev/null)/postgres" ]; then
  need "postgresql-$major" "/usr/lib/postgresql/$major/bin/postgres"
fi
# The build files may be there without the headers.
if ! [ -f "$("$pg_config" --pgxs 2>/dev/null)" ] || ! [ -f "$("$pg_config" --includedir-server 2>/dev/null)/postgres.h" ]; then
  need "postgresql-server-dev-$major" "/usr/include/postgresql/$major/server/postgres.h"
fi
library_dir=$("$pg_config" --pkglibdir 2>/dev/null) || library_dir=/usr/lib/postgresql/$major/lib
if [ "${1:-}" != demo ]; then
  welcome coinor-cbc cbc
  welcome curl curl
  welcome "postgresql-$major-pgaudit" "$library_dir/pgaudit.so"
  welcome "postgresql-$major-plpgsql-check" "$library_dir/plpgsql_check.so"
fi
case ${1:-} in
  sqlsmith)
    need sqlsmith sqlsmith
    welcome pgbouncer pgbouncer /usr/sbin/pgbouncer
    welcome python3-psycopg2 /usr/lib/python3/dist-packages/psycopg2/__init__.py
    welcome python3-psycopg /usr/lib/python3/dist-packages/psycopg/__init__.py
    welcome libpostgresql-jdbc-java /usr/share/java/postgresql.jar
    welcome default-jdk-headless javac
    welcome npm npm
    ;;
esac
if [ "${1:-}" = bench ]; then
  welcome "postgresql-$major-pg-qualstats" "$library_dir/pg_qualstats.so"
  welcome valgrind valgrind
  welcome pgbouncer pgbouncer
  welcome coinor-cbc cbc
fi

if [ ${#missing[@]} -eq 0 ] && [ ${#welcome[@]} -eq 0 ]; then
  if [ "${1:-}" = demo ]; then echo "all packages that it needs are there"; fi
  exit 0
fi
if [ -z "${PS_TOLD:-}" ]; then echo "missing packages: ${missing[*]} ${welcome[*]}"; fi
if [ ${#missing[@]} -eq 0 ] && { ! command -v apt-get || { [ "$(id -u)" -ne 0 ] && ! command -v sudo; }; } >/dev/null; then
  echo "what needs them is left out"
  exit 0
fi
PS_TOLD=yes become_root "$@"

export DEBIAN_FRONTEND=noninteractive NEEDRESTART_SUSPEND=1
apt_install() { apt_get install -y --no-remove --no-install-recommends "$@"; }

# Says what the given packages bring with them, and sets `coming` to their number; fails where apt knows one of them not.
say_how_much() {
  local plan
  plan=$(LC_ALL=C apt-get install --assume-no --no-remove --no-install-recommends "$@" 2>/dev/null || true)
  coming=$(sed -nE 's/^.* ([0-9]+) newly installed.*/\1/p' <<<"$plan")
  coming=${coming:-0}
  [ "$coming" -gt 0 ] || return
  echo "installing $coming packages, with all that they depend on:" \
    "$(sed -nE 's,^Need to get (.*/)?([0-9.]+ ?[kMGB]+) of archives.*,\2,p' <<<"$plan") to download," \
    "$(sed -nE 's/^After this operation, ([0-9.]+ ?[kMGB]+) of additional.*/\1/p' <<<"$plan") on disk"
}

policy=/usr/sbin/policy-rc.d
common=/etc/postgresql-common
no_cluster=$common/createcluster.d/privacy_score_tests.conf
cleanup() {
  rm -f "$no_cluster"
  rmdir --ignore-fail-on-non-empty "$common/createcluster.d" 2>/dev/null || true
  if [ -n "${made_policy:-}" ]; then rm -f "$policy"; fi
}
trap cleanup EXIT
trap 'exit 130' INT TERM HUP PIPE

refresh_lists
say_how_much "${missing[@]}" "${welcome[@]}" || say_how_much "${missing[@]}" || true
if ! [ -e "$policy" ]; then
  made_policy=yes
  printf '#!/bin/sh\nexit 101\n' >"$policy"
  chmod 755 "$policy"
fi
if [[ " ${missing[*]} " == *" postgresql-$major "* ]]; then
  apt_install postgresql-common
  mkdir -p "$common/createcluster.d"
  echo "create_main_cluster = false" >"$no_cluster"
  if [ "$(pg_conftool "$common/createcluster.conf" show -bs create_main_cluster 2>/dev/null)" != off ]; then
    echo "$common/createcluster.conf does not read createcluster.d: please install postgresql-$major by hand" >&2
    exit 1
  fi
fi
if [ ${#missing[@]} -gt 0 ]; then apt_install "${missing[@]}"; fi
if lacks_structs && ! is_there protoc-c; then apt_install protobuf-c-compiler; fi
for package in "${welcome[@]}"; do
  apt_install "$package" || echo "$package cannot be installed: what needs it is left out"
done
