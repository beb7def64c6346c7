/*
 * glossary.cpp - see glossary.hpp.
 */
#include "core/report/glossary.hpp"

#include <algorithm>
#include <iterator>

#include "core/base/error.hpp"
#include "core/report/markup.hpp"

namespace privacy_score {

namespace {

struct Term {
  std::string_view id;
  const char* name;
  const char* meaning;
};

// In the order of their names.
constexpr Term kTerms[] = {
    {"added", "added up", "The scores since the first day of the report, each new n-gram counted once (cumulative)."},
    {"alert", "alert",
     "One cause, told once: role, kind and n-gram. While nobody has acknowledged it, what comes again is counted on "
     "it. "
     "It is open until acknowledge_alert(id) marks it as seen."},
    {"baseline", "baseline", "The days of usual work of a role, against which its other days are scored."},
    {"bucket", "bucket",
     "A group of published records, of which one knows which sensitive values it holds, but not whose each is."},
    {"budget", "budget", "The epsilon that a role may spend on noisy answers in a period. Nothing refunds it."},
    {"rate", "discrimination rate",
     "The part of the uncertainty about who is who that a column takes away: 0 tells nothing, 1 tells everybody "
     "apart."},
    {"distinct", "distinct", "How many different values a column has."},
    {"entropy", "entropy", "How uncertain a value is, in bits: with n bits it is one of 2^n equally likely ones."},
    {"epsilon", "epsilon",
     "What a noisy answer costs. The smaller, the more noise, and the less it tells about one person."},
    {"label", "label",
     "What a column is declared to be. identifier: names a person by itself; quasi-identifier: identifies with others; "
     "sensitive: must not be tied to a person; public: of no concern."},
    {"limit", "limit",
     "The score that a role's session (session_limit) or day (daily_limit) may have. Passing it raises an alert; in "
     "mode enforce the statement is refused."},
    {"loss", "loss", "Of a published table: the sum of (size - 1) squared over its buckets."},
    {"likeliest", "likeliest value",
     "The greatest probability with which any sensitive value of any bucket can be told."},
    {"maximum", "maximum", "What the statements could have scored if none of them had been usual."},
    {"mode", "mode",
     "What the extension does with a role's statements. off: nothing; observe: they are recorded and scored; warn: the "
     "client is told, too, when a limit is passed; enforce: what would pass a limit is refused."},
    {"ngram", "n-gram",
     "Statements that follow each other in a session, two as a rule, each as the tables, columns and functions that it "
     "names, without its constants. New: not in the role's baseline."},
    {"nearest", "nearest usual one",
     "The n-gram of the role's baseline that differs least from the one that was asked."},
    {"columns", "new columns", "What the statements tell beyond the nearest usual ones. They make up the score."},
    {"peers", "peers",
     "Who works under the same role. The session of somebody with a baseline of her own is scored against that; by "
     "peers is its score against the role's."},
    {"persons", "persons", "How many different people a session asked about, where the statements name them."},
    {"protected", "protected table",
     "A table with personal data, declared by protect(). Only what reads one is scored."},
    {"refused", "refused",
     "A statement that did not run, since it would have passed a limit in mode enforce, or reads a "
     "protected table as a role that is labelled dp only."},
    {"score", "score",
     "How much more the new n-grams tell about people than the nearest usual ones, and how unusual their columns are. "
     "A measure, not a verdict."},
    {"session", "session",
     "One connection of a role, until it rests or the day ends. Watched ones bear the start and the process number "
     "that "
     "the server's log has (%c). Imported ones bear the name that the import gave them: pg_stat_statements with a "
     "number is no connection, but one statement of that view, by its queryid."},
    {"severity", "severity",
     "critical: refused, or more than twice the limit; info: a baseline of few sessions; warning: all else."},
    {"unique", "unique", "Values that occur once: whoever knows one knows whose row it is."},
};

}  // namespace

std::string TermLink(std::string_view id, std::string_view word) {
  const auto term = std::find_if(std::begin(kTerms), std::end(kTerms), [&](const Term& each) { return each.id == id; });
  if (term == std::end(kTerms)) throw Error("XX000", "the glossary has no term " + std::string(id));
  return "<a class=\"term\" href=\"#term-" + std::string(id) + "\" title=\"" + Escaped(term->meaning) + "\">" +
         Escaped(word) + "</a>";
}

std::string Glossary() {
  std::string html = "<dl class=\"glossary\">\n";
  for (const Term& term : kTerms)
    html += "<div data-find><dt id=\"term-" + std::string(term.id) + "\">" + Escaped(term.name) + "</dt><dd>" +
            Escaped(term.meaning) + "</dd></div>\n";
  return html + "</dl>\n";
}

}  // namespace privacy_score
