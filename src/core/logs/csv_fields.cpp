/*
 * csv_fields.cpp - see csv_fields.hpp.
 */
#include "core/logs/csv_fields.hpp"

namespace privacy_score {

bool SplitCsv(std::string_view record, std::vector<std::string>* fields, std::size_t most) {
  fields->clear();
  std::size_t at = 0;
  while (fields->size() < most) {
    std::string& field = fields->emplace_back();
    if (at < record.size() && record[at] == '"') {
      for (++at;; ++at) {
        if (at >= record.size()) return false;
        if (record[at] != '"') {
          field += record[at];
          continue;
        }
        if (++at >= record.size() || record[at] != '"') break;
        field += '"';
      }
    } else {
      const std::size_t end = record.find(',', at);
      field = record.substr(at, end == std::string_view::npos ? end : end - at);
      if (field.find('"') != std::string::npos) return false;
      at += field.size();
    }
    if (at >= record.size()) return true;
    if (record[at] != ',') return false;
    ++at;
  }
  return true;
}

}  // namespace privacy_score
