#!/bin/bash
# report_page.sh - the report as somebody uses it in a browser: sorting, filtering, searching, one step to a statement; with few
# roles and with 200; no sideways scrolling and no label upon another at the width of a telephone and of a wide screen, in
# light and dark; nothing is asked of anybody; it works without its script. Runs in make test-long, where there is Chromium.
. "$(dirname "$0")/../lib.sh"

if [ -z "$(by_length '' long)" ]; then
  skip "the report in a browser, which make test-long looks at"
  done_testing
fi
if ! command -v chromium >/dev/null; then
  skip "the package chromium is not installed"
  done_testing
fi

start_server "log_timezone = 'UTC'" "timezone = 'UTC'"
q "CREATE EXTENSION privacy_score" "CREATE TABLE people (id int PRIMARY KEY, zip text, city text, born date, \"<i>note</i>\" text)" \
  "INSERT INTO people SELECT i, i % 20, i % 20 / 5, date '1950-01-01' + i, i FROM generate_series(1, 200) i" "SELECT privacy_score.protect('people')" >/dev/null

# history ROLES DAYS: each role reads the same two columns, later some of them others. Role 7 has limits that it passes.
history() {
  q_script >/dev/null <<SQL
SELECT format('CREATE ROLE role_%s', to_char(r, 'FM000')) FROM generate_series(1, $1) r WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'role_' || to_char(r, 'FM000')) \gexec
SELECT privacy_score.import_statements(\$\$ SELECT 'r' || r || 'd' || d, ('role_' || to_char(r, 'FM000'))::name, timestamptz '2025-03-01 09:00+00' + d * interval '1 day' + p * interval '1 minute',
  CASE WHEN d > $2 / 2 AND p = 2 AND r % 3 > 0 THEN format('SELECT %s FROM people WHERE %s = ''x''', (ARRAY['id', 'born', 'born, city'])[1 + (r + d) % 3], (ARRAY['city', 'zip'])[1 + r % 2])
       ELSE 'SELECT zip FROM people WHERE city = ''x''' END
  FROM generate_series(1, $1) r, generate_series(0, $2 - 1) d, generate_series(1, 2) p \$\$);
SELECT privacy_score.set_baseline(rolname, '2025-03-01', date '2025-03-01' + $2 / 2) FROM pg_roles WHERE rolname LIKE 'role\_%';
SQL
}
PGOPTIONS="-c client_min_messages=error" history 8 12
q "ALTER ROLE role_007 SET privacy_score.daily_limit = 0.1" "ALTER ROLE role_007 SET privacy_score.mode = 'warn'" "ALTER ROLE role_005 SET privacy_score.session_limit = 0.3" >/dev/null
q "INSERT INTO privacy_score.alert (at, role, session, kind, score, alert_limit, detail, severity)
   SELECT timestamptz '2025-03-10 10:00+00', n.role, 'r7d9', 'daily', n.score, 0.1,
          jsonb_build_object('ngram', to_jsonb(array_replace(n.ngram, NULL, '(start)')), 'nearest', to_jsonb(n.nearest), 'attributes', to_jsonb(n.attributes)), 'critical'
     FROM (SELECT 'role_007'::name AS role, s.* FROM privacy_score.score_ngrams('role_007', '2025-03-08', '2025-03-12') s ORDER BY s.score DESC LIMIT 1) n" >/dev/null
q "SELECT privacy_score.report(from_day => '2025-03-01', to_day => '2025-03-31')" >"$ps_home/few.html"
PGOPTIONS="-c client_min_messages=error" history 200 30
q "SELECT privacy_score.report(from_day => '2025-03-01', to_day => '2025-03-31')" >"$ps_home/many.html"
check_true "the page of 200 roles is smaller than 2 MB" [ "$(wc -c <"$ps_home/many.html")" -lt 2000000 ]

# browse FILE [OPTION...]: the document as the browser leaves it; what it complains of is in console.
browse() {
  local file=$1
  shift
  HOME=$ps_home timeout 300 chromium --headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking \
    --disable-component-update --disable-sync --hide-scrollbars --user-data-dir="$ps_home/chromium" --enable-logging=stderr "$@" \
    --dump-dom "file://$file" 2>"$ps_home/browser_log"
  grep -E 'CONSOLE' "$ps_home/browser_log" >"$ps_home/console"
}

# with_script NAME: the page with a script of the test's behind it, which the page's own policy would not let run.
with_script() {
  { sed -E "s/script-src '[^']*'/script-src 'unsafe-inline'/" "$ps_home/$1.html"; cat "$ps_home/look.js"; } >"$ps_home/$1_looked.html"
}

# found: what the script says, as the title of the document.
found() { grep -oE '<title>[^<]*</title>' "$ps_home/dom" | head -n 1 | sed -E 's/<[^>]*>//g'; }

# --- the page as it is ----------------------------------------------------------------------------------------------------
browse "$ps_home/few.html" >"$ps_home/dom"
check "its own script runs" "$(grep -c 'id="tools" role="search" aria-label="search and filter">' "$ps_home/dom")" 1
check "complaints of the browser" "$(cat "$ps_home/console")" ""
sed 's#</main>#<script>document.title = "strange"</script><img src="http://127.0.0.1:9/x.png" alt=""></main>#' "$ps_home/few.html" >"$ps_home/strange.html"
browse "$ps_home/strange.html" >"$ps_home/dom"
check "a strange script does not run" "$(found)" "Privacy report of postgres"
check_true "and nothing is asked of anybody" grep -q 'Content Security Policy.*img-src\|img-src.*Content Security Policy\|violates.*default-src' "$ps_home/console"
sed '/^<script>/,/^<\/script>/d' "$ps_home/few.html" >"$ps_home/bare.html"
browse "$ps_home/bare.html" >"$ps_home/dom"
check "without script nothing is missing but the fields" "$(grep -c '<tr id="p' "$ps_home/dom") $(grep -c 'id="tools".*hidden' "$ps_home/dom")" "8 1"
HOME=$ps_home timeout 300 chromium --headless --no-sandbox --disable-gpu --user-data-dir="$ps_home/chromium" --no-pdf-header-footer --print-to-pdf="$ps_home/page.pdf" "file://$ps_home/few.html" >/dev/null 2>&1
check "it prints" "$(head -c 5 "$ps_home/page.pdf")" "%PDF-"

# --- what a hand does -------------------------------------------------------------------------------------------------------
cat >"$ps_home/look.js" <<'JS'
<script>
const found = [], all = (what, within) => [...(within || document).querySelectorAll(what)], get = id => document.getElementById(id);
const want = (what, holds) => { if (!holds) found.push(what); };
const shown = items => items.filter(item => item.getClientRects().length > 0);
const rows = () => shown(all('#people-table tbody tr')), roles = () => rows().map(row => row.dataset.role);
const set = (id, value) => { get(id).value = value; get(id).dispatchEvent(new Event(id === 'find' ? 'input' : 'change')); };
const numbers = column => rows().map(row => Number(row.cells[column].dataset.v));
const rises = list => list.every((value, i) => i === 0 || list[i - 1] <= value);
const whole = rows().length;

// sort
want('the worst come first', rises(numbers(1).reverse()));
const heads = all('#people-table thead th'), press = i => heads[i].querySelector('button').click();
press(6); want('the most n-grams come first', rises(numbers(6).reverse()) && heads[6].getAttribute('aria-sort') === 'descending');
press(6); want('a second press turns the order', rises(numbers(6)) && heads[6].getAttribute('aria-sort') === 'ascending');
set('order', '0'); want('sorted by name', rises(roles()));
want('charts come in the order of the table', rises(all('#cards > *').map(card => card.dataset.role)));
set('order', '1'); want('back to the worst first', rises(numbers(1).reverse()));
want('sorting loses nothing', rows().length === whole);
all('table.rows').forEach(table => all('thead button', table).forEach(button => {
  const before = table.tBodies[0].textContent.length; button.click();
  want('sorting keeps every row', table.tBodies[0].textContent.length === before);
}));

// filter
set('flag', 'alert'); want('with open alerts: ' + roles(), roles().join() === 'role_007');
set('flag', 'limit'); want('above the limit: ' + roles(), roles().join() === 'role_007');
set('flag', 'new'); want('with new n-grams', rows().length > 0 && numbers(6).every(n => n > 0) && rows().length < whole);
set('flag', ''); set('role', 'role_005');
want('one role', roles().join() === 'role_005' && shown(all('[data-role]')).every(item => item.dataset.role === 'role_005'));
want('the alerts say that none is of that role', all('#alerts .nothing').length === 1);
want('how many are shown', get('shown').textContent === '1 of ' + whole + ' roles shown');
set('role', '');

// search
set('find', 'ROLE_007 daily'); want('search takes all words', shown(all('[data-find]')).every(item => /role_007/.test(item.textContent) && /daily/.test(item.textContent)));
set('find', 'there is no such thing'); want('what is not there is said not to be there', rows().length === 0 && all('.nothing').length >= 4);
set('find', ''); want('an empty search shows all', rows().length === whole && all('.nothing').length === 0);

// one step to the statement beside its nearest usual one
const alert = document.querySelector('details.alert'), pair = () => all('.pair > div', alert).map(box => box.getBoundingClientRect());
want('an alert is folded', !alert.open);
alert.querySelector('summary').click();
want('one step to the statement', alert.open && pair().length === 2 && pair().every(box => box.width > 100));
want('beside each other where there is room', innerWidth > 700 ? pair()[0].top === pair()[1].top : pair()[0].bottom <= pair()[1].top);
want('what is new is marked', all('mark', alert).length > 0);
get('unfold').click(); want('all unfolded', all('details').every(one => one.open));

// terms
want('terms are explained', all('a.term').length > 10 && all('a.term').every(term => term.title && get(term.hash.slice(1))));

// widths, labels
want('the page is ' + document.documentElement.scrollWidth + ' wide', document.documentElement.scrollWidth <= innerWidth);
all('body *').forEach(item => { const box = item.getBoundingClientRect(); if (box.right > innerWidth + 1) found.push('beyond the edge: ' + item.tagName + ' ' + item.className + ' ' + item.textContent.slice(0, 20)); });
all('svg.ps').forEach(svg => {
  const boxes = all('text:not([transform])', svg).map(text => [text, text.getBoundingClientRect()]).filter(([, box]) => box.width > 0);
  boxes.forEach(([text, a], i) => boxes.slice(i + 1).forEach(([other, b]) => {
    if (a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 2 && b.top < a.bottom - 2) found.push('labels collide: ' + text.textContent + ' and ' + other.textContent);
  }));
});

// headings stay in sight
const table = get('people-table'), middle = rows()[Math.floor(whole / 2)];
scrollTo(0, scrollY + middle.getBoundingClientRect().top - 200);
const heading = document.querySelector('#people h2').getBoundingClientRect(), legend = document.querySelector('#people-table .legend').getBoundingClientRect();
want('the heading stays in sight', Math.abs(heading.top) < 2);
want('the legend stays in sight', legend.top >= heading.bottom - 12 && legend.bottom < 200);

if (performance.getEntriesByType('resource').length) found.push('asks for ' + performance.getEntriesByType('resource')[0].name);
document.title = found.length ? [...new Set(found)].slice(0, 8).join('; ') : 'nothing to mend';
</script>
JS
for page in few many; do
  with_script $page
  for width in 360 768 1280 1920; do
    for mode in light dark; do
      options=(--window-size="$width,900")
      if [ $mode = dark ]; then options+=(--blink-settings=preferredColorScheme=0); fi
      browse "$ps_home/${page}_looked.html" "${options[@]}" >"$ps_home/dom"
      check "$page roles, $width pixels, $mode" "$(found)" "nothing to mend"
      check "$page roles, $width pixels, $mode: complaints of the browser" "$(cat "$ps_home/console")" ""
    done
  done
done
done_testing
