#!/bin/bash
# browser.sh - the report in a browser: nothing is wider than the page, text can be told from what is under it, in light and
# dark, at the width of a desk and of a phone; nothing is asked of anybody else. Without Chromium it is skipped.
. "$(dirname "$0")/../lib.sh"

if ! command -v chromium >/dev/null; then
  skip "the package chromium is not installed"
  done_testing
fi

start_server
q "CREATE EXTENSION privacy_score" "CREATE ROLE \"worker <b>\"" "CREATE TABLE \"pa&tients\" (id int PRIMARY KEY, zip text, city text, \"<script>x()</script>\" text)" \
  "INSERT INTO \"pa&tients\" SELECT i, i % 20, i % 20 / 5, i FROM generate_series(1, 200) i" "SELECT privacy_score.protect('\"pa&tients\"')" \
  "SELECT privacy_score.import_statements(\$\$SELECT s::text, 'worker <b>'::name, timestamptz '2025-03-01 09:00+00' + s * interval '1 day' + p * interval '1 minute',
     CASE WHEN s > 8 AND p = 3 THEN 'SELECT * FROM \"pa&tients\" WHERE zip = ''3''' ELSE 'SELECT zip FROM \"pa&tients\" WHERE city = ''' || p || '''' END
     FROM generate_series(1, 12) s, generate_series(1, 4) p\$\$)" \
  "SELECT privacy_score.set_baseline('worker <b>', '2025-03-01', '2025-03-08')" "SELECT privacy_score.dp_grant('worker <b>', '\"pa&tients\"', 1)" >/dev/null 2>&1
q "SELECT privacy_score.report(from_day => '2025-03-01', to_day => '2025-03-31')" >"$ps_home/report.html"
check_true "there is a report with charts" [ "$(grep -o '<svg' "$ps_home/report.html" | wc -l)" -ge 2 ]

# What a script beside the page sees of it, as lines of the document's title.
cat >"$ps_home/look.js" <<'JS'
<script>
const found = [];
const shine = c => { const [r, g, b] = c.map(v => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; }); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
const parse = t => (t.match(/[\d.]+/g) || []).map(Number);
const under = e => { for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor); if (c.length === 3 || c[3] > 0) return c.slice(0, 3); } return [255, 255, 255]; };
if (document.documentElement.scrollWidth > document.documentElement.clientWidth) found.push('the page is ' + document.documentElement.scrollWidth + ' wide');
let texts = 0;
for (const e of document.querySelectorAll('body *')) {
  if (![...e.childNodes].some(n => n.nodeType === 3 && n.data.trim()) || e.closest('script,style,title') || e.classList.contains('inside')) continue;
  const style = getComputedStyle(e), ink = parse(e.namespaceURI.endsWith('svg') ? style.fill : style.color).slice(0, 3);
  const paper = e.ownerSVGElement && e.ownerSVGElement.querySelector('.paper') ? parse(getComputedStyle(e.ownerSVGElement.querySelector('.paper')).fill) : under(e);
  const a = shine(ink), b = shine(paper.slice(0, 3)), contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  texts++;
  if (contrast < 4.5) found.push('contrast ' + contrast.toFixed(2) + ' of ' + (e.getAttribute('class') || e.tagName) + ': ' + e.textContent.slice(0, 20));
  if (e.namespaceURI.endsWith('svg')) { const box = e.getBBox(), view = e.ownerSVGElement.viewBox.baseVal; if (!e.getAttribute('transform') && (box.x < -1 || box.x + box.width > view.width + 1 || box.y < -1 || box.y + box.height > view.height + 1)) found.push('cut off: ' + e.textContent); }
}
if (performance.getEntriesByType('resource').length) found.push('asks for ' + performance.getEntriesByType('resource')[0].name);
document.title = 'looked at ' + texts + ' texts: ' + (found.length ? [...new Set(found)].slice(0, 8).join('; ') : 'nothing to mend');
</script>
JS
# The page's own policy would not let this script run.
{ sed -E "s/script-src '[^']*'/script-src 'unsafe-inline'/" "$ps_home/report.html"; cat "$ps_home/look.js"; } >"$ps_home/looked.html"
for width in 1280 360; do
  for mode in light dark; do
    set -- --headless --no-sandbox --disable-gpu --hide-scrollbars --user-data-dir="$ps_home/chromium" --window-size="$width,900"
    if [ "$mode" = dark ]; then set -- "$@" --blink-settings=preferredColorScheme=0; fi
    HOME=$ps_home timeout 120 chromium "$@" --enable-logging=stderr --dump-dom "file://$ps_home/looked.html" >"$ps_home/dom" 2>"$ps_home/console"
    check "$width pixels, $mode: what is to be mended" "$(grep -oE 'looked at [0-9]+ texts: .*</title>' "$ps_home/dom" | sed -E 's/[0-9]+ texts/many texts/; s/<.*//')" "looked at many texts: nothing to mend"
    check "$width pixels, $mode: complaints of the browser" "$(grep -E 'CONSOLE' "$ps_home/console")" ""
  done
done
done_testing
