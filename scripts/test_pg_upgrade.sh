#!/bin/bash
# test_pg_upgrade.sh [RELEASE...] - pg_upgrade with the extension in use, from this machine's PostgreSQL to that of each Debian release that
# scripts/test_matrix.sh knows, and from one of these to the next: trixie (17), sid (18).
#
# The programs of the older version, with the extension, are laid into the newer release's root file system at /older,
# beside the libraries that it lacks; test/upgrade/pg_upgrade.sh runs there. As root only, like the matrix, whose
# PS_MATRIX_DIR this uses.
set -u -o pipefail
cd "$(dirname "$0")/.." || exit 1
if [ "$(id -u)" -ne 0 ] || ! command -v debootstrap >/dev/null; then
  echo "pg_upgrade is skipped: root file systems of other releases cannot be made here"
  exit 0
fi
export PS_MATRIX_DIR=${PS_MATRIX_DIR:-}
made=
if [ -z "$PS_MATRIX_DIR" ]; then
  PS_MATRIX_DIR=$(mktemp -d -p "${PS_TMPDIR:-/tmp}")
  made=$PS_MATRIX_DIR
fi
trap '[ -z "$made" ] || rm -rf --one-file-system "$made"' EXIT
MAKE=${MAKE:-make}

# lay_out FROM MAJOR STAGED INTO: the server MAJOR of the root file system FROM (empty: this machine), with the extension that is
# staged, as the older one in INTO. Libraries that INTO has are left to INTO.
lay_out() {
  local from=$1 major=$2 staged=$3 into=$4 program library in_root=()
  rm -rf --one-file-system "${into:?}/older"
  mkdir -p "$into/older/usr/lib/postgresql" "$into/older/usr/share/postgresql" "$into/older/lib"
  cp -a "$from/usr/lib/postgresql/$major" "$into/older/usr/lib/postgresql/"
  cp -a "$from/usr/share/postgresql/$major" "$into/older/usr/share/postgresql/"
  cp -a "$staged/." "$into/older/"
  if [ -n "$from" ]; then in_root=(chroot "$from"); fi
  for program in postgres pg_dump psql; do
    "${in_root[@]}" ldd "/usr/lib/postgresql/$major/bin/$program"
  done | sed -nE 's/.* => (\/[^ ]+) .*/\1/p' | sort -u | while IFS= read -r library; do
    [ -n "$(find "$into/usr/lib" -name "$(basename "$library")" -print -quit)" ] || cp -L "$from$library" "$into/older/lib/"
  done
}

# major_of ROOT: of the server that is installed there, the newest one.
major_of() { basename "$(find "$1/usr/lib/postgresql" -mindepth 1 -maxdepth 1 | sort -V | tail -n 1)"; }

status=0
staged=$PS_MATRIX_DIR/staged
"$MAKE" -s --no-print-directory DEBUG=-g1 -j "$(nproc)" all || exit 1
rm -rf "${staged:?}"
"$MAKE" -s --no-print-directory DESTDIR="$staged" install || exit 1
from='' major=$("${PG_CONFIG:-pg_config}" --version | sed -E 's/^[^0-9]*([0-9]+).*/\1/')
releases=("$@")
if [ ${#releases[@]} -eq 0 ]; then releases=(trixie sid); fi
for release in "${releases[@]}"; do
  into=$PS_MATRIX_DIR/$release
  # The first time makes the root file system.
  [ -e "$into/made" ] || PS_MATRIX_COMMAND=true scripts/test_matrix.sh "$release" >/dev/null
  lay_out "$from" "$major" "$staged" "$into"
  PS_MATRIX_COMMAND="rm -rf /staged; PS_OLD_BINDIR=/older/usr/lib/postgresql/$major/bin test/run.sh pg-upgrade; passed=\$?
    make -s DEBUG=-g1 DESTDIR=/staged install >&2; tail -n 1 build/test_summary; exit \$passed" scripts/test_matrix.sh "$release" || status=1
  grep -aE '^(ok|FAILED|not ok) ' "build/matrix/$release.log"
  from=$into major=$(major_of "$into") staged=$into/staged
done
exit $status
