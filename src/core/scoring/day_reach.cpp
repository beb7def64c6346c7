/*
 * day_reach.cpp - see day_reach.hpp.
 */
#include "core/scoring/day_reach.hpp"

#include <algorithm>
#include <cstring>

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

void PutNumber(std::string& to, std::uint64_t number, std::size_t digits) {
  for (std::size_t i = digits; i > 0; --i) to.push_back("0123456789abcdef"[number >> 4 * (i - 1) & 0xfU]);
}

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
    for (const std::string& names : stored.sets)
      sets.push_back(names.empty() ? std::vector<std::string>() : Parted(names, kAttributeSeparator));
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
  for (const std::string& names : stored.sets) {
    AttributeSet set;
    for (const std::string& name : Parted(names, kAttributeSeparator))
      if (const auto attribute = model_->FindAttribute(name)) set.push_back(*attribute);
    SortUnique(set);
    sets.push_back(std::move(set));
  }
  EachSubject(stored, [&](std::uint64_t subject, std::size_t set) {
    tracker_->Know({subject, sets[set]});
    stored_subjects_.insert(subject);
  });
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
  std::unordered_map<AttributeSet, std::size_t, AttributeSetHash> places;
  for (const ReachTracker::KnownSubject& known : subjects) {
    const auto [place, fresh] = places.emplace(known.columns, part.sets.size());
    if (fresh) part.sets.push_back(Joined(model_->NamesOf(known.columns), {&kAttributeSeparator, 1}));
    PutNumber(part.subjects, known.subject, kHashDigits);
    PutNumber(part.subjects, place->second, kSetDigits);
  }
  return part;
}

StoredSubjects DayReach::Day::TakeChanged() {
  std::vector<ReachTracker::KnownSubject> changed;
  for (ReachTracker::KnownSubject& known : tracker_->TakeChanged()) {
    if (stored_subjects_.count(known.subject) == 0 && stored_subjects_.size() >= kMostStoredSubjects) continue;
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
  void Take(const SessionJournal::Asked& asked) const { day.tracker_->TakeAsked(FormOf(asked.id), asked); }
  void Take(const SessionJournal::Subject& subject) const { day.tracker_->TakeSubject(FormOf(subject.id), subject); }
};

void DayReach::Load(std::string_view model_wire) {
  auto model = std::make_shared<const Model>(Model::Parse(model_wire));
  // The abstractions of the model before are those of its baselines, and need not be those of this one.
  for (const auto& [id, tokens] : model_->tokens())
    if (!days_.empty()) Define(id, tokens);
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

std::vector<std::uint64_t> DayReach::Save(std::size_t most) const {
  std::vector<std::uint64_t> saved;
  const auto save = [&](const std::string& key, const std::vector<std::uint64_t>& words) {
    const std::size_t key_words = (key.size() + sizeof(std::uint64_t) - 1) / sizeof(std::uint64_t);
    if (saved.size() + 2 + key_words + words.size() > most) return;
    saved.push_back(key.size());
    saved.push_back(words.size());
    const std::size_t at = saved.size();
    saved.resize(at + key_words);
    std::memcpy(&saved[at], key.data(), key.size());
    saved.insert(saved.end(), words.begin(), words.end());
  };
  for (const Remembered& each : days_) {
    SessionJournal journal;
    each.day.tracker_->WriteAll(journal);
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
