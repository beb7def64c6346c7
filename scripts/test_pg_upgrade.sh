#!/bin/bash
# test_pg_upgrade.sh [RELEASE...] - pg_upgrade with the extension in use, from this machine's PostgreSQL to that of each Debian release that
# scripts/test_matrix.sh knows, and from one of these to the next: trixie (17), sid (18).
#
# The programs of the older version, with the extension, are laid into the newer release's root file system at /older,
# beside the libraries that it lacks; test/upgrade/pg_upgrade.sh runs there. As root only, like the matrix, whose
# PS_MATRIX_DIR this uses.
set -u -o pipefail
cd "$(dirname "$0")/.." || exit 1
. scripts/older_servers.sh
require_roots pg_upgrade

status=0
stage_own || exit 1
from='' major=$own_major staged=$own_staged
releases=("$@")
if [ ${#releases[@]} -eq 0 ]; then releases=(trixie sid); fi
for release in "${releases[@]}"; do
  into=$PS_MATRIX_DIR/$release
  make_root "$release"
  lay_out "$from" "$major" "$staged" "$into" older
  in_release "$release" "PS_OLD_BINDIR=/older/usr/lib/postgresql/$major/bin test/run.sh pg-upgrade; passed=\$?
    $stage_there; tail -n 1 build/test_summary; exit \$passed" || status=1
  grep -aE '^(ok|FAILED|not ok) ' "build/matrix/$release.log"
  from=$into
  stage_release "$release"
done
exit $status
