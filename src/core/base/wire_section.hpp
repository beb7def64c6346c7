/*
 * wire_section.hpp - the columns of a section of text (rows.hpp), declared once for who writes it and who reads it.
 *
 *   WIRE_SECTION(RelationSection, kName, kSubjectGroup, kIsRowSubject, kJointHome);
 *
 * The reader takes row[RelationSection::kName] of reader.Section(RelationSection::kColumns). The backend's query yields
 * columns called name, subject_group, is_row_subject and joint_home, in this order, and is checked for it
 * (backend/server/wire.hpp).
 */
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace privacy_score {

#define WIRE_SECTION(section, ...)                         \
  struct section {                                         \
    enum Column : std::uint32_t { __VA_ARGS__, kColumns }; \
    static constexpr const char* kNames = #__VA_ARGS__;    \
  }

// Whether `column` is what a query calls the next of the columns named in `rest`, of the form "kOne, kTwo", which is
// taken off it. No clean-up on the way: a server's error may leave it at any call.
constexpr bool TakeColumnNamed(std::string_view* rest, std::string_view column) {
  const std::string_view name = rest->substr(0, rest->find(','));
  rest->remove_prefix(name.size() < rest->size() ? name.size() + 2 : name.size());
  std::size_t at = 0;
  for (std::size_t i = 1; i < name.size(); ++i) {  // after the k
    const char letter = name[i];
    const bool capital = letter >= 'A' && letter <= 'Z';
    if (capital && i > 1 && (at >= column.size() || column[at++] != '_')) return false;
    if (at >= column.size() || column[at++] != (capital ? static_cast<char>(letter - 'A' + 'a') : letter)) return false;
  }
  return at == column.size();
}

}  // namespace privacy_score
