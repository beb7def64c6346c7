#!/bin/bash
# timing.sh - what the time of noisy answers tells of one row: questions that one row satisfies and questions that none does
# are asked in turns over a unix socket.
#
#   scripts/sandbox.sh bench/timing.sh [QUESTIONS]       of each kind, 2000
#
# Prints a table in Markdown for docs/threat_model.md. To tell which it is with errors of 5 % each takes
# n = 2 (3.29 s/d)^2 questions, where s is the standard deviation of an answer's time (of the fastest 90 %) and d the
# difference of the means. Where d is within two standard errors, so much is taken for it: that is what can be excluded.
. "$(dirname "$0")/lib.sh"

questions=${1:-2000}
# Without waits for the disk, which would hide more.
start_server "max_parallel_workers_per_gather = 0" "fsync = off" "shared_buffers = '256MB'" "autovacuum = off"
q "CREATE EXTENSION privacy_score" "CREATE ROLE analyst LOGIN" >/dev/null
q "CREATE TABLE t AS SELECT i AS id, 'person ' || i AS name, md5(i::text) AS note FROM generate_series(1, 2000) i" "VACUUM (ANALYZE, FREEZE) t" \
  "SELECT privacy_score.dp_grant('analyst', 't', 1000000)" >/dev/null
many=$(q "SELECT string_agg(format('note LIKE ''%%%s%%''', md5('x' || i)), ' OR ') FROM generate_series(1, 100) i")
declare -A predicates=(
  [one comparison]="name = 'person @'"
  [two plain columns]="id = @ AND id < 1500"
  [100 comparisons for the row that matches]="name = 'person @' AND ($many)"
)
echo "| question | difference of means | standard deviation | questions to tell | their epsilon at 0.001 each |"
echo "|---|---|---|---|---|"
for name in "one comparison" "two plain columns" "100 comparisons for the row that matches"; do
  {
    echo "\\timing on"
    for ((i = 0; i < questions + 20; i++)); do
      # What comes second in a pair may find things in caches, so they change places.
      for who in $( ((i % 2)) && echo 3000 1000 || echo 1000 3000); do printf "SELECT privacy_score.dp_count('t', \$p\$%s\$p\$, 0.001, true);\n" "${predicates[$name]//@/$who}"; done
    done
  } | PGUSER=analyst "$PS_BINDIR/psql" -XAtq -v ON_ERROR_STOP=1 | sed -nE 's/^Time: ([0-9.]+) ms.*/\1/p' | tail -n +41 >"$PS_TMP/times"
  kept=$((questions * 9 / 10))
  for present in 1 0; do awk -v present=$present '(int((NR - 1) / 2) + NR) % 2 == present { print $1 * 1000 }' "$PS_TMP/times" | sort -g | head -n "$kept"; done |
    awk -v kept="$kept" -v name="$name" '
      { k = NR > kept; sum[k] += $1; squares[k] += $1 * $1 }
      END {
        d = (sum[0] - sum[1]) / kept
        s = sqrt((squares[0] - sum[0] ^ 2 / kept + squares[1] - sum[1] ^ 2 / kept) / (2 * kept - 2))
        error = 2 * s * sqrt(2 / kept)
        seen = d < 0 ? -d : d
        bound = seen > error ? seen : error
        need = 2 * (3.29 * s / bound) ^ 2
        printf "| %s | %.1f us, +- %.1f | %.0f us | %s%d | %.2f |\n", name, d, error, s, (seen > error ? "" : "more than "), need, need / 1000
      }'
done
part_done
