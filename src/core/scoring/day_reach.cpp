/*
 * day_reach.cpp - see day_reach.hpp.
 */
#include "core/scoring/day_reach.hpp"

#include <algorithm>
#include <cstring>
#include <functional>

#include "core/base/characters.hpp"
#include "core/base/error.hpp"
#include "core/base/joined.hpp"
#include "core/base/sort_unique.hpp"
#include "core/scoring/live_scorer.hpp"

namespace privacy_score {

namespace {

// In hexadecimal digits.
constexpr std::size_t kHashDigits = 16;
constexpr std::size_t kSetDigits = 4;
constexpr std::size_t kSubjectDigits = kHashDigits + kSetDigits;
constexpr std::size_t kItemDigits = 8;
// Before a statement that stands among columns; no name begins with it.
constexpr char kAskerMark = '=';
constexpr std::size_t kAskerDigits = 2 * kHashDigits + kItemDigits;

void PutNumber(std::string& to, std::uint64_t number, std::size_t digits) {
  for (std::size_t i = digits; i > 0; --i) to.push_back("0123456789abcdef"[number >> 4 * (i - 1) & 0xfU]);
}

bool IsAsker(const std::string& name) { return !name.empty() && name[0] == kAskerMark; }

std::uint64_t GetNumber(std::string_view from) {
  std::uint64_t number = 0;
  for (const char digit : from) {
    const int value = HexValue(digit);
    if (value < 0) throw DamagedData("stored subjects");
    number = number << 4U | static_cast<unsigned>(value);
  }
  return number;
}

// Calls `visit` with each subject and the number of its set.
template <typename Visit>
void EachSubject(const StoredSubjects& stored, const Visit& visit) {
  if (stored.subjects.size() % kSubjectDigits != 0) throw DamagedData("stored subjects");
  for (std::string_view rest = stored.subjects; !rest.empty(); rest.remove_prefix(kSubjectDigits)) {
    const std::uint64_t set = GetNumber(rest.substr(kHashDigits, kSetDigits));
    if (set >= stored.sets.size()) throw DamagedData("stored subjects");
    visit(GetNumber(rest.substr(0, kHashDigits)), static_cast<std::size_t>(set));
  }
}

std::string KeyOf(const std::string& principal, std::int32_t day) { return std::to_string(day) + ' ' + principal; }

}  // namespace

std::int64_t MostKnown(const StoredSubjects& subjects, const std::vector<StoredSubjects>& earlier) {
  std::unordered_map<std::uint64_t, std::vector<std::string>> known;
  const auto take = [&](const StoredSubjects& stored, bool of_earlier) {
    std::vector<std::vector<std::string>> sets;
    for (const std::string& names : stored.sets) {
      sets.push_back(names.empty() ? std::vector<std::string>() : Parted(names, kAttributeSeparator));
      sets.back().erase(std::remove_if(sets.back().begin(), sets.back().end(), IsAsker), sets.back().end());
    }
    EachSubject(stored, [&](std::uint64_t subject, std::size_t set) {
      if (of_earlier && known.count(subject) == 0) return;
      std::vector<std::string>& columns = known[subject];
      columns.insert(columns.end(), sets[set].begin(), sets[set].end());
    });
  };
  take(subjects, false);
  if (known.empty()) return 0;
  for (const StoredSubjects& day : earlier) take(day, true);
  std::size_t most = 0;
  for (auto& [subject, columns] : known) {
    SortUnique(columns);
    most = std::max(most, columns.size());
  }
  return static_cast<std::int64_t>(most);
}

DayReach::Day::Day(std::shared_ptr<const Model> model, bool where_counts, const ReachFigures& stored)
    : model_(std::move(model)),
      where_counts_(where_counts),
      stored_(stored),
      tracker_(std::make_unique<ReachTracker>(*model_, where_counts)) {
  tracker_->KeepChanged();
}

void DayReach::Day::Know(const StoredSubjects& stored) {
  Reckon(stored);
  known_.push_back(stored);
}

void DayReach::Day::Reckon(const StoredSubjects& stored) {
  std::vector<AttributeSet> sets;
  std::vector<std::vector<Asker>> askers(stored.sets.size());
  for (const std::string& names : stored.sets) {
    AttributeSet set;
    for (const std::string& name : Parted(names, kAttributeSeparator)) {
      if (IsAsker(name)) {
        if (name.size() != 1 + kAskerDigits) throw DamagedData("stored subjects");
        const std::string_view digits = std::string_view(name).substr(1);
        askers[sets.size()].push_back({static_cast<AbstractionId>(GetNumber(digits.substr(0, kHashDigits))),
                                       {static_cast<std::uint32_t>(GetNumber(digits.substr(2 * kHashDigits))),
                                        GetNumber(digits.substr(kHashDigits, kHashDigits))}});
      } else if (const auto attribute = model_->FindAttribute(name)) {
        set.push_back(*attribute);
      }
    }
    SortUnique(set);
    sets.push_back(std::move(set));
  }
  EachSubject(stored, [&](std::uint64_t subject, std::size_t set) {
    tracker_->Know({subject, sets[set]});
    stored_subjects_.insert(subject);
    for (const Asker& asker : askers[set]) AddAlone(subject, asker);
  });
}

void DayReach::Day::KnowSketch(std::string_view sketch) {
  std::string bytes;
  for (std::size_t at = 0; at + 2 <= sketch.size(); at += 2)
    bytes.push_back(static_cast<char>(GetNumber(sketch.substr(at, 2))));
  tracker_->TakeSubjects(DistinctSketch(bytes));
  stored_sketch_ = std::move(bytes);
}

std::string DayReach::Day::TakeChangedSketch() {
  std::string digits;
  if (tracker_->subject_sketch() == nullptr) return digits;
  std::string bytes = tracker_->subject_sketch()->Bytes();
  if (bytes == stored_sketch_) return digits;
  for (const char byte : bytes) PutNumber(digits, static_cast<unsigned char>(byte), 2);
  stored_sketch_ = std::move(bytes);
  return digits;
}

// Notes that a statement has asked with a subject alone.
void DayReach::Day::NoteAlone(AbstractionId id, const ComparedColumn& column, std::uint64_t value) {
  const auto subject = tracker_->SubjectOf(column, value);
  if (subject && AddAlone(*subject, {id, column})) tracker_->Renew(*subject);
}

bool DayReach::Day::AddAlone(std::uint64_t subject, const Asker& asker) {
  const auto known = alone_.find(subject);
  if (known != alone_.end()) {
    const std::vector<Asker>& askers = known->second;
    if (std::any_of(askers.begin(), askers.end(), [&](const Asker& each) { return each.id == asker.id; })) return false;
  }
  if (alone_count_ == kMostStoredAlone || (known == alone_.end() && alone_.size() == kMostStoredSubjects)) return false;
  alone_[subject].push_back(asker);
  ++alone_count_;
  return true;
}

bool DayReach::Day::Judge(std::shared_ptr<const Model> model, const DayReach& reach) {
  struct NotKnown {};
  const auto before = std::move(tracker_);
  const ReachFigures& figures = before->figures();
  Raise(figures);
  model_ = std::move(model);
  tracker_ = std::make_unique<ReachTracker>(*model_, where_counts_);
  tracker_->KeepChanged();
  try {
    tracker_->Replay(*before, *model_, [&](AbstractionId id) -> const Tokens& {
      const Tokens* tokens = reach.FindTokens(id);
      if (tokens == nullptr) throw NotKnown();
      return *tokens;
    });
  } catch (const NotKnown&) {
    return false;
  }
  for (const StoredSubjects& part : known_) Reckon(part);
  return true;
}

void DayReach::Day::Raise(const ReachFigures& of_session) {
  for (int i = 0; i < kReachFigureCount; ++i) stored_.values[i] = std::max(stored_.values[i], of_session.values[i]);
}

ReachFigures DayReach::Day::Figures() const {
  ReachFigures figures = tracker_->figures();
  for (int i = 0; i < kReachFigureCount; ++i) figures.values[i] = std::max(figures.values[i], stored_.values[i]);
  return figures;
}

StoredSubjects DayReach::Day::Written(const std::vector<ReachTracker::KnownSubject>& subjects) const {
  StoredSubjects part;
  std::unordered_map<std::string, std::size_t> places;
  for (const ReachTracker::KnownSubject& known : subjects) {
    std::vector<std::string> names = model_->NamesOf(known.columns);
    if (const auto askers = alone_.find(known.subject); askers != alone_.end()) {
      for (const Asker& asker : askers->second) {
        names.emplace_back(1, kAskerMark);
        PutNumber(names.back(), static_cast<std::uint64_t>(asker.id), kHashDigits);
        PutNumber(names.back(), asker.column.name, kHashDigits);
        PutNumber(names.back(), asker.column.item, kItemDigits);
      }
    }
    const auto [place, fresh] = places.emplace(Joined(names, {&kAttributeSeparator, 1}), part.sets.size());
    if (fresh) part.sets.push_back(place->first);
    PutNumber(part.subjects, known.subject, kHashDigits);
    PutNumber(part.subjects, place->second, kSetDigits);
  }
  return part;
}

// Whether a subject of which so many columns are known takes the place of one of which fewer are: who lists thousands
// first is not free to ask about one of the others then. `least`: of those that are stored, the least known last.
bool DayReach::Day::TakesPlace(std::size_t columns, std::vector<std::pair<std::size_t, std::uint64_t>>& least) {
  if (least.empty() || least.back().first >= columns) return false;
  const std::uint64_t subject = least.back().second;
  least.pop_back();
  stored_subjects_.erase(subject);
  if (const auto askers = alone_.find(subject); askers != alone_.end()) {
    alone_count_ -= askers->second.size();
    alone_.erase(askers);
  }
  replaces_ = true;
  return true;
}

StoredSubjects DayReach::Day::TakeChanged() {
  replaces_ = false;
  std::vector<ReachTracker::KnownSubject> changed;
  std::vector<std::pair<std::size_t, std::uint64_t>> least;
  bool looked = false;
  for (ReachTracker::KnownSubject& known : tracker_->TakeChanged()) {
    if (stored_subjects_.count(known.subject) == 0 && stored_subjects_.size() >= kMostStoredSubjects) {
      if (!looked)
        for (const std::uint64_t subject : stored_subjects_)
          least.emplace_back(tracker_->KnownOf(subject).columns.size(), subject);
      if (!looked) std::sort(least.begin(), least.end(), std::greater<>());
      looked = true;
      if (!TakesPlace(known.columns.size(), least)) continue;
    }
    stored_subjects_.insert(known.subject);
    changed.push_back(std::move(known));
  }
  return Written(changed);
}

StoredSubjects DayReach::Day::All() const {
  std::vector<ReachTracker::KnownSubject> all;
  for (const std::uint64_t subject : stored_subjects_) all.push_back(tracker_->KnownOf(subject));
  return Written(all);
}

// Reads what sessions tell of a day.
struct DayReach::JournalReader {
  const DayReach& reach;
  Day& day;

  std::uint32_t FormOf(AbstractionId id) const {
    const Tokens* tokens = reach.FindTokens(id);
    if (tokens == nullptr) throw DamagedData("journal of a day");
    return day.tracker_->FormOf(*day.model_, id, *tokens);
  }
  void Take(const SessionJournal::Definition&) const {}
  void Take(const SessionJournal::Met&) const {}
  void Take(const SessionJournal::Asked& asked) const {
    const std::uint32_t form = FormOf(asked.id);
    day.tracker_->TakeAsked(form, asked);
    const auto alone = ReachTracker::OnlyConstant(asked);
    if (alone && day.tracker_->Counts(form)) day.NoteAlone(asked.id, alone->column, alone->value);
  }
  void Take(const SessionJournal::Subject& subject) const {
    const std::uint32_t form = FormOf(subject.id);
    day.tracker_->TakeSubject(form, subject);
    if (day.tracker_->Counts(form)) day.NoteAlone(subject.id, subject.column, subject.value);
  }
  void Take(const SessionJournal::Reached& reached) const { day.tracker_->TakeReached(reached); }
  void Take(const SessionJournal::Sketch& sketch) const {
    if (sketch.of_subjects)
      day.tracker_->TakeSubjects(DistinctSketch(sketch.bytes));
    else
      day.tracker_->TakeVectors(FormOf(sketch.id), sketch);
  }
};

void DayReach::Load(const ModelSource& source) {
  auto model = std::make_shared<const Model>(Model::Parse(source));
  // The abstractions of the model before are those of its baselines, and need not be those of this one.
  if (!days_.empty()) model_->ForEachTokens([&](AbstractionId id, const Tokens& tokens) { Define(id, tokens); });
  model_ = std::move(model);
  for (auto at = days_.begin(); at != days_.end();) {
    if (at->day.Judge(model_, *this)) {
      ++at;
      continue;
    }
    places_.erase(at->key);
    at = days_.erase(at);
  }
}

const Tokens* DayReach::FindTokens(AbstractionId id) const {
  const auto found = defined_.find(id);
  return found == defined_.end() ? model_->FindTokens(id) : &found->second;
}

std::vector<AbstractionId> DayReach::Unknown(const std::vector<std::uint64_t>& words) const {
  struct Reader {
    const DayReach& reach;
    std::vector<AbstractionId> ids;
    void Note(AbstractionId id) {
      if (reach.FindTokens(id) == nullptr) ids.push_back(id);
    }
    void Take(const SessionJournal::Definition&) const {}
    void Take(const SessionJournal::Met&) const {}
    void Take(const SessionJournal::Asked& asked) { Note(asked.id); }
    void Take(const SessionJournal::Subject& subject) { Note(subject.id); }
    void Take(const SessionJournal::Reached&) const {}
    void Take(const SessionJournal::Sketch& sketch) {
      if (!sketch.of_subjects) Note(sketch.id);
    }
  };
  Reader reader = {*this, {}};
  SessionJournal::Read(words.data(), words.size(), reader);
  SortUnique(reader.ids);
  return std::move(reader.ids);
}

void DayReach::Define(AbstractionId id, Tokens tokens) {
  const std::size_t bytes = LiveScorer::BytesOf(tokens);
  if (defined_.emplace(id, std::move(tokens)).second) defined_bytes_ += bytes;
}

DayReach::Day* DayReach::Find(const std::string& principal, std::int32_t day) {
  const auto found = places_.find(KeyOf(principal, day));
  if (found == places_.end()) return nullptr;
  days_.splice(days_.begin(), days_, found->second);
  return &found->second->day;
}

DayReach::Day* DayReach::Begin(const std::string& principal, std::int32_t day, bool where_counts,
                               const ReachFigures& stored) {
  Forget(principal, day);
  std::string key = KeyOf(principal, day);
  days_.push_front({key, Day(model_, where_counts, stored)});
  places_.emplace(std::move(key), days_.begin());
  return &days_.front().day;
}

void DayReach::Forget(const std::string& principal, std::int32_t day) {
  const auto found = places_.find(KeyOf(principal, day));
  if (found == places_.end()) return;
  days_.erase(found->second);
  places_.erase(found);
}

void DayReach::Take(Day* day, const std::vector<std::uint64_t>& words) {
  JournalReader reader = {*this, *day};
  SessionJournal::Read(words.data(), words.size(), reader);
}

ReachFigures DayReach::FiguresOf(const std::vector<std::uint64_t>& words, bool where_counts) const {
  Day session(model_, where_counts, {});
  JournalReader reader = {*this, session};
  SessionJournal::Read(words.data(), words.size(), reader);
  return session.tracker_->figures();
}

std::vector<AbstractionId> DayReach::UnknownAlone(const Day* day) const {
  std::vector<AbstractionId> ids;
  for (const auto& [subject, askers] : day->alone_)
    for (const Day::Asker& asker : askers)
      if (FindTokens(asker.id) == nullptr) ids.push_back(asker.id);
  SortUnique(ids);
  return ids;
}

void DayReach::TakeAlone(Day* day) {
  for (const auto& [subject, askers] : day->alone_) {
    for (const Day::Asker& asker : askers) {
      const Tokens* tokens = FindTokens(asker.id);
      const auto value = day->tracker_->ValueOf(asker.column, subject);
      if (tokens == nullptr || !value) continue;
      day->tracker_->TakeSubject(day->tracker_->FormOf(*day->model_, asker.id, *tokens),
                                 {asker.id, asker.column, *value});
    }
  }
}

std::vector<std::uint64_t> DayReach::Save(std::size_t most) const {
  std::vector<std::uint64_t> saved;
  const auto save = [&](const std::string& key, const std::vector<std::uint64_t>& words) {
    const std::size_t key_words = (key.size() + sizeof(std::uint64_t) - 1) / sizeof(std::uint64_t);
    if (saved.size() + 2 + key_words + words.size() > most) return false;
    saved.push_back(key.size());
    saved.push_back(words.size());
    const std::size_t at = saved.size();
    saved.resize(at + key_words);
    std::memcpy(&saved[at], key.data(), key.size());
    saved.insert(saved.end(), words.begin(), words.end());
    return true;
  };
  for (const Remembered& each : days_) {
    SessionJournal journal;
    each.day.tracker_->WriteAll(journal, false);
    if (save(each.key, journal.words())) continue;
    journal.Clear();
    each.day.tracker_->WriteAll(journal, true);
    save(each.key, journal.words());
  }
  // Those of which nobody has told since.
  for (const auto& [key, words] : restored_)
    if (places_.count(key) == 0) save(key, words);
  return saved;
}

void DayReach::Restore(const std::vector<std::uint64_t>& saved) {
  for (std::size_t at = 0; at != saved.size();) {
    const std::size_t left = saved.size() - at;
    if (left < 2 || saved[at] > left * sizeof(std::uint64_t) || saved[at + 1] > left) throw DamagedData("saved days");
    const std::size_t bytes = saved[at];
    const std::size_t words = saved[at + 1];
    const std::size_t key_words = (bytes + sizeof(std::uint64_t) - 1) / sizeof(std::uint64_t);
    if (2 + key_words + words > left) throw DamagedData("saved days");
    std::string key(bytes, '\0');
    std::memcpy(key.data(), &saved[at] + 2, bytes);
    const auto from = saved.begin() + static_cast<std::ptrdiff_t>(at + 2 + key_words);
    restored_[std::move(key)].assign(from, from + static_cast<std::ptrdiff_t>(words));
    at += 2 + key_words + words;
  }
}

std::vector<std::uint64_t> DayReach::TakeRestored(const std::string& principal, std::int32_t day) {
  const auto found = restored_.find(KeyOf(principal, day));
  if (found == restored_.end() || places_.count(found->first) > 0) return {};
  std::vector<std::uint64_t> words = std::move(found->second);
  restored_.erase(found);
  return words;
}

void DayReach::MakeRoom() {
  std::size_t held = 0;
  for (const Remembered& each : days_) held += each.day.size();
  while (held > most_ && days_.size() > 1) {
    held -= days_.back().day.size();
    places_.erase(days_.back().key);
    days_.pop_back();
  }
  // Trackers have made of them what they need.
  if (defined_bytes_ > LiveScorer::kMostBytes) {
    defined_.clear();
    defined_bytes_ = 0;
  }
}

}  // namespace privacy_score
