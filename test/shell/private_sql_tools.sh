#!/bin/bash
# Statements as BI tools write them (test/support/bi) asked by a role that may read no row of persons: which are answered,
# and why the others are not. Those that are answered are compared with plain SQL where noise cannot show.
. "$(dirname "$0")/../lib.sh"
start_server "privacy_score.dp_max_epsilon = 1000" "privacy_score.dp_epsilon = 1000" "privacy_score.dp_delta = 0.01" "privacy_score.dp_max_delta = 0.01"
bi=$PWD/test/support/bi
q "CREATE EXTENSION privacy_score" >/dev/null
for part in schema data protect; do q_script <"$bi/$part.sql" >/dev/null; done
q "CREATE ROLE ana LOGIN; SECURITY LABEL FOR privacy_score ON ROLE ana IS 'dp only';
   GRANT SELECT ON departments, physicians, icd_codes, dim_date TO ana;
   SELECT privacy_score.dp_grant_person('ana', 'patients', 1000000)" >/dev/null

# near FILE FILE: the same rows, whose whole numbers differ by 10 at most. The bound of a person may be chosen up to eight
# times too large, so the noise of a count of visits has a scale of 1: a false alarm has a probability below 1e-4.
near() {
  paste -d '\n' "$1" "$2" | awk -F'|' '
    function is_number(x) { return x ~ /^-?[0-9]+([.][0-9]+)?$/ }
    NR % 2 { for (i = 1; i <= NF; ++i) first[i] = $i; fields = NF; next }
    NF != fields { exit bad = 1 }
    { for (i = 1; i <= NF; ++i)
        if (is_number($i) && is_number(first[i]) ? ($i - first[i] > 10 || first[i] - $i > 10) : $i != first[i]) exit bad = 1 }
    END { exit bad || NR % 2 }'
}
# ask NUMBER SQL: notes why it is not answered.
ask() {
  local got
  asked=$((asked + 1))
  got=$(as ana q "$2" 2>/dev/null)
  case $got in
    ERROR:*) echo "$1: ${got#ERROR: }" >>"$reasons" ;;
    *) answered=$((answered + 1)) ;;
  esac
}
# ask_all NAME: the statements of a file; says which tool has how many answered.
ask_all() {
  local line number='' kind='' before
  answered=0 asked=0
  reasons=$PS_TMP/private_sql_tools.$1
  tools=$PS_TMP/private_sql_tools.$1.tools
  : >"$reasons"
  : >"$tools"
  while IFS= read -r line; do
    case $line in
      "-- "*) number=$(cut -d' ' -f2 <<<"$line") kind=$(cut -d' ' -f3- <<<"$line") ;;
      *)
        before=$answered
        ask "$number" "$line"
        echo "${kind%%:*}: $((answered - before))" >>"$tools" ;;
    esac
  done <"$bi/$1.sql"
  echo "answered: $answered of $asked statements of $1.sql ($(awk -F': ' '{ of[$1]++; got[$1] += $2 } END { for (tool in of) printf "%s%s %d of %d", n++ ? ", " : "", tool, got[tool], of[tool] }' "$tools"))"
  sed 's/^/not answered: /' "$reasons"
}
ask_all queries
check "what is not answered, and why" "$(cat "$reasons")" "$(cat "$bi/refused.txt")"
check_true "of those that aggregate at least 60 in 100 are answered" test $((answered * 100)) -ge $(((asked - 2) * 60))
ask_all own_queries
check "what is not answered of our own, and why" "$(cat "$reasons")" "$(cat "$bi/own_refused.txt")"
# Six ask for rows of persons.
check_true "of our own that aggregate at least 60 in 100 are answered" test $((answered * 100)) -ge $(((asked - 6) * 60))
check_true "there are sixty of them" test "$asked" -ge 60
before=$(q "SELECT spent FROM privacy_score.dp_budget")
ask_all probes
check "no probe of a tool is refused" "$(cat "$reasons")" ""
check "nor costs anything" "$(q "SELECT spent FROM privacy_score.dp_budget")" "$before"
check "each refusal of a statement has PS003 and a way out" \
  "$(cut -d: -f1 "$bi/refused.txt" "$bi/own_refused.txt" | while read -r number; do
    as ana q_all '\set VERBOSITY verbose' "$(cat "$bi/queries.sql" "$bi/own_queries.sql" | sed -n "/^-- $number /{n;p}")" | awk '/^ERROR:  PS003/ { code = 1 } /^HINT:/ { hint = 1 } END { print code + 0, hint + 0 }'
  done | sort -u)" "1 1"

# same NUMBER: the statement's answer is that of plain SQL, but for noise.
same() {
  local sql
  sql=$(cat "$bi/queries.sql" "$bi/own_queries.sql" | sed -n "/^-- $1 /{n;p}")
  as ana q "$sql" | sort >"$PS_TMP/answered"
  q "$sql" | sort >"$PS_TMP/plain"
  check_true "statement $1 is answered as by plain SQL" near "$PS_TMP/answered" "$PS_TMP/plain"
}
for number in 2 12 16 34 36 38 48 50 62 101 104 105 106 107 111 113 115 117 124 126 134 136 140 142 145 146 149 150 154 155 156 158 162 163 164 165 169; do same $number; done
done_testing
