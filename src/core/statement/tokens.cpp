/*
 * tokens.cpp - what can be said of an abstraction from its tokens alone.
 */
#include <algorithm>
#include <iterator>
#include <unordered_set>

#include <boost/uuid/name_generator_sha1.hpp>
#include <boost/uuid/uuid.hpp>

#include "core/base/joined.hpp"
#include "core/base/sort_unique.hpp"
#include "core/statement/abstraction.hpp"

namespace privacy_score {

namespace {

constexpr std::string_view kUnparsed = "unparsed";
constexpr std::size_t kMarkLength = 2;  // a letter and a colon

bool IsMarked(std::string_view token, char mark) {
  return token.size() > kMarkLength && token[0] == mark && token[1] == ':';
}

// Names in lower case.
template <std::size_t size>
bool IsOneOf(std::string_view unit, const std::string_view (&names)[size]) {
  const auto same = [](char lower, char c) {
    return lower == (c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c);
  };
  return std::any_of(std::begin(names), std::end(names), [&](std::string_view name) {
    return std::equal(name.begin(), name.end(), unit.begin(), unit.end(), same);
  });
}

}  // namespace

std::string TemporaryName(std::size_t number) {
  std::string name = "pg_temp.*";
  if (number > 1) name += std::to_string(number);
  return name;
}

std::string TemporaryColumnName(std::size_t number, int column) {
  return TemporaryName(number) + '.' + std::to_string(column + 1);
}

Tokens UnionTokens(const std::vector<Tokens>& parts) {
  Tokens all;
  for (const Tokens& part : parts) all.insert(all.end(), part.begin(), part.end());
  SortUnique(all);
  return all;
}

Tokens TokensOfLine(std::string_view line) {
  Tokens tokens;
  bool quoted = false;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= line.size(); ++i) {
    if (i < line.size() && line[i] == '"') quoted = !quoted;
    if (i < line.size() && (quoted || line[i] != ' ')) continue;
    const std::string_view part = line.substr(begin, i - begin);
    begin = i + 1;
    const std::size_t kind = part.find_first_not_of("abcdefghijklmnopqrstuvwxyz");
    const bool begins = kind != 0 && kind != std::string_view::npos && part[kind] == ':';
    if (begins || tokens.empty())
      tokens.emplace_back(part);
    else
      tokens.back().append(" ").append(part);
  }
  if (!tokens.empty() && tokens.back().empty()) tokens.pop_back();
  return tokens;
}

bool IsUnparsed(const Tokens& tokens) { return std::find(tokens.begin(), tokens.end(), kUnparsed) != tokens.end(); }

Tokens EstimateTokens(const Tokens& tokens) {
  if (IsUnparsed(tokens)) return tokens;
  Tokens told;
  for (const std::string& token : tokens) {
    if (IsMarked(token, 't') || IsMarked(token, 'w') || IsMarked(token, 'j') || IsMarked(token, 'g'))
      told.push_back(token);
    else if (IsMarked(token, 'o') || IsMarked(token, 'l'))
      told.push_back("g:" + token.substr(2));
  }
  if (told.empty()) return {};
  told.emplace_back("cmd:explain");
  return UnionTokens({told});
}

TokenPart PartOf(std::string_view token) {
  if (IsMarked(token, 'p')) return TokenPart::kProjection;
  if (IsMarked(token, 'g') || IsMarked(token, 'l')) return TokenPart::kShown;
  if (IsMarked(token, 'w')) return TokenPart::kFilter;
  if (IsMarked(token, 'f')) return TokenPart::kFunction;
  if (token == "cmd:update" || token == "cmd:delete" || token == "cmd:merge") return TokenPart::kWrite;
  return token == kUnparsed ? TokenPart::kUnparsed : TokenPart::kOther;
}

std::string_view ColumnOfToken(std::string_view token) { return token.substr(kMarkLength); }

std::vector<std::string_view> RevealedTokens(const Tokens& tokens, bool where_counts) {
  RevealingParts parts;
  for (const std::string& token : tokens) parts.Add(PartOf(token));
  std::vector<std::string_view> columns;
  columns.reserve(tokens.size());
  for (const std::string_view token : tokens)
    if (parts.Reveals(PartOf(token), where_counts)) columns.push_back(ColumnOfToken(token));
  return columns;
}

std::vector<std::string> RevealedColumns(const Tokens& tokens, bool where_counts) {
  const std::vector<std::string_view> revealed = RevealedTokens(tokens, where_counts);
  std::vector<std::string> columns(revealed.begin(), revealed.end());
  SortUnique(columns);
  return columns;
}

std::string_view RelationOfColumn(std::string_view column) {
  bool quoted = false;
  std::size_t end = 0;
  for (std::size_t i = 0; i < column.size(); ++i) {
    if (column[i] == '"') quoted = !quoted;
    if (column[i] == '.' && !quoted) end = i;
  }
  return column.substr(0, end);
}

// The UUID is uuid_generate_v5(uuid_ns_oid(), array_to_string(tokens, E'\n')); bytes 6 and 8 hold version and variant.
std::int64_t Fingerprint(const Tokens& tokens) {
  if (tokens.empty()) return 0;
  const boost::uuids::uuid uuid = boost::uuids::name_generator_sha1(boost::uuids::ns::oid())(Joined(tokens, "\n"));
  std::uint64_t bits = 0;
  for (const int byte : {0, 1, 2, 3, 4, 5, 9, 10}) bits = bits << 8 | *(uuid.begin() + byte);
  return bits == 0 ? 1 : static_cast<std::int64_t>(bits);
}

// The whole names of PostgreSQL's own functions, so that a user's function that is merely called alike hides nothing.
bool HidesColumns(std::string_view name) {
  static const std::unordered_set<std::string_view> kHiding = {
      "count",    "sum",        "avg",       "stddev",     "stddev_pop", "stddev_samp", "variance",   "var_pop",
      "var_samp", "corr",       "covar_pop", "covar_samp", "regr_avgx",  "regr_avgy",   "regr_count", "regr_intercept",
      "regr_r2",  "regr_slope", "regr_sxx",  "regr_sxy",   "regr_syy"};
  return kHiding.count(name) > 0;
}

bool OnlyCounts(std::string_view name) { return name == "count" || name == "regr_count"; }

// By name alone, whatever the schema: a function of that name that does not is rare, and revealing too much is safe.
bool GivesValueOnly(std::string_view name) {
  return name == "random" || name == "clock_timestamp" || name == "timeofday" || name == "gen_random_uuid";
}

bool PacksValues(std::string_view name) {
  static constexpr std::string_view kPacking[] = {"^",
                                                  "<<",
                                                  ">>",
                                                  "||",
                                                  "power",
                                                  "pow",
                                                  "exp",
                                                  "numeric_power",
                                                  "dpow",
                                                  "dexp",
                                                  "factorial",
                                                  "sinh",
                                                  "cosh",
                                                  "numeric_exp",
                                                  "repeat",
                                                  "lpad",
                                                  "rpad",
                                                  "concat",
                                                  "concat_ws",
                                                  "format",
                                                  "overlay",
                                                  "replace",
                                                  "translate",
                                                  "textcat",
                                                  "set_bit",
                                                  "set_byte",
                                                  "hashint2",
                                                  "hashint4",
                                                  "hashint8",
                                                  "hashtext",
                                                  "hash_numeric",
                                                  "hashfloat8",
                                                  "md5",
                                                  "sha224",
                                                  "sha256",
                                                  "sha384",
                                                  "sha512",
                                                  "regexp_replace",
                                                  "make_interval",
                                                  "to_number",
                                                  "int2shl",
                                                  "int4shl",
                                                  "int8shl",
                                                  "int2shr",
                                                  "int4shr",
                                                  "int8shr",
                                                  "hashtextextended",
                                                  "hashint8extended",
                                                  "hashint4extended",
                                                  "hash_numeric_extended"};
  return std::find(std::begin(kPacking), std::end(kPacking), name) != std::end(kPacking);
}

Pins PinsOfPattern(std::string_view op, bool bare, Pattern pattern, std::string_view literal) {
  const bool like = op == "~~" || op == "~~*";
  const bool regex = op == "~" || op == "~*";
  if (!like && !regex && op != "^@") return Pins::kNothing;
  if (pattern != Pattern::kLiteral) return Pins::kKey;
  const bool plain = like ? literal.find_first_of("%_\\") == std::string_view::npos
                          : regex && !literal.empty() && literal.front() == '^' && literal.back() == '$' &&
                                literal.find_first_of(".*+?()[]{}|\\") == std::string_view::npos;
  if (plain) return Pins::kColumn;
  return bare ? Pins::kNothing : Pins::kKey;
}

bool IsMonthsOrLonger(std::string_view unit) {
  static constexpr std::string_view kLong[] = {"month",   "months",    "mon",        "mons",    "quarter",   "qtr",
                                               "year",    "years",     "yr",         "isoyear", "decade",    "decades",
                                               "century", "centuries", "millennium", "y",       "millennia", "yrs"};
  return IsOneOf(unit, kLong);
}

bool IsWholeTime(std::string_view unit) {
  static constexpr std::string_view kWhole[] = {
      "epoch", "julian",  "jd",       "j",        "second",      "seconds",      "sec",          "secs",       "s",
      "msec",  "msecs",   "msecond",  "mseconds", "ms",          "millisecond",  "milliseconds", "millisecon", "usec",
      "usecs", "usecond", "useconds", "us",       "microsecond", "microseconds", "microsecon"};
  return IsOneOf(unit, kWhole);
}

}  // namespace privacy_score
