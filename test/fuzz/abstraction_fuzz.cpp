/*
 * abstraction_fuzz.cpp - SQL text over the in-memory hospital of the tests to tokens and published forms.
 */
#include <algorithm>
#include <string>

#include "../unit/sqlparse_support.hpp"
#include "core/base/array_text.hpp"
#include "core/base/names.hpp"
#include "core/base/readable.hpp"
#include "core/logs/logged_statement.hpp"
#include "core/statement/abstraction.hpp"
#include "core/statement/comparisons.hpp"
#include "literals.hpp"
#include "sqlparse/constants.hpp"
#include "sqlparse/parser_island.hpp"
#include "targets.hpp"

namespace privacy_score::fuzz {

namespace {

struct Outcome {
  Tokens tokens;
  std::string poster;
  bool parsed = false;
};

bool IsUnparsed(const Tokens& tokens) { return std::find(tokens.begin(), tokens.end(), "unparsed") != tokens.end(); }

// What is answered may not raise whatever the text: an exception ends the run.
Outcome OutcomeOf(const std::string& sql, Catalog* catalog) {
  Outcome outcome;
  for (int round = 0; round < kMaxCatalogRounds; ++round) {
    std::vector<MissingName> missing;
    outcome.tokens = AbstractText(sql, *catalog, &missing);
    if (missing.empty()) break;
    AnswerNames(missing, catalog);
  }
  outcome.poster = PosterText(sql, *catalog);
  outcome.parsed = !IsUnparsed(outcome.tokens);
  return outcome;
}

// The constants of a text: an abstraction does not see them, their words can be read, and so can those of an execution
// whose parameters are all this one value.
void CheckConstants(const std::string& sql, const Catalog& catalog, const Tokens& tokens) {
  TextConstants constants = {{11, 13}, {}, false};
  TextReading reading;
  reading.constants = &constants;
  Require(AbstractText(sql, catalog, nullptr, reading) == tokens, "an abstraction does not see constants");
  Require(constants.known != (tokens == Tokens{"unparsed"}), "the constants of a text that parses are known");
  const ConstantWords words = Encode(constants.found);
  (void)PlacesOfHashes(words.data(), words.size());
  std::vector<ParameterValue> parameters;
  for (const int number : constants.found.parameters) parameters.push_back({number, false, 17, nullptr, 0});
  const BoundConstants bound = {words.data(), words.size(), parameters.data(), parameters.size()};
  std::size_t groups_at = 0;
  (void)ResolveVector(bound, &groups_at);
  std::vector<std::uint64_t> groups;
  ResolveGroups(bound, groups_at, groups);
  Require(groups[0] == constants.found.groups.size(), "all groups of comparisons are read");
  (void)ParametersOfExecute(sql);
}

bool IsToken(const std::string& token) {
  static const char* const kCommands[] = {"unparsed",   "cmd:select", "cmd:insert", "cmd:update",
                                          "cmd:delete", "cmd:merge",  "cmd:copy"};
  if (std::find(std::begin(kCommands), std::end(kCommands), token) != std::end(kCommands)) return true;
  return token.size() > 2 && token[1] == ':' &&
         std::string_view("ptwjgolsfemn").find(token[0]) != std::string_view::npos;
}

void CheckTokens(const Tokens& tokens) {
  Require(std::is_sorted(tokens.begin(), tokens.end()), "tokens are sorted");
  Require(std::adjacent_find(tokens.begin(), tokens.end()) == tokens.end(), "no token stands twice");
  Require(std::all_of(tokens.begin(), tokens.end(), IsToken), "all tokens are of known kinds");
  Require((Fingerprint(tokens) == 0) == tokens.empty(), "only the empty abstraction has the id 0");
  const std::vector<std::string> filters = RevealedColumns(tokens, true);
  const std::vector<std::string> shown = RevealedColumns(tokens, false);
  Require(std::includes(filters.begin(), filters.end(), shown.begin(), shown.end()),
          "with filters no fewer columns are revealed");
  for (const std::string& column : filters)
    Require(RelationOfColumn(column).size() <= column.size(), "a column is not shorter than its relation");
  std::string line;
  for (const std::string& token : tokens) line += token + " ";
  ReadableStatement(line);
}

}  // namespace

void FuzzAbstraction(std::string_view input) {
  const std::string sql(input);
  // Names are independent of the rest.
  if (input.find('\0') == std::string_view::npos && !input.empty()) {
    Require(UnquoteName(QuoteName(input)) == input, "a quoted name stands for itself");
    Require(WithFewestQuotes(QuoteName(input)) == QuoteName(input), "a name has the fewest quotes");
    Require(WithFewestQuotes(WithFewestQuotes(input)) == WithFewestQuotes(input), "fewest quotes stay");
  }
  Catalog catalog;
  const Outcome outcome = OutcomeOf(sql, &catalog);
  CheckTokens(outcome.tokens);
  CheckConstants(sql, catalog, outcome.tokens);
  (void)ReadArrayText(input);
  (void)ParametersOfDetail(input);
  if (!outcome.parsed) {
    Require(outcome.tokens.size() == 1, "text that does not parse is nothing else");
    Require(outcome.poster == "{UNPARSED}", "the published form of text that does not parse");
  }
  const Outcome first = OutcomeOf(WithLiterals(sql, "zqone", "918273645"), &catalog);
  const Outcome second = OutcomeOf(WithLiterals(sql, "zqtwo", "564738291"), &catalog);
  Require(first.tokens == second.tokens, "tokens do not depend on literals");
  Require(first.poster == second.poster, "the published form does not depend on literals");
  if (!outcome.parsed) return;
  // Numbers may be positions of columns.
  const Outcome same_numbers = OutcomeOf(WithLiterals(sql, "zqone", ""), &catalog);
  if (same_numbers.parsed) {
    Require(outcome.tokens == same_numbers.tokens, "tokens do not depend on strings");
    Require(outcome.poster == same_numbers.poster, "the published form does not depend on strings");
  }
  const std::string more = "SELECT city FROM patients";
  const std::string both = sql + "\n;" + more;
  if (privacy_score_nesting_bound(both.data(), both.size()) > kMaxNesting / 2) return;
  Require(OutcomeOf(both, &catalog).tokens == UnionTokens({outcome.tokens, OutcomeOf(more, &catalog).tokens}),
          "several statements are their union");
}

}  // namespace privacy_score::fuzz
