/*
 * touched_relations.cpp - the relations that the tokens of an abstraction name.
 */
#include "core/statement/touched_relations.hpp"

#include <algorithm>

namespace privacy_score {

namespace {

// The place of the first character of `any` that is not within quotes, from `from` on; the size when there is none.
std::size_t FindUnquoted(std::string_view text, std::string_view any, std::size_t from = 0) {
  bool quoted = false;
  for (std::size_t i = from; i < text.size(); ++i) {
    if (text[i] == '"') quoted = !quoted;
    if (!quoted && any.find(text[i]) != std::string_view::npos) return i;
  }
  return text.size();
}

// Schema and relation of a qualified name of either a relation or a column; empty of one that is not qualified.
std::string_view RelationPart(std::string_view name) {
  const std::size_t schema = FindUnquoted(name, ".");
  if (schema == name.size()) return {};
  return name.substr(0, FindUnquoted(name, ".", schema + 1));
}

void AddRelationsOf(std::string_view token, std::vector<std::string_view>* relations) {
  if (token.size() < 2 || token[1] != ':') return;
  for (std::size_t from = 2; from < token.size();) {
    const std::size_t to = FindUnquoted(token, "(),", from);
    const std::string_view relation = RelationPart(token.substr(from, to - from));
    if (!relation.empty() && (relations->empty() || relations->back() != relation)) relations->push_back(relation);
    from = to + 1;
  }
}

}  // namespace

std::vector<std::string_view> RelationsNamedBy(std::string_view tokens, char separator) {
  std::vector<std::string_view> relations;
  for (std::size_t from = 0; from < tokens.size();) {
    const std::size_t to = std::min(tokens.find(separator, from), tokens.size());
    AddRelationsOf(tokens.substr(from, to - from), &relations);
    from = to + 1;
  }
  return relations;
}

std::string_view SchemaOfRelation(std::string_view relation) { return relation.substr(0, FindUnquoted(relation, ".")); }

}  // namespace privacy_score
