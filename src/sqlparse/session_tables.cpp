/*
 * session_tables.cpp - see session_tables.hpp.
 */
#include "sqlparse/session_tables.hpp"

#include <algorithm>
#include <utility>

namespace privacy_score {

namespace {

constexpr std::size_t kMostTables = 64;

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

const CatalogRelation* SessionTables::Find(std::string_view name) const {
  const auto found = tables_.find(name);
  return found == tables_.end() ? nullptr : &found->second;
}

void SessionTables::Add(std::string_view name, CatalogRelation table) {
  ++changes_;
  if (!tables_.emplace(name, std::move(table)).second) return;
  order_.emplace_back(name);
  if (order_.size() <= kMostTables) return;
  tables_.erase(order_.front());
  order_.pop_front();
}

void SessionTables::Remove(std::string_view name) {
  ++changes_;
  const auto found = tables_.find(name);
  if (found == tables_.end()) return;
  order_.erase(std::find(order_.begin(), order_.end(), name));
  tables_.erase(found);
}

void SessionTables::Clear() {
  ++changes_;
  tables_.clear();
  order_.clear();
}

bool SessionTables::MayBeNamedIn(std::string_view sql) const {
  return std::any_of(order_.begin(), order_.end(), [&](const std::string& name) {
    return std::search(sql.begin(), sql.end(), name.begin(), name.end(),
                       [](char a, char b) { return Lower(a) == Lower(b); }) != sql.end();
  });
}

}  // namespace privacy_score
