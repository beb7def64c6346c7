#!/bin/bash
# sandbox.sh COMMAND [ARGUMENT...] - runs a command with its own PostgreSQL, as a user that may run a server.
#
# A temporary folder gets a copy of the checkout and a private copy of the PostgreSQL programs, into which the extension
# is installed: a server finds its files relative to its own program, so the system's installation is not written to
# and several checkouts can be tested side by side. As root, the command runs as "postgres" (PS_SERVER_USER), which
# needs no right to read the checkout; what it leaves in results/, demo/report.txt (.md, .html, .json, .svg)
# and the like is copied back.
#
# The command finds: the current directory = the copy of the checkout; PS_BINDIR = the private programs, first in PATH,
# below PS_ROOT, with build/test/privacy_score.so beside the module as privacy_score_changed_noise.so when it was built;
# PS_TMP = an empty folder with a short name; PS_REGRESS_DIR = where pg_regress is; PS_HEADERS = the
# headers of the server. No other PG* variable is set.
# PS_KEEP=1 keeps the folder; PS_TWINS=N is how many questions test/attacks/noisy_twins.sh asks;
# PS_LONG=1 asks for the long forms of tests, PS_CITUS=1 for that with Citus,
# PS_SEED=N for the choices of one run again, PS_LANES=N for as many scripts at a time;
# PS_PACKAGE=FILE takes the extension from a Debian package rather than from the checkout, PS_MODULE=FILE that module, without
# the solver's. Whatever server is still running below PS_TMP at the end is stopped.
set -euo pipefail

checkout=$(cd "$(dirname "$0")/.." && pwd)
pg_config=${PG_CONFIG:-pg_config}
bindir=$("$pg_config" --bindir)
libdir=$("$pg_config" --pkglibdir)
sharedir=$("$pg_config" --sharedir)
pgxs=$("$pg_config" --pgxs)

sandbox=$(mktemp -d "${PS_TMPDIR:-/tmp}/ps.XXXXXX")
as_user=()
if [ "$(id -u)" -eq 0 ]; then
  user=${PS_SERVER_USER:-postgres}
  id -u "$user" >/dev/null || { echo "a server cannot run as root, and there is no user $user" >&2; exit 1; }
  as_user=(runuser -u "$user" --)
fi

cleanup() {
  local pid_file
  trap '' INT TERM HUP PIPE
  while IFS= read -r pid_file; do
    "${as_user[@]}" "$bindir/pg_ctl" stop -s -m immediate -D "$(dirname "$pid_file")" </dev/null || true
  done < <(find "$sandbox/run" -maxdepth 4 -name postmaster.pid 2>/dev/null)
  if [ -n "${PS_KEEP:-}" ]; then echo "kept: $sandbox"; else rm -rf "$sandbox"; fi
}
trap cleanup EXIT
# PIPE: what this writes may go to a program that the same signal has ended before.
trap 'exit 130' INT TERM HUP PIPE

# the private installation: programs are copied, since a server asks where its own file lies; the rest is linked
root=$sandbox/pg
mkdir -p "$root$bindir" "$root$libdir" "$root$sharedir"
cp -a "$bindir/." "$root$bindir"
cp -as "$libdir/." "$root$libdir"
cp -as "$sharedir/." "$root$sharedir"
rm -f "$root$libdir"/privacy_score* "$root$sharedir"/extension/privacy_score*
if [ -n "${PS_PACKAGE:-}" ]; then
  dpkg-deb --extract "$PS_PACKAGE" "$root"
elif [ -n "${PS_MODULE:-}" ]; then
  cp "$checkout/$PS_MODULE" "$root$libdir/privacy_score.so"
  cp "$checkout"/privacy_score.control "$checkout"/sql/privacy_score--*.sql "$root$sharedir/extension"
else
  "${MAKE:-make}" -s --no-print-directory -C "$checkout" PG_CONFIG="$pg_config" DESTDIR="$root" install
fi

if [ -e "$checkout/build/test/privacy_score.so" ]; then cp "$checkout/build/test/privacy_score.so" "$root$libdir/privacy_score_changed_noise.so"; fi

mkdir "$sandbox/tree" "$sandbox/run"
tar -C "$checkout" --exclude=./.git --exclude=./build --exclude=./results --exclude='./regression.*' --exclude='*.so' -cf - . |
  tar -C "$sandbox/tree" --no-same-owner -xf -
if [ ${#as_user[@]} -gt 0 ]; then
  chmod 755 "$sandbox"
  chmod -R u+rwX,go+rX "$root"
  chown -R "$user:" "$sandbox/tree" "$sandbox/run"
fi

cd "$sandbox/tree"
status=0
"${as_user[@]}" env -i HOME="$sandbox/run" PATH="$root$bindir:$PATH" LANG=C.UTF-8 LC_ALL=C.UTF-8 TZ=UTC TERM=dumb \
  PS_ROOT="$root" PS_BINDIR="$root$bindir" PS_TMP="$sandbox/run" PS_REGRESS_DIR="$(dirname "$pgxs")/../test" PS_HEADERS="$("$pg_config" --includedir-server)" PS_TWINS="${PS_TWINS:-200}" \
  PS_LONG="${PS_LONG:-}" PS_CITUS="${PS_CITUS:-}" PS_SEED="${PS_SEED:-}" PS_KILLS="${PS_KILLS:-}" PS_LANES="${PS_LANES:-}" "$@" </dev/null || status=$?

# what the run leaves behind
shopt -s nullglob
for result in results regression.diffs regression.out demo/report.{txt,md,html,json,svg} bench/results*; do
  if ! [ -e "$result" ]; then continue; fi
  rm -rf "${checkout:?}/$result"
  cp -RP --no-preserve=mode,ownership "$result" "$checkout/$result"
done
exit $status
