/*
 * accepted.cpp - see accepted.hpp.
 */
#include "core/detection/accepted.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/error.hpp"
#include "core/detection/detection_sections.hpp"

namespace privacy_score {

void Accepted::Add(AbstractionId id, Tokens tokens) {
  std::sort(tokens.begin(), tokens.end());
  if (id != 0) statements_.emplace(id, std::move(tokens));
}

void Accepted::Add(Figure figure, double height) {
  std::optional<double>& accepted = heights_[static_cast<std::size_t>(figure)];
  accepted = std::max(accepted.value_or(height), height);
  has_heights_ = true;
}

void Accepted::Add(const Accepted& other) {
  for (const auto& [id, tokens] : other.statements_) statements_.emplace(id, tokens);
  for (const Figure figure : kFigures)
    if (const std::optional<double>& height = other.heights_[static_cast<std::size_t>(figure)]) Add(figure, *height);
}

SessionFigures Accepted::Beyond(const SessionFigures& figures) const {
  SessionFigures beyond = figures;
  for (const Figure figure : kFigures) {
    const std::optional<double>& accepted = heights_[static_cast<std::size_t>(figure)];
    if (accepted && beyond[figure] && *beyond[figure] <= *accepted) beyond[figure].reset();
  }
  return beyond;
}

AcceptedOfRole::AcceptedOfRole(WireReader& reader) {
  const auto of = [&](const Field& end_user) -> Accepted& {
    return end_user ? of_end_users_[std::string(*end_user)] : of_all_;
  };
  reader.EachRow(AcceptedFigureSection::kColumns, [&](const Row& row) {
    const double height = ParseDouble(Required(row[AcceptedFigureSection::kHeight]));
    const std::optional<Figure> figure = FigureNamed(Required(row[AcceptedFigureSection::kFigure]));
    if (!figure || IsNovelty(*figure) || !(std::isfinite(height) && height >= 0))
      throw DamagedData("what is accepted of a figure");
    of(row[AcceptedFigureSection::kEndUser]).Add(*figure, height);
  });
  std::map<std::pair<std::optional<std::string>, AbstractionId>, Tokens> statements;
  reader.EachRow(AcceptedTokenSection::kColumns, [&](const Row& row) {
    using Column = AcceptedTokenSection;
    std::optional<std::string> end_user;
    if (row[Column::kEndUser]) end_user = *row[Column::kEndUser];
    statements[{std::move(end_user), ParseInteger(Required(row[Column::kId]))}].emplace_back(
        Required(row[Column::kToken]));
  });
  for (auto& [key, tokens] : statements) of(key.first ? Field(*key.first) : Field()).Add(key.second, std::move(tokens));
  for (auto& [end_user, accepted] : of_end_users_) accepted.Add(of_all_);
}

const Accepted* AcceptedOfRole::Of(std::string_view end_user) const {
  const auto found = of_end_users_.find(end_user);
  const Accepted& accepted = found == of_end_users_.end() ? of_all_ : found->second;
  return accepted.empty() ? nullptr : &accepted;
}

}  // namespace privacy_score
