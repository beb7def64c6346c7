/*
 * reach.cpp - the figures of reach.hpp.
 */
#include "reach.hpp"

#include <algorithm>
#include <map>

#include "json.hpp"
#include "keyed_hash.hpp"

namespace privacy_score {

namespace {

constexpr std::int64_t kLeastOutOfReach = 10;
constexpr int kReach = 0;
constexpr int kSubjects = 1;
constexpr int kSubjectColumns = 2;

using Comparisons = std::vector<std::vector<std::uint64_t>>;

// Every way to take one value of each position, folded in order of the positions: comparison by comparison when all
// positions have as many or one only, else all with all. At most kMostComparedValues.
std::vector<std::uint64_t> Combine(const std::vector<const Comparisons*>& positions) {
  std::size_t most = 0;
  for (const Comparisons* comparisons : positions) most = std::max(most, comparisons->size());
  const bool pairwise = std::all_of(positions.begin(), positions.end(), [most](const Comparisons* comparisons) {
    return comparisons->size() == most || comparisons->size() == 1;
  });
  std::vector<std::uint64_t> all;
  for (std::size_t round = 0; round < (pairwise ? most : 1); ++round) {
    std::vector<std::uint64_t> folded = {0};
    for (const Comparisons* comparisons : positions) {
      std::vector<std::uint64_t> next;
      const std::size_t first = !pairwise || comparisons->size() == 1 ? 0 : round;
      const std::size_t end = pairwise ? first + 1 : comparisons->size();
      for (const std::uint64_t before : folded)
        for (std::size_t i = first; i < end; ++i)
          for (const std::uint64_t value : (*comparisons)[i])
            if (all.size() + next.size() < kMostComparedValues) next.push_back(FoldHash(before, value));
      folded = std::move(next);
    }
    all.insert(all.end(), folded.begin(), folded.end());
  }
  return all;
}

// The log: for each execution its length, the statement, and the groups, each list after its length.
void PutGroups(std::vector<std::uint64_t>& words, const std::vector<ExecutionConstants::Group>& groups) {
  words.push_back(groups.size());
  for (const auto& group : groups) {
    words.push_back(group.columns.size());
    for (const ComparedColumn& column : group.columns) {
      words.push_back(column.item);
      words.push_back(column.name);
    }
    words.push_back(group.comparisons.size());
    for (const auto& values : group.comparisons) {
      words.push_back(values.size());
      words.insert(words.end(), values.begin(), values.end());
    }
  }
}

std::vector<ExecutionConstants::Group> TakeGroups(const std::uint64_t*& at) {
  std::vector<ExecutionConstants::Group> groups(*at++);
  for (auto& group : groups) {
    group.columns.resize(*at++);
    for (ComparedColumn& column : group.columns) {
      column.item = static_cast<std::uint32_t>(*at++);
      column.name = *at++;
    }
    group.comparisons.resize(*at++);
    for (auto& values : group.comparisons) {
      const std::uint64_t size = *at++;
      values.assign(at, at + size);
      at += size;
    }
  }
  return groups;
}

}  // namespace

std::vector<ReachExcess> OutOfReach(const ReachFigures& figures, const Baseline& baseline, double factor) {
  std::vector<ReachExcess> excesses;
  for (int figure = 0; figure < kReachFigureCount; ++figure) {
    const std::int64_t value = figures.values[figure];
    const auto& greatest = baseline.greatest[static_cast<std::size_t>(figure)];
    if (!greatest || value < kLeastOutOfReach) continue;
    const double limit = factor * static_cast<double>(*greatest);
    if (static_cast<double>(value) > limit) excesses.push_back({figure, value, *greatest, limit});
  }
  return excesses;
}

std::string ReachExcessJson(const ReachExcess& excess, double factor) {
  JsonWriter json;
  json.BeginObject();
  json.Key("cause").Value(kReachFigureNames[excess.figure]);
  json.Key("figure").Value(kReachFigureNames[excess.figure]);
  json.Key("value").Value(excess.value);
  json.Key("baseline").Value(excess.greatest);
  json.Key("factor").Value(factor);
  return json.EndObject().text();
}

ReachTracker::ReachTracker(const Model& model, bool where_counts) : where_counts_(where_counts) {
  std::unordered_map<std::uint32_t, std::uint32_t> sizes;
  for (const Attribute& attribute : model.attributes())
    if (attribute.subject_position >= 0) ++sizes[attribute.relation];
  for (const Attribute& attribute : model.attributes()) {
    if (attribute.subject_position < 0) continue;
    subject_columns_[NameHash(attribute.name)] = {model.relations()[attribute.relation].subject_group,
                                                  static_cast<std::uint32_t>(attribute.subject_position),
                                                  sizes[attribute.relation], attribute.relation};
  }
  sets_.emplace_back();
  set_ids_.emplace(AttributeSet(), 0);
}

void ReachTracker::Observe(const Model& model, AbstractionId id, const Tokens& tokens,
                           const ExecutionConstants& constants) {
  const std::uint32_t index = FormOf(model, id, tokens);
  const std::uint64_t key = FoldHash(index, constants.vector);
  if (seen_.count(key) > 0) return;
  if (Remember(index, key)) Log(index, constants);
  if (!forms_[index].counts) return;
  Raise(kReach, forms_[index].vectors);
  AddSubjects(index, constants.groups);
}

void ReachTracker::Replay(const ReachTracker& before, const Model& model,
                          const std::function<const Tokens&(AbstractionId)>& tokens_of) {
  const std::uint64_t* at = before.log_.data();
  const std::uint64_t* end = at + before.log_.size();
  while (at != end) {
    ExecutionConstants constants;
    const AbstractionId id = before.forms_[*at++].id;
    constants.vector = *at++;
    constants.groups = TakeGroups(at);
    Observe(model, id, tokens_of(id), constants);
  }
  if (!before.log_is_full_) return;
  log_is_full_ = true;
  for (int figure = 0; figure < kReachFigureCount; ++figure)
    Raise(figure, static_cast<std::size_t>(before.figures_.values[figure]));
}

// The number of a statement, made when first met.
std::uint32_t ReachTracker::FormOf(const Model& model, AbstractionId id, const Tokens& tokens) {
  const auto found = form_ids_.find(id);
  if (found != form_ids_.end()) return found->second;
  Form form;
  form.id = id;
  form.counts = !model.Revealed(tokens, true).empty();
  for (const AttributeId column : model.Revealed(tokens, where_counts_))
    if (!model.attributes()[column].identifier) form.columns.push_back(column);
  const auto index = static_cast<std::uint32_t>(forms_.size());
  forms_.push_back(std::move(form));
  form_ids_.emplace(id, index);
  return index;
}

// Remembers a vector of a statement as seen; false when there is no room.
bool ReachTracker::Remember(std::uint32_t index, std::uint64_t key) {
  Form& form = forms_[index];
  if (form.vectors >= kMostVectorsOfForm || seen_.size() >= kMostVectors) return false;
  if (!form.counts && unprotected_ >= kMostUnprotectedVectors) return false;
  seen_.insert(key);
  ++form.vectors;
  if (!form.counts) ++unprotected_;
  return true;
}

void ReachTracker::Log(std::uint32_t index, const ExecutionConstants& constants) {
  const std::size_t before = log_.size();
  if (log_is_full_) return;
  log_.push_back(index);
  log_.push_back(constants.vector);
  PutGroups(log_, constants.groups);
  if (log_.size() <= kMostLogWords) return;
  log_.resize(before);
  log_is_full_ = true;
}

// The subjects that one execution asks about.
void ReachTracker::AddSubjects(std::uint32_t index, const std::vector<ExecutionConstants::Group>& groups) {
  std::map<std::uint32_t, std::vector<std::pair<SubjectColumn, const Comparisons*>>> items;
  for (const auto& group : groups) {
    for (const ComparedColumn& column : group.columns) {
      const auto found = subject_columns_.find(column.name);
      if (found != subject_columns_.end()) items[column.item].emplace_back(found->second, &group.comparisons);
    }
  }
  for (const auto& [item, columns] : items) {
    const SubjectColumn& any = columns.front().first;
    std::vector<const Comparisons*> positions(any.size, nullptr);
    for (const auto& [column, comparisons] : columns)
      if (column.position < any.size) positions[column.position] = comparisons;
    if (std::find(positions.begin(), positions.end(), nullptr) != positions.end()) continue;
    const auto group = static_cast<std::uint64_t>(any.group);
    for (const std::uint64_t value : Combine(positions)) AddSubject(index, FoldHash(group, value));
  }
}

// A statement asks about a subject.
void ReachTracker::AddSubject(std::uint32_t index, std::uint64_t subject) {
  auto place = subjects_.find(subject);
  if (place == subjects_.end()) {
    if (subjects_.size() >= kMostSubjects) return;
    place = subjects_.emplace(subject, 0).first;
    Raise(kSubjects, subjects_.size());
  }
  if (const auto set = SetWith(place->second, index)) place->second = *set;
}

// The number of the set with the columns of a statement added; none when there is no room, but the figure knows of it.
std::optional<std::uint32_t> ReachTracker::SetWith(std::uint32_t set, std::uint32_t index) {
  const std::uint64_t step = static_cast<std::uint64_t>(set) << 32U | index;
  const auto known = steps_.find(step);
  if (known != steps_.end()) return known->second;
  AttributeSet together = UnionOf(sets_[set], forms_[index].columns);
  Raise(kSubjectColumns, together.size());
  const auto interned = set_ids_.find(together);
  std::uint32_t result = 0;
  if (interned != set_ids_.end()) {
    result = interned->second;
  } else {
    if (sets_.size() >= kMostColumnSets) return std::nullopt;
    result = static_cast<std::uint32_t>(sets_.size());
    sets_.push_back(together);
    set_ids_.emplace(std::move(together), result);
  }
  if (steps_.size() < kMostVectors) steps_.emplace(step, result);
  return result;
}

void ReachTracker::Raise(int figure, std::size_t value) {
  figures_.values[figure] = std::max(figures_.values[figure], static_cast<std::int64_t>(value));
}

}  // namespace privacy_score
