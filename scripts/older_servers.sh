# older_servers.sh - servers of older releases, with the extension, in the root file system of a newer one. Sourced by
# scripts that test servers of several versions together, as root, from the checkout.
#
#   require_roots WHAT            skips where no root file systems can be made; else PS_MATRIX_DIR is a folder for them
#   stage_own                     this machine's extension is built and staged: sets `own_major`, `own_staged`
#   in_release RELEASE COMMAND    runs a command in a copy of the checkout there (scripts/test_matrix.sh)
#   stage_release RELEASE         the same of a release's: sets `major`, `staged`
#   lay_out FROM MAJOR STAGED INTO AS
#
# shellcheck shell=bash disable=SC2034

require_roots() {
  if [ "$(id -u)" -ne 0 ] || ! command -v debootstrap >/dev/null; then
    echo "$1 is skipped: root file systems of other releases cannot be made here"
    exit 0
  fi
  export PS_MATRIX_DIR=${PS_MATRIX_DIR:-}
  made_roots=
  if [ -z "$PS_MATRIX_DIR" ]; then
    PS_MATRIX_DIR=$(mktemp -d -p "${PS_TMPDIR:-/tmp}")
    made_roots=$PS_MATRIX_DIR
  fi
  trap '[ -z "$made_roots" ] || rm -rf --one-file-system "$made_roots"' EXIT
}

stage_own() {
  own_staged=$PS_MATRIX_DIR/staged
  "${MAKE:-make}" -s --no-print-directory DEBUG=-g1 -j "$(nproc)" all || return 1
  rm -rf "${own_staged:?}"
  "${MAKE:-make}" -s --no-print-directory DESTDIR="$own_staged" install || return 1
  own_major=$("${PG_CONFIG:-pg_config}" --version | sed -E 's/^[^0-9]*([0-9]+).*/\1/')
}

in_release() { PS_MATRIX_COMMAND=$2 scripts/test_matrix.sh "$1"; }

# The first time makes the root file system.
make_root() { [ -e "$PS_MATRIX_DIR/$1/made" ] || in_release "$1" true >/dev/null; }

# After in_release with `$stage_there` in its command.
stage_there='rm -rf /staged; make -s DEBUG=-g1 DESTDIR=/staged install >&2'
stage_release() {
  staged=$PS_MATRIX_DIR/$1/staged
  major=$(basename "$(find "$PS_MATRIX_DIR/$1/usr/lib/postgresql" -mindepth 1 -maxdepth 1 | sort -V | tail -n 1)")
}

# The server MAJOR of the root file system FROM (empty: this machine), with the extension that is staged, in /AS of the
# root file system INTO; libraries that INTO lacks are in /AS/lib.
lay_out() {
  local from=$1 major=$2 staged=$3 into=$4 as=$5 program library in_root=()
  rm -rf --one-file-system "${into:?}/${as:?}"
  mkdir -p "$into/$as/usr/lib/postgresql" "$into/$as/usr/share/postgresql" "$into/$as/lib"
  cp -a "$from/usr/lib/postgresql/$major" "$into/$as/usr/lib/postgresql/"
  cp -a "$from/usr/share/postgresql/$major" "$into/$as/usr/share/postgresql/"
  cp -a "$staged/." "$into/$as/"
  if [ -n "$from" ]; then in_root=(chroot "$from"); fi
  for program in bin/postgres bin/pg_dump bin/psql lib/postgres_fdw.so; do
    "${in_root[@]}" ldd "/usr/lib/postgresql/$major/$program"
  done | sed -nE 's/.* => (\/[^ ]+) .*/\1/p' | sort -u | while IFS= read -r library; do
    [ -n "$(find "$into/usr/lib" -name "$(basename "$library")" -print -quit)" ] || cp -L "$from$library" "$into/$as/lib/"
  done
}
