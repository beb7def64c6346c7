/*
 * figures.hpp - the figures of a session that an alarm is raised by, in the one order in which they stand everywhere.
 *
 * Each is a number that does not fall while a session goes on. One may be unknown: of a session that was recorded
 * before the figure was. Those of what is new come from abstractions alone (novelty.hpp), and so does repeats; the
 * others are stored with the session.
 */
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace privacy_score {

enum class Figure : std::uint8_t {
  kTokens,      // bits of what the baseline lacks, summed over the session's abstractions
  kTokensMax,   // the same of the abstraction that has most
  kUnknown,     // abstractions that the baseline lacks, as a share of a usual session
  kFilters,     // bits of conditions that the baseline lacks, summed over executions
  kOtherRoles,  // abstractions that the baseline lacks and another role's has
  kNewColumns,  // columns shown that no session of the baseline has shown
  kNewRuns,     // executions of what holds anything that no session of the baseline does
  kNewRepeats,  // most executions of one abstraction that the baseline lacks
  kAddressed,   // most subjects that one abstraction addresses
  kPerson,      // most columns asked about one subject, added up over statements
  kKnown,       // most columns that the principal has come to know of one subject over some days
  kDiffer,      // aggregates that differ from an earlier one by one record
  kRepeats,     // most executions of one abstraction
  kVolume,      // max(0, lg(most rows of one statement / 100))
};

inline constexpr std::array kFigures = {Figure::kTokens,     Figure::kTokensMax,  Figure::kUnknown, Figure::kFilters,
                                        Figure::kOtherRoles, Figure::kNewColumns, Figure::kNewRuns, Figure::kNewRepeats,
                                        Figure::kAddressed,  Figure::kPerson,     Figure::kKnown,   Figure::kDiffer,
                                        Figure::kRepeats,    Figure::kVolume};
inline constexpr std::size_t kFigureCount = kFigures.size();

// Whether it is of what the baseline lacks. Such figures follow from abstractions and how often each was executed.
constexpr bool IsNovelty(Figure figure) { return figure <= Figure::kNewRepeats; }

// tokens, tokens_max, unknown, filters, other_roles, new_columns, new_runs, new_repeats, addressed, person, known,
// differ, repeats, volume: as columns and in JSON.
std::string_view NameOf(Figure figure);
// The figure of such a name; none for others.
std::optional<Figure> FigureNamed(std::string_view name);

// The figure for a most number of rows, at least 0, of one statement.
double VolumeOf(std::int64_t rows);

// Figures of one session.
class SessionFigures {
 public:
  std::optional<double>& operator[](Figure figure) { return values_[static_cast<std::size_t>(figure)]; }
  const std::optional<double>& operator[](Figure figure) const { return values_[static_cast<std::size_t>(figure)]; }

  // Throws Error XX001 unless each that is known is a finite number of at least 0.
  void Check() const;

 private:
  std::array<std::optional<double>, kFigureCount> values_;
};

}  // namespace privacy_score
