/*
 * reasons.cpp - see reasons.hpp.
 */
#include "core/report/reasons.hpp"

#include <string>

#include "core/report/markup.hpp"
#include "core/report/report_sections.hpp"
#include "core/report/statement_pair.hpp"

namespace privacy_score {

namespace {

using Column = WorstNGramSection;

// What is new in it; where that is not known, because it is the copy of a hub, who has shown it.
std::string WhatIsNew(const Row& row) {
  if (row[Column::kServers]) return "on " + Escaped(*row[Column::kServers]);
  const std::string columns = TextOrNothing(row[Column::kAttributes]);
  return columns.empty() ? "known columns in statements that are new" : Escaped(NewColumns(columns, 4));
}

}  // namespace

void WriteReasons(HtmlPage& page, std::string_view heading, const std::vector<Row>& ngrams) {
  page.Part(heading);
  const bool of_fleet = !ngrams.empty() && ngrams.front()[Column::kServers];
  page.Note(std::string("Open each for what was asked after what, beside the nearest usual one.") +
            (of_fleet ? "" : " What is new is marked."));
  std::string items;
  for (const Row& row : ngrams) {
    const std::string who = Escaped(TextOrNothing(row[Column::kWho]));
    const std::string times = TextOrNothing(row[Column::kCount]);
    items += "<details class=\"reason\" data-find data-role=\"" + who + "\"><summary><b>" +
             Escaped(TextOrNothing(row[Column::kScore])) + "</b><span class=\"who\">" + who +
             "</span><span class=\"day\">" + Escaped(TextOrNothing(row[Column::kDay])) +
             "</span><span class=\"soft\">" + Escaped(times) + (times == "1" ? " time" : " times") + "</span><span>" +
             WhatIsNew(row) + "</span></summary><div class=\"behind\">" +
             StatementPair(TextOrNothing(row[Column::kNgram]), TextOrNothing(row[Column::kNearest]),
                           TextOrNothing(row[Column::kAttributes])) +
             "</div></details>\n";
  }
  page.Block(items);
}

}  // namespace privacy_score
