/*
 * abstraction.hpp - A(Q): what a statement reveals, as canonical tokens.
 *
 * The published form is [Khan, figure 1]; the general form, its tokens and the revealed set Y(Q) are ours
 * (docs/scoring.md). The tokens are the identity of a statement: they hold qualified names only, so they survive
 * DROP and CREATE, dump and restore, and travel between servers.
 */
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/statement/statement.hpp"

namespace privacy_score {

// Canonical tokens, sorted by bytes, without duplicates. Empty: takes no place in an n-gram.
using Tokens = std::vector<std::string>;

// Applies every rule of the abstraction to one statement. `estimates_tell_more` (may be null): whether the statement
// has other tokens as an explained one than EstimateTokens() of these.
Tokens Abstract(const Statement& statement, bool* estimates_tell_more = nullptr);

// What the plan of a statement with these tokens tells before anything runs (EXPLAIN): the relations, and the columns
// from whose statistics numbers of rows are estimated, w:, j: and g:. What is ordered by counts as grouped, for the
// same estimate of distinct values is made of it. Empty where no relation is named.
Tokens EstimateTokens(const Tokens& tokens);

// The tokens of a line: parted by blanks, each after the name of its kind, as they are shown in alerts. A blank within
// double quotes parts nothing, nor does one before what names no kind.
Tokens TokensOfLine(std::string_view line);

// Whether they stand for something that could not be parsed.
bool IsUnparsed(const Tokens& tokens);

// The union of the tokens of several statements in one string.
Tokens UnionTokens(const std::vector<Tokens>& parts);

// The published form, in query order: {SELECT, lastname, gender, city, hospitaldb, firstname_w}. Columns and relations
// are bare names in the order in which the statement names them; a repeated one is named once.
std::string PosterForm(const Statement& statement);

// Y(Q) of the tokens: the qualified columns that the statement reveals (P, W when `where_counts`, G, L); W alone for
// UPDATE, DELETE and MERGE that project nothing. Sorted, without duplicates.
std::vector<std::string> RevealedColumns(const Tokens& tokens, bool where_counts);
// The same within the tokens: in their order, a column once for each kind that names it.
std::vector<std::string_view> RevealedTokens(const Tokens& tokens, bool where_counts);

// What a token is to Y(Q). The first three name a column, after their mark: P; G or L; W.
enum class TokenPart : std::uint8_t { kProjection, kShown, kFilter, kFunction, kWrite, kUnparsed, kOther };
TokenPart PartOf(std::string_view token);
inline bool NamesColumn(TokenPart part) { return part <= TokenPart::kFilter; }
// The column of a token that names one.
std::string_view ColumnOfToken(std::string_view token);

// Which of its tokens reveal their columns, when all of a statement have been added.
class RevealingParts {
 public:
  void Add(TokenPart part) { seen_ |= BitOf(part); }
  bool Has(TokenPart part) const { return (seen_ & BitOf(part)) != 0; }
  bool Reveals(TokenPart part, bool where_counts) const {
    if (part == TokenPart::kFilter) return where_counts;
    return part == TokenPart::kProjection ||
           (part == TokenPart::kShown && (Has(TokenPart::kProjection) || !Has(TokenPart::kWrite)));
  }

 private:
  static unsigned BitOf(TokenPart part) { return 1U << static_cast<unsigned>(part); }

  unsigned seen_ = 0;
};

// The relation part of a qualified column: public."a.b" of public."a.b".c. Dots within quotes do not count.
std::string_view RelationOfColumn(std::string_view column);

// The identity of an abstraction: 64 bits of its SHA-1 name-based UUID (RFC 4122, version 5). 0 for the empty one.
std::int64_t Fingerprint(const Tokens& tokens);

// True when `name` is an aggregate or window function under which a column is not revealed: count, sum, avg, stddev*,
// var*, regr_*, corr, covar_*. Only names of pg_catalog (no schema).
bool HidesColumns(std::string_view name);

// True for the aggregates among these that only count: of their arguments no more shows than which are NULL.
bool OnlyCounts(std::string_view name);

// Whether a function of the server, by its name, is volatile and cannot be seen to run for all that.
bool GivesValueOnly(std::string_view name);

// True when `name` is a function or an operator that can put many values into one: powers, shifts, text that is put
// together, hashes. Neither of these two takes memory: callers have no way out for exceptions.
bool PacksValues(std::string_view name);

// What column LIKE pattern and the like compare a column with. A pattern without anything that stands for other text is
// one value. `bare`: the operand is a column as it is, which for a key makes the difference between a beginning and a
// number that has been made a text of. Nothing for other operators.
enum class Pattern { kNone, kUnknown, kLiteral };
Pins PinsOfPattern(std::string_view op, bool bare, Pattern pattern, std::string_view literal);

// True when the unit of date_trunc(), date_part() or EXTRACT is a month or longer; in lower case or not.
bool IsMonthsOrLonger(std::string_view unit);

// True when it leaves a time as it is, or nearly: epoch, julian, seconds and shorter.
bool IsWholeTime(std::string_view unit);

}  // namespace privacy_score
