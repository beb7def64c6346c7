/*
 * page_script.cpp - see page_script.hpp.
 */
#include "core/report/page_script.hpp"

namespace privacy_score {

const char* const kPageTools =
    R"html(<div class="tools" id="tools" role="search" aria-label="search and filter" hidden>
<label>Search <input id="find" type="search" placeholder="role, table, column" autocomplete="off"></label>
<label>Role <select id="role"><option value="">all</option></select></label>
<label>Of these <select id="flag"><option value="">all roles</option><option value="alert">with open alerts</option><option value="limit">above the daily limit</option><option value="new">with new n-grams</option></select></label>
<label>Roles in order of <select id="order"><option value="1">highest score</option><option value="0">name</option><option value="3">open alerts</option><option value="5">added up</option><option value="6">new n-grams</option><option value="7">statements</option></select></label>
<button id="unfold" type="button">unfold all</button>
<output id="shown" aria-live="polite"></output>
</div>
)html";

// Nothing is made of text: rows are hidden, moved, and what they say stays what it was.
const char* const kPageScript = R"js(
(function () {
  'use strict';
  var get = function (id) { return document.getElementById(id); };
  var all = function (what, within) { return Array.prototype.slice.call((within || document).querySelectorAll(what)); };
  var find = get('find'), role = get('role'), flag = get('flag'), order = get('order'), people = get('people-table');
  var items = all('tbody tr, [data-find]');
  var texts = items.map(function (item) { return item.textContent.toLowerCase(); });

  all('#people-table tbody tr').map(function (row) { return row.getAttribute('data-role'); }).sort().forEach(function (name) {
    role.appendChild(new Option(name, name));
  });

  function filter() {
    var words = find.value.toLowerCase().split(/\s+/).filter(Boolean), shown = 0, roles = 0;
    items.forEach(function (item, i) {
      var whose = item.getAttribute('data-role'), flags = item.getAttribute('data-flags');
      var hidden = words.some(function (word) { return texts[i].indexOf(word) === -1; }) ||
        (role.value !== '' && whose !== null && whose !== role.value) ||
        (flag.value !== '' && flags !== null && flags.split(' ').indexOf(flag.value) === -1);
      item.toggleAttribute('data-hidden', hidden);
      if (people && item.parentNode.parentNode === people) { roles++; if (!hidden) shown++; }
    });
    all('section').forEach(function (section) {
      var some = items.filter(function (item) { return section.contains(item); });
      var none = some.length > 0 && some.every(function (item) { return item.hasAttribute('data-hidden'); });
      var told = section.querySelector('.nothing');
      if (none && !told) {
        told = document.createElement('p');
        told.className = 'none nothing';
        told.textContent = 'Nothing here is of what is searched for.';
        section.querySelector('h2').after(told);
      } else if (!none && told) { told.remove(); }
    });
    get('shown').textContent = roles ? shown + ' of ' + roles + ' roles shown' : '';
  }

  function value(row, column) {
    var cell = row.cells[column], text = cell.hasAttribute('data-v') ? cell.getAttribute('data-v') : cell.textContent;
    return text.trim();
  }
  // way: 1 for the least first, -1 for the greatest. What is empty comes last.
  function sort(table, column, way) {
    var body = table.tBodies[0], rows = all('tr', body).map(function (row) { return [value(row, column), row]; });
    rows.sort(function (a, b) {
      if (a[0] === '' || b[0] === '') return (a[0] === '') - (b[0] === '');
      var x = Number(a[0]), y = Number(b[0]);
      return way * (isNaN(x) || isNaN(y) ? a[0].localeCompare(b[0], 'en', {numeric: true}) : x - y);
    });
    rows.forEach(function (pair) { body.appendChild(pair[1]); });
    all('thead th', table).forEach(function (th, i) {
      var button = th.querySelector('button');
      if (i === column) th.setAttribute('aria-sort', way > 0 ? 'ascending' : 'descending');
      else th.removeAttribute('aria-sort');
      if (button) { if (i === column) button.setAttribute('data-way', way); else button.removeAttribute('data-way'); }
    });
    if (table === people && get('cards')) {
      rows.forEach(function (pair) {
        all('#cards > [data-role]').forEach(function (card) {
          if (card.getAttribute('data-role') === pair[1].getAttribute('data-role')) get('cards').appendChild(card);
        });
      });
    }
  }
  all('table').forEach(function (table) {
    all('thead th', table).forEach(function (th, column) {
      if (th.classList.contains('days')) return;
      var button = document.createElement('button');
      button.type = 'button';
      button.setAttribute('aria-label', 'sort by ' + th.textContent);
      button.textContent = '\u21C5';
      button.addEventListener('click', function () {
        var now = th.getAttribute('aria-sort'), first = th.classList.contains('number') ? -1 : 1;
        sort(table, column, now === null ? first : now === 'ascending' ? -1 : 1);
      });
      th.append(button);
    });
  });

  function unfold(open) { all('details').forEach(function (one) { one.open = open; }); }
  get('unfold').addEventListener('click', function () {
    var open = !all('details').every(function (one) { return one.open; });
    unfold(open);
    this.textContent = open ? 'fold all' : 'unfold all';
  });
  addEventListener('beforeprint', function () { all('details.alert').forEach(function (one) { one.open = true; }); });
  find.addEventListener('input', filter);
  [role, flag].forEach(function (choice) { choice.addEventListener('change', filter); });
  order.addEventListener('change', function () {
    if (people) sort(people, Number(order.value), order.value === '0' ? 1 : -1);
  });
  get('tools').hidden = false;
  filter();
})();
)js";

const char* const kPageScriptHash = "sha256-3gAYJfm3KCklic3He6OyhThSfD6dhJMC+GoWN5yfvvU=";

}  // namespace privacy_score
