/*
 * reach.cpp - the figures of reach.hpp.
 */
#include "core/scoring/reach.hpp"

#include <algorithm>
#include <iterator>
#include <unordered_set>

#include "core/base/keyed_hash.hpp"
#include "core/base/sort_unique.hpp"
#include "core/scoring/aggregates.hpp"
#include "core/scoring/constant_groups.hpp"

namespace privacy_score {

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
  if (IsExact(form))
    Raise(kReach, form.vectors);
  else
    CountVector(index, VectorOf(ValueOf(*form.single_group, subject)), true);
  CountFirst(subject);
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
  bool is_new = Remember(index, free, key);
  const Form& form = forms_[index];
  if (is_new) Log(index, constants.vector, constants.groups.data(), constants.groups.size());
  if (form.counts) {
    const bool remembered = is_new;
    is_new |= CountVector(index, constants.vector, remembered);
    const bool of_subjects = AddSubjects(index, constants.groups);
    log_is_cut_ |= of_subjects && !remembered;
    is_new |= of_subjects;
  }
  if (is_new) Tell(form, {form.id, constants.vector, constants.groups.data(), constants.groups.size()});
}

// The same for one comparison.
void ReachTracker::TakeSingle(std::uint32_t index, FlatSet::Slot& free, std::uint64_t key, std::uint64_t vector,
                              const SingleComparison& single) {
  const std::uint64_t groups[] = {1, 1, single.column.item, single.column.name, 1, 1, single.value};
  bool is_new = Remember(index, free, key);
  const Form& form = forms_[index];
  if (is_new) Log(index, vector, groups, std::size(groups));
  if (form.counts) {
    const bool remembered = is_new;
    is_new |= CountVector(index, vector, remembered);
    const SubjectColumn* subject = subject_columns_.Find(single.column.name);
    const bool of_subject =
        subject != nullptr && IsWhole(*subject) && AddSubject(index, SubjectOf(subject->group, single.value));
    log_is_cut_ |= of_subject && !remembered;
    is_new |= of_subject;
  }
  if (is_new) Tell(form, {form.id, vector, groups, std::size(groups)});
}

// Counts a vector of a statement, which may be remembered already; true when a sketch knows more by it.
bool ReachTracker::CountVector(std::uint32_t index, std::uint64_t vector, bool remembered) {
  Form& form = forms_[index];
  form.is_many |= form.vectors > kMostExact;
  if ((remembered && IsExact(form)) || (!form.sketch && !BeginSketch(index))) {
    Raise(kReach, form.vectors);
    return false;
  }
  const bool raised = form.sketch->Add(FoldHash(0, vector));
  if (raised) RaiseReach(form);
  return raised;
}

// Makes the sketch of a statement of the vectors that are remembered; false when there are too many sketches.
bool ReachTracker::BeginSketch(std::uint32_t index) {
  Form& form = forms_[index];
  if (sketches_ == kMostSketches) return false;
  form.sketch = std::make_unique<DistinctSketch>();
  ++sketches_;
  subjects_.ForEach([&](std::uint64_t subject, const Asked& asked) {
    if (asked.form == index + 1) form.sketch->Add(FoldHash(0, VectorOf(ValueOf(*form.single_group, subject))));
  });
  const std::uint64_t* at = log_.data();
  const std::uint64_t* end = at + log_.size();
  for (; at != end; at = EndOfGroups(at + 2))
    if (at[0] == index) form.sketch->Add(FoldHash(0, at[1]));
  RaiseReach(form);
  return true;
}

// Counts one of many subjects, which may be among those that are remembered; true when the sketch knows more by it.
bool ReachTracker::CountSubject(std::uint64_t subject) {
  if (!subject_sketch_) BeginSubjectSketch();
  const bool raised = subject_sketch_->Add(FoldHash(0, subject));
  if (raised) Raise(kSubjects, Estimated(*subject_sketch_, kMostExact + 1));
  return raised;
}

void ReachTracker::BeginSubjectSketch() {
  subject_sketch_ = std::make_unique<DistinctSketch>();
  subjects_.ForEach([&](std::uint64_t subject, const Asked&) { subject_sketch_->Add(FoldHash(0, subject)); });
  Raise(kSubjects, Estimated(*subject_sketch_, kMostExact + 1));
}

// Many constants that are no subjects are told as an execution only: else one statement with lists of them, which count
// for nothing, would leave no room for what is told after it.
void ReachTracker::Tell(const Form& form, const SessionJournal::Asked& asked) {
  if (journal_ != nullptr) journal_->Write(asked);
  if (day_ == nullptr || (!form.counts && !tells_all_)) return;
  const bool whole =
      asked.size <= kMostToldWords && (asked.size <= kManyToldWords || tells_all_ || ComparesSubject(asked.groups));
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
    day_ = form.counts || before.tells_all_ ? nullptr : before.day_;
    resolved_.vector = *at++;
    const std::uint64_t* groups = at;
    at = EndOfGroups(groups);
    resolved_.groups.assign(groups, at);
    Observe(index, resolved_);
  }
  TellDay(before.day_, before.tells_all_);
  TakeReached({before.least_});
  for (const Form& form : before.forms_)
    if (form.sketch) MergeVectors(replayed(form), *form.sketch, form.is_many);
  // Where all subjects are remembered, those of this model are what counts.
  if (before.sketch_has_more_) TakeSubjects(*before.subject_sketch_);
  if (!before.log_is_cut_) return;
  log_is_cut_ = true;
  RaiseTo(before.figures_, figures_);
}

void ReachTracker::MergeVectors(std::uint32_t index, const DistinctSketch& sketch, bool is_many) {
  Form& form = forms_[index];
  if (!form.sketch && !BeginSketch(index)) return;
  form.is_many |= is_many;
  form.sketch->Merge(sketch);
  if (form.counts) RaiseReach(form);
}

void ReachTracker::TakeVectors(std::uint32_t form, const SessionJournal::Sketch& sketch) {
  MergeVectors(form, DistinctSketch(sketch.bytes), true);
}

void ReachTracker::TakeSubjects(const DistinctSketch& sketch) {
  if (!subject_sketch_) BeginSubjectSketch();
  sketch_has_more_ |= subject_sketch_->Merge(sketch);
  Raise(kSubjects, Estimated(*subject_sketch_, kMostExact + 1));
}

void ReachTracker::RaiseTo(const ReachFigures& least, ReachFigures& figures) {
  for (int figure = 0; figure < kReachFigureCount; ++figure)
    figures.values[figure] = std::max(figures.values[figure], least.values[figure]);
  figures.addressed = std::max(figures.addressed, least.addressed);
  figures.person = std::max(figures.person, least.person);
}

void ReachTracker::TakeReached(const SessionJournal::Reached& reached) {
  RaiseTo(reached.figures, least_);
  RaiseTo(reached.figures, figures_);
}

void ReachTracker::WriteAll(SessionJournal& journal, bool in_short) const {
  for (const Form& form : forms_)
    if (form.is_many && form.sketch && form.counts)
      journal.Write(SessionJournal::Sketch{form.id, false, form.sketch->Bytes()});
  if (subject_sketch_) journal.Write(SessionJournal::Sketch{0, true, subject_sketch_->Bytes()});
  const auto left_out = [&](const Form& form) { return in_short && form.is_many && form.sketch; };
  subjects_.ForEach([&](std::uint64_t subject, const Asked& asked) {
    if (asked.form == 0) return;
    const Form& form = forms_[asked.form - 1];
    if (left_out(form)) return;
    journal.Write(SessionJournal::Subject{form.id, form.single, ValueOf(*form.single_group, subject)});
  });
  const std::uint64_t* at = log_.data();
  const std::uint64_t* end = at + log_.size();
  while (at != end) {
    const Form& form = forms_[at[0]];
    const std::uint64_t vector = at[1];
    const std::uint64_t* groups = at + 2;
    at = EndOfGroups(groups);
    if (form.counts && !left_out(form))
      journal.Write(SessionJournal::Asked{form.id, vector, groups, static_cast<std::size_t>(at - groups)});
  }
}

// The only comparison of an execution.
std::optional<SingleComparison> ReachTracker::OnlyComparison(const SessionJournal::Asked& asked) {
  constexpr std::size_t kSingleSize = 7;
  const std::uint64_t* groups = asked.groups;
  if (asked.size != kSingleSize || groups[0] != 1 || groups[1] != 1 || groups[4] != 1 || groups[5] != 1)
    return std::nullopt;
  return SingleComparison{{static_cast<std::uint32_t>(groups[2]), groups[3]}, groups[6]};
}

std::optional<SingleComparison> ReachTracker::OnlyConstant(const SessionJournal::Asked& asked) {
  const auto single = OnlyComparison(asked);
  return single && asked.vector == VectorOf(single->value) ? single : std::nullopt;
}

void ReachTracker::TakeAsked(std::uint32_t form, const SessionJournal::Asked& asked) {
  // One comparison may be remembered with its subject, from an execution that another tracker has written otherwise.
  if (const auto single = OnlyComparison(asked)) {
    ObserveSingle(form, asked.vector, *single);
    return;
  }
  resolved_.vector = asked.vector;
  resolved_.groups.assign(asked.groups, asked.groups + asked.size);
  Observe(form, resolved_);
}

void ReachTracker::TakeSubject(std::uint32_t form, const SessionJournal::Subject& subject) {
  ObserveSingle(form, VectorOf(subject.value), {subject.column, subject.value});
}

std::uint32_t ReachTracker::FormOf(const Model& model, AbstractionId id, const Tokens& tokens) {
  const auto found = form_ids_.find(id);
  if (found != form_ids_.end()) return found->second;
  Form form;
  form.id = id;
  const AttributeSet of_one = OfOneSubject(model, tokens);
  const AttributeSet named = model.Revealed(tokens, true);
  form.counts = !of_one.empty() || !named.empty();
  for (const AttributeId column : UnionOf(of_one, where_counts_ ? named : model.Revealed(tokens, false)))
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

// For each execution the statement, its vector and its groups; none of these where they have no room.
void ReachTracker::Log(std::uint64_t form, std::uint64_t vector, const std::uint64_t* groups, std::size_t size) {
  constexpr std::uint64_t kNone = 0;
  const bool whole = log_.size() + 2 + size <= kMostLogWords;
  log_is_cut_ |= !whole;
  if (!whole && log_.size() + 3 > kMostLogWords + kMostBareWords) return;
  log_.push_back(form);
  log_.push_back(vector);
  log_.insert(log_.end(), whole ? groups : &kNone, whole ? groups + size : &kNone + 1);
}

// The subjects that one execution asks about; true when more is known by it.
bool ReachTracker::AddSubjects(std::uint32_t index, const std::vector<std::uint64_t>& groups) {
  bool more = false;
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
    more |= AddSubjectsOfItem(index, begin, next);
  }
  return more;
}

// Those of one FROM item.
bool ReachTracker::AddSubjectsOfItem(std::uint32_t index, const Compared* begin, const Compared* end) {
  bool more = false;
  const SubjectColumn& any = begin->column;
  if (IsWhole(any) && end - begin == 1) {
    const std::uint64_t* at = begin->comparisons;
    for (std::uint64_t left = *at++; left > 0; --left)
      for (std::uint64_t values = *at++; values > 0; --values) more |= AddSubject(index, SubjectOf(any.group, *at++));
    return more;
  }
  std::vector<const std::uint64_t*> given(any.size, nullptr);
  for (const Compared* compared = begin; compared != end; ++compared)
    if (compared->column.position < any.size) given[compared->column.position] = compared->comparisons;
  if (std::find(given.begin(), given.end(), nullptr) != given.end()) return false;
  std::vector<ComparedValues> positions;
  for (const std::uint64_t* comparisons : given) positions.push_back(ValuesOf(comparisons));
  const auto group = static_cast<std::uint64_t>(any.group);
  for (const std::uint64_t value : CombinedValues(positions)) more |= AddSubject(index, FoldHash(group, value));
  return more;
}

// A statement asks about a subject; true when it, or a column of it, is new.
bool ReachTracker::AddSubject(std::uint32_t index, std::uint64_t subject) {
  auto& slot = subjects_.SlotOf(subject);
  Asked* asked = &slot.value;
  const bool is_new = slot.key == 0;
  if (is_new) {
    if (subjects_.size() >= kMostSubjects) {
      const bool raised = CountSubject(subject);
      sketch_has_more_ |= raised;
      return raised;
    }
    asked = subjects_.Insert(slot, subject, {});
    CountFirst(subject);
    NoteChange(subject);
  }
  AddQuestion(index, subject, *asked);
  const auto set = SetWith(asked->set, index);
  if (!set || *set == asked->set) return is_new;
  asked->set = *set;
  NoteChange(subject);
  return true;
}

void ReachTracker::Know(const KnownSubject& known) {
  auto& slot = subjects_.SlotOf(known.subject);
  Asked* asked = &slot.value;
  if (slot.key == 0) {
    if (subjects_.size() >= kMostSubjects) return;
    asked = subjects_.Insert(slot, known.subject, {});
    CountFirst(known.subject);
  }
  if (const auto set = NumberOf(UnionOf(sets_[asked->set], known.columns))) asked->set = *set;
}

std::vector<ReachTracker::KnownSubject> ReachTracker::TakeChanged() {
  std::vector<KnownSubject> all;
  std::unordered_set<std::uint64_t> taken;
  for (const std::uint64_t subject : changed_)
    if (taken.insert(subject).second) all.push_back(KnownOf(subject));
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
