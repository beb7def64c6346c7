/*
 * abstraction.cpp - the two written forms of an abstraction: canonical tokens, and the published form of
 * [Khan, figure 1]. What they name is found by flow.cpp.
 */
#include "core/statement/abstraction.hpp"

#include <array>
#include <unordered_set>

#include "core/statement/flow.hpp"

namespace privacy_score {

namespace {

constexpr std::array<char, kNamedMarks> kPrefixes = {'p', 't', 'w', 'j', 'g', 'o', 'l', 's', 'e', 'm', 'n'};

// A mark and how the published form writes a column that bears it.
struct PosterMark {
  Mark mark;
  std::string_view suffix;
};

// The published form does not tell L from O.
constexpr PosterMark kPosterMarks[] = {{Mark::kProjected, ""}, {Mark::kTable, ""},   {Mark::kFilter, "_w"},
                                       {Mark::kJoin, "_j"},    {Mark::kGroup, "_g"}, {Mark::kOrder, "_o"},
                                       {Mark::kWritten, "_s"}};

// sum(a, b), count(*), row_number().
std::string FunctionText(std::string_view name, const std::vector<std::string>& columns) {
  std::string text(name);
  text += '(';
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (i > 0) text += ',';
    text += columns[i];
  }
  if (columns.empty() && name == "count") text += '*';
  return text + ')';
}

// The last part of a qualified name.
std::string BareName(const std::string& name) {
  const std::size_t qualifier = RelationOfColumn(name).size();
  return qualifier == 0 ? name : name.substr(qualifier + 1);
}

// The parts of a list of which each is named once, in order of first appearance.
class PosterList {
 public:
  void Add(const std::string& part) {
    if (!seen_.insert(part).second) return;
    if (!text_.empty()) text_ += ", ";
    text_ += part;
  }
  void NextKind() { seen_.clear(); }
  std::string Text() const { return '{' + text_ + '}'; }

 private:
  std::string text_;
  std::unordered_set<std::string> seen_;
};

}  // namespace

Tokens Abstract(const Statement& statement, bool* estimates_tell_more) {
  if (statement.unparsed) return {"unparsed"};
  if (statement.limited_to_nothing && !statement.explained) return {};
  const Flow flow = FollowColumns(statement);
  if (estimates_tell_more != nullptr) *estimates_tell_more = flow.estimates_tell_more;
  if (flow.command.empty()) return {};
  Tokens tokens = {"cmd:" + std::string(flow.command)};
  for (std::size_t mark = 0; mark < kNamedMarks; ++mark)
    for (const std::string& name : flow.names[mark]) tokens.push_back(std::string{kPrefixes[mark], ':'} + name);
  for (const FunctionUse& use : flow.functions) tokens.push_back("f:" + FunctionText(use.name, use.columns));
  return statement.explained ? EstimateTokens(tokens) : UnionTokens({tokens});
}

std::string PosterForm(const Statement& statement) {
  if (statement.unparsed) return "{UNPARSED}";
  const Flow flow = FollowColumns(statement, TemporaryNames::kAsCalled);
  PosterList list;
  if (flow.command.empty()) return list.Text();
  std::string command(flow.command);
  for (char& c : command) c = static_cast<char>(c - 'a' + 'A');
  list.Add(command);
  for (const PosterMark& poster : kPosterMarks) {
    list.NextKind();  // a column may be called like a table
    for (const std::string& name : flow.Names(poster.mark)) list.Add(BareName(name) + std::string(poster.suffix));
  }
  for (const FunctionUse& use : flow.functions) {
    std::vector<std::string> columns;
    std::unordered_set<std::string> seen;
    for (const std::string& column : use.columns) {
      std::string bare = BareName(column);
      if (seen.insert(bare).second) columns.push_back(std::move(bare));
    }
    list.Add(FunctionText(use.name, columns));
  }
  return list.Text();
}

}  // namespace privacy_score
