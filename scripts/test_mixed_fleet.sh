#!/bin/bash
# test_mixed_fleet.sh - a fleet of servers of three versions: this machine's PostgreSQL (15) and those of the Debian
# releases trixie (17) and sid (18).
#
# The programs of the older two, with the extension, are laid into the newest release's root file system;
# test/upgrade/mixed_fleet.sh runs there. As root only, like the matrix, whose PS_MATRIX_DIR this uses.
set -u -o pipefail
cd "$(dirname "$0")/.." || exit 1
. scripts/older_servers.sh
require_roots "the mixed fleet"

middle=trixie newest=sid
stage_own || exit 1
for release in "$middle" "$newest"; do make_root "$release"; done
# What the servers are made of there.
in_release "$middle" "test/run.sh build && { $stage_there; }" || { tail -n 5 "build/matrix/$middle.log"; exit 1; }
stage_release "$middle"
root=$PS_MATRIX_DIR/$newest
lay_out '' "$own_major" "$own_staged" "$root" "older_$own_major"
lay_out "$PS_MATRIX_DIR/$middle" "$major" "$staged" "$root" "older_$major"
# Nearer to the newest goes first.
status=0
in_release "$newest" "PS_OLD_LIBRARIES=/older_$major/lib:/older_$own_major/lib \
  PS_OLD_BINDIRS='/older_$own_major/usr/lib/postgresql/$own_major/bin /older_$major/usr/lib/postgresql/$major/bin' test/run.sh mixed-fleet" || status=1
grep -aE '^(ok|FAILED|not ok) ' "build/matrix/$newest.log"
exit $status
