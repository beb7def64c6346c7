/*
 * statement_pair.cpp - see statement_pair.hpp.
 */
#include "core/report/statement_pair.hpp"

#include <algorithm>
#include <functional>
#include <set>
#include <vector>

#include "core/base/readable.hpp"
#include "core/report/glossary.hpp"
#include "core/report/markup.hpp"

namespace privacy_score {

namespace {

// table.column
using Names = std::set<std::string, std::less<>>;

// What begins a line of a readable statement.
constexpr std::string_view kClauses[] = {"select", "insert",    "update",   "delete",
                                         "merge",  "from",      "where",    "group by",
                                         "set",    "joined by", "order by", "limited in order of"};

constexpr std::string_view kEnds = " ,()";

// The relation of a statement that has one only: its columns are read without it.
std::string OnlyRelation(std::string_view statement) {
  std::string only;
  while (!statement.empty()) {
    const std::size_t end = std::min(statement.find(' '), statement.size());
    if (statement.substr(0, 2) == "t:") {
      if (!only.empty()) return {};
      only = std::string(ShortName(statement.substr(2, end - 2), 1)) + ".";
    }
    statement.remove_prefix(std::min(end + 1, statement.size()));
  }
  return only;
}

// A line of a readable statement. Names end at a blank, a comma or a bracket outside of quotes.
std::string Line(std::string_view line, const std::string& relation, const Names& marked) {
  std::string html;
  for (const std::string_view clause : kClauses) {
    if (line.substr(0, clause.size()) != clause || (line.size() > clause.size() && line[clause.size()] != ' '))
      continue;
    html = "<b>" + std::string(clause) + "</b>";
    line.remove_prefix(clause.size());
    break;
  }
  while (!line.empty()) {
    bool quoted = false;
    std::size_t end = 0;
    for (; end < line.size() && (quoted || kEnds.find(line[end]) == std::string_view::npos); ++end)
      quoted ^= line[end] == '"';
    const std::string_view name = line.substr(0, end);
    const bool is_marked = marked.count(relation + std::string(name)) > 0;
    html += is_marked ? "<mark>" + Escaped(name) + "</mark>" : Escaped(name);
    if (end < line.size()) html += line[end++];
    line.remove_prefix(end);
  }
  return html;
}

std::string Statements(std::string_view ngram, const Names& marked) {
  std::string html;
  for (const std::string_view statement : LinesOf(ngram)) {
    if (!html.empty()) html += "<p class=\"then\">then</p>";
    if (statement == "(start)") {
      html += "<p class=\"then\">the session begins</p>";
      continue;
    }
    const std::string relation = OnlyRelation(statement);
    const std::string readable = ReadableStatement(statement);
    html += "<pre>";
    bool is_first = true;
    for (const std::string_view line : LinesOf(readable)) {
      html += (is_first ? "" : "\n") + Line(line, relation, marked);
      is_first = false;
    }
    html += "</pre>";
  }
  return html;
}

}  // namespace

std::string NewColumns(std::string_view attributes, std::size_t most) {
  std::string text;
  const std::vector<std::string_view> names = LinesOf(attributes);
  for (std::size_t i = 0; i < std::min(names.size(), most); ++i)
    text += (i == 0 ? "" : ", ") + std::string(ShortName(names[i], 2));
  if (names.size() > most) text += " and " + std::to_string(names.size() - most) + " more";
  return text;
}

std::string StatementPair(std::string_view ngram, std::string_view nearest, std::string_view attributes) {
  Names marked;
  for (const std::string_view name : LinesOf(attributes)) marked.emplace(ShortName(name, 2));
  std::string html = "<div class=\"pair\"><div><h4>What was asked</h4>" + Statements(ngram, marked) +
                     "</div><div><h4>" + TermLink("nearest", "Nearest usual one") + "</h4>";
  html += LinesOf(nearest).empty() ? "<p class=\"none\">None: nothing usual is like it.</p>" : Statements(nearest, {});
  html += "</div></div>";
  if (!LinesOf(attributes).empty())
    html += "<p class=\"new\">" + TermLink("columns", "New columns") + ": " +
            Escaped(NewColumns(attributes, LinesOf(attributes).size())) + "</p>";
  return html;
}

}  // namespace privacy_score
