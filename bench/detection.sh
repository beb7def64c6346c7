#!/bin/bash
# detection.sh - what alarms catch of fifteen families of attack, and how often they are false.
#
#   scripts/sandbox.sh bench/detection.sh
#
# Prints a section in Markdown. Sessions are made up over a schema of a bank (detection_bank.hpp, detection_people.hpp,
# detection_attacks.hpp) and judged by core (detection.cpp). What is published is of the reporting seeds.
. "$(dirname "$0")/lib.sh"

worlds=8
if quick; then worlds=1; fi
tables=$PS_TMP/tables
"$programs/detection" reporting $worlds >"$tables" || bail_out "bench/programs/detection fails"
# value NAME [FIELD]
value() { awk -v name="$1" -v field="${2:-3}" '$1 == "@" && $2 == name { print $field; exit }' "$tables"; }
name_of() { awk -v name="$1" '$1 == "@" && $2 == name { sub(/^@ [a-z_]+ [^ ]+ /, ""); print; exit }' "$tables"; }

echo "## Detection"
echo
cat <<TEXT
What [alarms](alarms.md) at \`alarm_rate = 0.01\` and \`expected_novelty = 0.1\` catch, and how often they are false: of
made-up sessions of a bank of 50,000 customers (five tables). Eight roles of seven people each; each person has habits
by the day of the week and a share of new work of her own, from 2 to 20 %, which the alarms are not told; numbers of
tasks have a heavy tail. Alarms learn from 22 working days. Then 30 others are judged, and attacks, each amid some
normal work of a person of the bank. All is judged by the code that judges live sessions, from what would be stored of
them. $worlds banks, of the reporting seeds $(sed -n 's/^@ seeds //p' "$tables");
whoever works on alarms looks at other seeds (\`bench/programs/detection choosing\`).

TEXT
target_header
target "normal sessions with an alarm" "$(value false)" at-most 1 %
target "their upper 95 % bound" "$(value bound)" at-most 1.3 %
target "families of 15 with an AUC of at least 0.95 and 90 % caught" "$(value families)" at-least 15
target "least AUC of a family ($(name_of least_auc))" "$(value least_auc)" at-least 0.95
target "least share of a family caught ($(name_of least_caught))" "$(value least_caught)" at-least 90 %
target "slow drips told within ten days" "$(value drips)" at-least 100 %
target "dossiers told within three sessions" "$(value dossiers)" at-least 100 %
echo
cat <<TEXT
*AUC*: how often an attack is more unusual than a normal session of its bank. *Caught*: it raises an alarm (\`unusual\`,
or its principal's \`drip\`). *Over three days*: its statements are dealt out to three sessions on three days, and the
most unusual of them is held against the most unusual of three successive normal ones. Alarms were not designed with the
families that have a star. A session is what a person does in one stretch: on one connection, or on as many as she likes
where \`session_scope\` makes them one session of the principal, which has the same figures.

TEXT
grep -v '^@' "$tables" | sed '1{/^$/d}'
echo
cat <<'TEXT'
What is missed, and why. `differ` is not recorded yet, and no other figure sees differencing that keeps to the role's
own aggregates. One or two columns that the role never asked for are about as unusual as the most unusual normal session
in a hundred, since these people's new work is unusual, too. Rows do not stand out where others of the bank read
whole tables as their work. A slow drip adds up more slowly than the longest run of unusual work in the baselines. Where
each statement is a session of its own, loops and dossiers are seen by no figure; what is caught is what is new by
itself. Who lets people work over many connections wants `session_scope = principal`.
TEXT
part_done
