/*
 * reach.cpp - the figures of reach.hpp.
 */
#include "core/scoring/reach.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "core/base/json.hpp"
#include "core/base/keyed_hash.hpp"
#include "core/base/sort_unique.hpp"
#include "core/scoring/aggregates.hpp"

namespace privacy_score {

namespace {

constexpr std::int64_t kLeastOutOfReach = 10;
constexpr int kReach = 0;
constexpr int kSubjects = 1;
constexpr int kSubjectColumns = 2;

using Comparisons = std::vector<std::vector<std::uint64_t>>;

// The comparisons of a list.
Comparisons ValuesOf(const std::uint64_t* at) {
  Comparisons comparisons(*at++);
  for (auto& values : comparisons) {
    const std::uint64_t size = *at++;
    values.assign(at, at + size);
    at += size;
  }
  return comparisons;
}

const std::uint64_t* EndOfComparisons(const std::uint64_t* at) {
  for (std::uint64_t left = *at++; left > 0; --left) at += *at + 1;
  return at;
}

const std::uint64_t* EndOfGroups(const std::uint64_t* at) {
  for (std::uint64_t left = *at++; left > 0; --left) at = EndOfComparisons(at + 1 + 2 * *at);
  return at;
}

// Every way to take one value of each position, folded in order of the positions: comparison by comparison when all
// positions have as many or one only, else all with all. At most kMostComparedValues.
std::vector<std::uint64_t> Combine(const std::vector<Comparisons>& positions) {
  std::size_t most = 0;
  for (const Comparisons& comparisons : positions) most = std::max(most, comparisons.size());
  const bool pairwise = std::all_of(positions.begin(), positions.end(), [most](const Comparisons& comparisons) {
    return comparisons.size() == most || comparisons.size() == 1;
  });
  std::vector<std::uint64_t> all;
  for (std::size_t round = 0; round < (pairwise ? most : 1); ++round) {
    std::vector<std::uint64_t> folded = {0};
    for (const Comparisons& comparisons : positions) {
      std::vector<std::uint64_t> next;
      const std::size_t first = !pairwise || comparisons.size() == 1 ? 0 : round;
      const std::size_t end = pairwise ? first + 1 : comparisons.size();
      for (const std::uint64_t before : folded)
        for (std::size_t i = first; i < end; ++i)
          for (const std::uint64_t value : comparisons[i])
            if (all.size() + next.size() < kMostComparedValues) next.push_back(FoldHash(before, value));
      folded = std::move(next);
    }
    all.insert(all.end(), folded.begin(), folded.end());
  }
  return all;
}

}  // namespace

ReachLimits LeastOutOfReach(const GreatestReach& greatest, double factor, const GreatestReach& accepted) noexcept {
  ReachLimits least;
  least.fill(kNeverOutOfReach);
  for (std::size_t figure = 0; figure < least.size(); ++figure) {
    if (!greatest[figure]) continue;
    const double within = std::floor(factor * static_cast<double>(*greatest[figure]));
    if (within < static_cast<double>(kNeverOutOfReach))
      least[figure] =
          std::max({kLeastOutOfReach, static_cast<std::int64_t>(within) + 1, accepted[figure].value_or(0) + 1});
  }
  return least;
}

std::vector<ReachExcess> OutOfReach(const ReachFigures& figures, const GreatestReach& of_baseline, double factor,
                                    const GreatestReach& accepted) {
  std::vector<ReachExcess> excesses;
  const ReachLimits least = LeastOutOfReach(of_baseline, factor, accepted);
  for (int figure = 0; figure < kReachFigureCount; ++figure) {
    if (figures.values[figure] < least[static_cast<std::size_t>(figure)]) continue;
    const std::int64_t greatest = *of_baseline[static_cast<std::size_t>(figure)];
    excesses.push_back({figure, figures.values[figure], greatest, factor * static_cast<double>(greatest)});
  }
  return excesses;
}

std::string ReachExcessJson(const ReachExcess& excess, double factor, ReachScope scope) {
  JsonWriter json;
  json.BeginObject();
  json.Key("cause").Value(kReachFigureNames[excess.figure]);
  json.Key("figure").Value(kReachFigureNames[excess.figure]);
  if (scope == ReachScope::kDay) json.Key("scope").Value("day");
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
    subject_columns_.Insert(NameHash(attribute.name),
                            {model.relations()[attribute.relation].subject_group,
                             static_cast<std::uint32_t>(attribute.subject_position), sizes[attribute.relation]});
  }
  sets_.emplace_back();
  set_ids_.emplace(AttributeSet(), 0);
}

void ReachTracker::Observe(std::uint32_t form, const BoundConstants& constants) {
  std::size_t groups_at = 0;
  resolved_.vector = ResolveVector(constants, &groups_at);
  SingleComparison single;
  if (ResolveSingle(constants, groups_at, single)) {
    ObserveSingle(form, resolved_.vector, single);
    return;
  }
  const std::uint64_t key = FoldHash(form, resolved_.vector);
  FlatSet::Slot& slot = seen_.SlotOf(key);
  if (slot.key != 0) return;
  ResolveGroups(constants, groups_at, resolved_.groups);
  Take(form, slot, key, resolved_);
}

// An execution with one comparison.
void ReachTracker::ObserveSingle(std::uint32_t index, std::uint64_t vector, const SingleComparison& single) {
  // When that is the only constant, it tells the vector.
  if (vector == FoldHash(0, single.value) && AsksBySubject(index, single) &&
      ObserveBySubject(index, SubjectOf(*forms_[index].single_group, single.value)))
    return;
  const std::uint64_t key = FoldHash(index, vector);
  FlatSet::Slot& slot = seen_.SlotOf(key);
  if (slot.key == 0) TakeSingle(index, slot, key, vector, single);
}

// Whether a statement's only constant is remembered with the subject that it is.
bool ReachTracker::AsksBySubject(std::uint32_t index, const SingleComparison& single) {
  Form& form = forms_[index];
  if (!form.has_single) {
    form.has_single = true;
    form.single = single.column;
    const SubjectColumn* subject = subject_columns_.Find(single.column.name);
    if (form.counts && subject != nullptr && IsWhole(*subject)) form.single_group = subject->group;
  }
  return form.single_group && form.single.name == single.column.name && form.single.item == single.column.item;
}

[[gnu::hot]] bool ReachTracker::ObserveBySubject(std::uint32_t index, std::uint64_t subject) {
  auto& slot = subjects_.SlotOf(subject);
  if (slot.key != 0) return slot.value.form == index + 1;
  Form& form = forms_[index];
  if (!HasRoom(form) || subjects_.size() >= kMostSubjects) return false;
  Asked* asked = subjects_.Insert(slot, subject, {form.first_set, index + 1});
  ++by_subject_;
  ++form.vectors;
  Raise(kReach, form.vectors);
  Raise(kSubjects, subjects_.size());
  Questions::AskFirst(form.questions, figures_);
  if (form.first_set == 0) asked->set = form.first_set = SetWith(0, index).value_or(0);
  NoteChange(subject);
  if (journal_ != nullptr || day_ != nullptr) {
    const SessionJournal::Subject told = {form.id, form.single, ValueOf(*form.single_group, subject)};
    if (journal_ != nullptr) journal_->Write(told);
    if (day_ != nullptr) day_->Write(told);
  }
  return true;
}

void ReachTracker::Observe(std::uint32_t form, const ExecutionConstants& constants) {
  const std::uint64_t key = FoldHash(form, constants.vector);
  FlatSet::Slot& slot = seen_.SlotOf(key);
  if (slot.key == 0) Take(form, slot, key, constants);
}

// Takes in constants that the statement has not had before, or that could not be remembered.
void ReachTracker::Take(std::uint32_t index, FlatSet::Slot& free, std::uint64_t key,
                        const ExecutionConstants& constants) {
  if (Remember(index, free, key)) {
    Log(index, constants.vector, constants.groups.data(), constants.groups.size());
    const Form& form = forms_[index];
    Tell(form, {form.id, constants.vector, constants.groups.data(), constants.groups.size()});
  }
  if (!forms_[index].counts) return;
  Raise(kReach, forms_[index].vectors);
  AddSubjects(index, constants.groups);
}

// The same for one comparison.
void ReachTracker::TakeSingle(std::uint32_t index, FlatSet::Slot& free, std::uint64_t key, std::uint64_t vector,
                              const SingleComparison& single) {
  const std::uint64_t groups[] = {1, 1, single.column.item, single.column.name, 1, 1, single.value};
  if (Remember(index, free, key)) {
    Log(index, vector, groups, std::size(groups));
    Tell(forms_[index], {forms_[index].id, vector, groups, std::size(groups)});
  }
  if (!forms_[index].counts) return;
  Raise(kReach, forms_[index].vectors);
  const SubjectColumn* subject = subject_columns_.Find(single.column.name);
  if (subject != nullptr && IsWhole(*subject)) AddSubject(index, SubjectOf(subject->group, single.value));
}

// Many constants that are no subjects are told as an execution only: else one statement with lists of them, which count
// for nothing, would leave no room for what is told after it.
void ReachTracker::Tell(const Form& form, const SessionJournal::Asked& asked) {
  if (journal_ != nullptr) journal_->Write(asked);
  if (day_ == nullptr || !form.counts) return;
  const bool whole = asked.size <= kMostToldWords && (asked.size <= kManyToldWords || ComparesSubject(asked.groups));
  constexpr std::uint64_t kNone = 0;
  day_->Write(whole ? asked : SessionJournal::Asked{asked.id, asked.vector, &kNone, 1});
}

bool ReachTracker::ComparesSubject(const std::uint64_t* groups) {
  const std::uint64_t* at = groups;
  for (std::uint64_t left = *at++; left > 0; --left) {
    const std::uint64_t* comparisons = at + 1 + 2 * *at;
    for (const std::uint64_t* column = at + 1; column != comparisons; column += 2)
      if (subject_columns_.Find(column[1]) != nullptr) return true;
    at = EndOfComparisons(comparisons);
  }
  return false;
}

void ReachTracker::Replay(const ReachTracker& before, const Model& model,
                          const std::function<const Tokens&(AbstractionId)>& tokens_of) {
  const auto replayed = [&](const Form& form) { return FormOf(model, form.id, tokens_of(form.id)); };
  subjects_.Reserve(before.subjects_.size());
  before.subjects_.ForEach([&](std::uint64_t subject, const Asked& asked) {
    if (asked.form == 0) return;
    const Form& form = before.forms_[asked.form - 1];
    const std::uint64_t value = ValueOf(*form.single_group, subject);
    ObserveSingle(replayed(form), FoldHash(0, value), {form.single, value});
  });
  const std::uint64_t* at = before.log_.data();
  const std::uint64_t* end = at + before.log_.size();
  while (at != end) {
    const Form& form = before.forms_[*at++];
    const std::uint32_t index = replayed(form);
    day_ = form.counts ? nullptr : before.day_;
    resolved_.vector = *at++;
    const std::uint64_t* groups = at;
    at = EndOfGroups(groups);
    resolved_.groups.assign(groups, at);
    Observe(index, resolved_);
  }
  day_ = before.day_;
  if (!before.log_is_full_) return;
  log_is_full_ = true;
  for (int figure = 0; figure < kReachFigureCount; ++figure)
    Raise(figure, static_cast<std::size_t>(before.figures_.values[figure]));
  figures_.addressed = std::max(figures_.addressed, before.figures_.addressed);
  figures_.person = std::max(figures_.person, before.figures_.person);
}

void ReachTracker::WriteAll(SessionJournal& journal) const {
  subjects_.ForEach([&](std::uint64_t subject, const Asked& asked) {
    if (asked.form == 0) return;
    const Form& form = forms_[asked.form - 1];
    journal.Write(SessionJournal::Subject{form.id, form.single, ValueOf(*form.single_group, subject)});
  });
  const std::uint64_t* at = log_.data();
  const std::uint64_t* end = at + log_.size();
  while (at != end) {
    const Form& form = forms_[at[0]];
    const std::uint64_t vector = at[1];
    const std::uint64_t* groups = at + 2;
    at = EndOfGroups(groups);
    if (form.counts)
      journal.Write(SessionJournal::Asked{form.id, vector, groups, static_cast<std::size_t>(at - groups)});
  }
}

void ReachTracker::TakeAsked(std::uint32_t form, const SessionJournal::Asked& asked) {
  // One comparison may be remembered with its subject, from an execution that another tracker has written otherwise.
  const std::uint64_t* groups = asked.groups;
  constexpr std::size_t kSingleSize = 7;
  if (asked.size == kSingleSize && groups[0] == 1 && groups[1] == 1 && groups[4] == 1 && groups[5] == 1) {
    ObserveSingle(form, asked.vector, {{static_cast<std::uint32_t>(groups[2]), groups[3]}, groups[6]});
    return;
  }
  resolved_.vector = asked.vector;
  resolved_.groups.assign(groups, groups + asked.size);
  Observe(form, resolved_);
}

void ReachTracker::TakeSubject(std::uint32_t form, const SessionJournal::Subject& subject) {
  ObserveSingle(form, FoldHash(0, subject.value), {subject.column, subject.value});
}

std::uint32_t ReachTracker::FormOf(const Model& model, AbstractionId id, const Tokens& tokens) {
  const auto found = form_ids_.find(id);
  if (found != form_ids_.end()) return found->second;
  Form form;
  form.id = id;
  const AttributeSet of_one = OfOneSubject(model, tokens);
  form.counts = !of_one.empty() || !model.Revealed(tokens, true).empty();
  for (const AttributeId column : UnionOf(of_one, model.Revealed(tokens, where_counts_)))
    if (!model.attributes()[column].identifier) form.columns.push_back(column);
  const auto index = static_cast<std::uint32_t>(forms_.size());
  form.questions = {index, static_cast<std::uint32_t>(form.columns.size()), 0};
  forms_.push_back(std::move(form));
  form_ids_.emplace(id, index);
  return index;
}

// Remembers a vector of a statement as seen; false when there is no room.
bool ReachTracker::Remember(std::uint32_t index, FlatSet::Slot& free, std::uint64_t key) {
  Form& form = forms_[index];
  if (!HasRoom(form)) return false;
  if (!form.counts && unprotected_ >= kMostUnprotectedVectors) return false;
  seen_.Insert(free, key, {});
  ++form.vectors;
  if (!form.counts) ++unprotected_;
  return true;
}

// For each execution the statement, its vector and its groups.
void ReachTracker::Log(std::uint64_t form, std::uint64_t vector, const std::uint64_t* groups, std::size_t size) {
  if (log_is_full_ || log_.size() + 2 + size > kMostLogWords) {
    log_is_full_ = true;
    return;
  }
  log_.push_back(form);
  log_.push_back(vector);
  log_.insert(log_.end(), groups, groups + size);
}

// The subjects that one execution asks about.
void ReachTracker::AddSubjects(std::uint32_t index, const std::vector<std::uint64_t>& groups) {
  compared_.clear();
  const std::uint64_t* at = groups.data();
  for (std::uint64_t left = *at++; left > 0; --left) {
    const std::uint64_t* column = at + 1;
    const std::uint64_t* comparisons = column + 2 * *at;
    for (; column != comparisons; column += 2)
      if (const SubjectColumn* subject = subject_columns_.Find(column[1]))
        compared_.push_back({column[0], *subject, comparisons});
    at = EndOfComparisons(comparisons);
  }
  if (compared_.size() > 1)
    std::stable_sort(compared_.begin(), compared_.end(),
                     [](const Compared& a, const Compared& b) { return a.item < b.item; });
  const Compared* end = compared_.data() + compared_.size();
  for (const Compared *begin = compared_.data(), *next = begin; begin != end; begin = next) {
    while (next != end && next->item == begin->item) ++next;
    AddSubjectsOfItem(index, begin, next);
  }
}

// Those of one FROM item.
void ReachTracker::AddSubjectsOfItem(std::uint32_t index, const Compared* begin, const Compared* end) {
  const SubjectColumn& any = begin->column;
  if (IsWhole(any) && end - begin == 1) {
    const std::uint64_t* at = begin->comparisons;
    for (std::uint64_t left = *at++; left > 0; --left)
      for (std::uint64_t values = *at++; values > 0; --values) AddSubject(index, SubjectOf(any.group, *at++));
    return;
  }
  std::vector<const std::uint64_t*> given(any.size, nullptr);
  for (const Compared* compared = begin; compared != end; ++compared)
    if (compared->column.position < any.size) given[compared->column.position] = compared->comparisons;
  if (std::find(given.begin(), given.end(), nullptr) != given.end()) return;
  std::vector<Comparisons> positions;
  for (const std::uint64_t* comparisons : given) positions.push_back(ValuesOf(comparisons));
  const auto group = static_cast<std::uint64_t>(any.group);
  for (const std::uint64_t value : Combine(positions)) AddSubject(index, FoldHash(group, value));
}

// A statement asks about a subject.
void ReachTracker::AddSubject(std::uint32_t index, std::uint64_t subject) {
  auto& slot = subjects_.SlotOf(subject);
  Asked* asked = &slot.value;
  if (slot.key == 0) {
    if (subjects_.size() >= kMostSubjects) return;
    asked = subjects_.Insert(slot, subject, {});
    Raise(kSubjects, subjects_.size());
    NoteChange(subject);
  }
  AddQuestion(index, subject, *asked);
  const auto set = SetWith(asked->set, index);
  if (!set || *set == asked->set) return;
  asked->set = *set;
  NoteChange(subject);
}

void ReachTracker::Know(const KnownSubject& known) {
  auto& slot = subjects_.SlotOf(known.subject);
  Asked* asked = &slot.value;
  if (slot.key == 0) {
    if (subjects_.size() >= kMostSubjects) return;
    asked = subjects_.Insert(slot, known.subject, {});
    Raise(kSubjects, subjects_.size());
  }
  if (const auto set = NumberOf(UnionOf(sets_[asked->set], known.columns))) asked->set = *set;
}

std::vector<ReachTracker::KnownSubject> ReachTracker::TakeChanged() {
  SortUnique(changed_);
  std::vector<KnownSubject> all;
  all.reserve(changed_.size());
  for (const std::uint64_t subject : changed_) all.push_back(KnownOf(subject));
  changed_.clear();
  return all;
}

std::vector<ReachTracker::KnownSubject> ReachTracker::ChangedAfter(std::size_t changes) {
  std::vector<std::uint64_t> subjects(changed_.begin() + static_cast<std::ptrdiff_t>(changes), changed_.end());
  SortUnique(subjects);
  std::vector<KnownSubject> all;
  all.reserve(subjects.size());
  for (const std::uint64_t subject : subjects) all.push_back(KnownOf(subject));
  return all;
}

// The number of the set with the columns of a statement added; none when there is no room, but the figure knows of it.
std::optional<std::uint32_t> ReachTracker::SetWith(std::uint32_t set, std::uint32_t index) {
  const std::uint64_t step = static_cast<std::uint64_t>(set) << 32U | index;
  if (const std::uint32_t* known = steps_.Find(step)) return *known;
  const auto result = NumberOf(UnionOf(sets_[set], forms_[index].columns));
  if (result && steps_.size() < kMostVectors) steps_.Insert(step, *result);
  return result;
}

// The number of a set that is revealed of some subject; likewise.
std::optional<std::uint32_t> ReachTracker::NumberOf(AttributeSet set) {
  Raise(kSubjectColumns, set.size());
  const auto interned = set_ids_.find(set);
  if (interned != set_ids_.end()) return interned->second;
  if (sets_.size() >= kMostColumnSets) return std::nullopt;
  const auto number = static_cast<std::uint32_t>(sets_.size());
  sets_.push_back(set);
  set_ids_.emplace(std::move(set), number);
  return number;
}

}  // namespace privacy_score
