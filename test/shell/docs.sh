#!/bin/bash
# docs.sh - every example of the documentation, run as it stands: what a page shows is what the server answers. test/docs.pl
# says how examples are marked whose output varies, or which need more than the page shows.
. "$(dirname "$0")/../lib.sh"

# run_pages PAGE...: each in a fresh database of the current server.
run_pages() {
  local verdict what lines
  export PS_DOCS_FOLDER=$ps_home CSV_LOG=$ps_home/server.csv CHECKOUT=$PWD
  while IFS=$'\t' read -r verdict what lines; do
    if [ "$verdict" = ok ]; then pass "$what"; else IFS=$'\t' fail "$what" "${lines//$'\t'/$'\n'}"; fi
  done < <(perl test/docs.pl "$@" || printf 'FAILED\tthe examples of %s are run to the end\n' "$*")
}

mapfile -t pages < <(grep -lE '^ *```(sql|sh)$' README.md docs/*.md demo/README.md monitoring/README.md CONTRIBUTING.md)
check_true "there are pages with examples" [ ${#pages[@]} -ge 8 ]

# Relative links lead to files, and to headings of pages.
check "links lead somewhere" "$(perl test/docs.pl --links README.md CONTRIBUTING.md SECURITY.md ARCHITECTURE.md docs/*.md demo/README.md monitoring/README.md)" ""

# These need no preloading, and say so.
plain=(docs/inference.md docs/managed_servers.md docs/measures.md docs/publishing.md)
start_server "shared_preload_libraries = ''"
run_pages "${plain[@]}"
stop_server

use_server preloaded
start_server "shared_preload_libraries = 'privacy_score, pg_stat_statements'" "logging_collector = on" "log_destination = 'csvlog'" "log_directory = '$ps_home'" "log_filename = 'server.log'"
# What the pages show is with the default.
sed -i '/baseline_min_sessions/d' "$PGDATA/postgresql.conf"
restart_server
preloaded=()
for page in "${pages[@]}"; do
  if [[ " ${plain[*]} " != *" $page "* ]]; then preloaded+=("$page"); fi
done
run_pages "${preloaded[@]}"
done_testing
