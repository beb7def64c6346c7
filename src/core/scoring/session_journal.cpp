/*
 * session_journal.cpp - see session_journal.hpp.
 */
#include "core/scoring/session_journal.hpp"

#include <algorithm>
#include <cstring>

#include "core/base/error.hpp"

namespace privacy_score {

namespace {

constexpr std::size_t kWord = sizeof(std::uint64_t);

std::size_t WordsOf(std::size_t bytes) { return (bytes + kWord - 1) / kWord; }

}  // namespace

void SessionJournal::Put(Kind kind, AbstractionId id) {
  words_.push_back(static_cast<std::uint64_t>(kind));
  words_.push_back(static_cast<std::uint64_t>(id));
}

void SessionJournal::PutText(std::string_view text) {
  const std::size_t from = words_.size();
  words_.resize(from + WordsOf(text.size()));
  if (!text.empty()) std::memcpy(&words_[from], text.data(), text.size());
}

void SessionJournal::Write(const Definition& definition) {
  Put(Kind::kDefinition, definition.id);
  words_.push_back(definition.tokens.size());
  PutText(definition.tokens);
}

void SessionJournal::Write(const Met& met) {
  words_.push_back(static_cast<std::uint64_t>(Kind::kMet));
  for (const AbstractionId id : met.ngram) words_.push_back(static_cast<std::uint64_t>(id));
  words_.push_back(met.count);
}

void SessionJournal::Write(const Asked& asked) {
  Put(Kind::kAsked, asked.id);
  words_.push_back(asked.vector);
  words_.push_back(asked.size);
  words_.insert(words_.end(), asked.groups, asked.groups + asked.size);
}

void SessionJournal::Write(const Subject& subject) {
  Put(Kind::kSubject, subject.id);
  words_.push_back(subject.column.item);
  words_.push_back(subject.column.name);
  words_.push_back(subject.value);
}

void SessionJournal::Write(const Reached& reached) {
  words_.push_back(static_cast<std::uint64_t>(Kind::kReached));
  for (const std::int64_t value : reached.figures.values) words_.push_back(static_cast<std::uint64_t>(value));
  words_.push_back(static_cast<std::uint64_t>(reached.figures.addressed));
  words_.push_back(static_cast<std::uint64_t>(reached.figures.person));
}

void SessionJournal::Write(const Sketch& sketch) {
  Put(Kind::kSketch, sketch.id);
  words_.push_back(sketch.of_subjects ? 1 : 0);
  words_.push_back(sketch.bytes.size());
  PutText(sketch.bytes);
}

std::size_t SessionJournal::Fitting(std::size_t most) const {
  struct Passer {
    void Take(const Definition&) const {}
    void Take(const Met&) const {}
    void Take(const Asked&) const {}
    void Take(const Subject&) const {}
    void Take(const Reached&) const {}
    void Take(const Sketch&) const {}
  };
  const Passer passer;
  const std::uint64_t* begin = words_.data();
  std::size_t fitting = 0;
  for (Cursor cursor = {begin, words_.data() + words_.size()}; cursor.at != cursor.end;) {
    ReadEntry(cursor, passer);
    if (static_cast<std::size_t>(cursor.at - begin) > most) break;
    fitting = static_cast<std::size_t>(cursor.at - begin);
  }
  return fitting;
}

void SessionJournal::RefuseWords() { throw DamagedData("journal of a session"); }

const std::uint64_t* SessionJournal::Cursor::Words(std::size_t count) {
  if (count > static_cast<std::size_t>(end - at)) RefuseWords();
  const std::uint64_t* words = at;
  at += count;
  return words;
}

SessionJournal::Definition SessionJournal::Cursor::ReadDefinition() {
  const std::uint64_t* head = Words(2);
  return {static_cast<AbstractionId>(head[0]), ReadText(static_cast<std::size_t>(head[1]))};
}

std::string_view SessionJournal::Cursor::ReadText(std::size_t bytes) {
  if (bytes > static_cast<std::size_t>(end - at) * kWord) RefuseWords();
  return {reinterpret_cast<const char*>(Words(WordsOf(bytes))), bytes};
}

SessionJournal::Sketch SessionJournal::Cursor::ReadSketch() {
  const std::uint64_t* head = Words(3);
  return {static_cast<AbstractionId>(head[0]), head[1] != 0, ReadText(static_cast<std::size_t>(head[2]))};
}

SessionJournal::Met SessionJournal::Cursor::ReadMet() {
  Met met;
  const std::uint64_t* ids = Words(met.ngram.size() + 1);
  met.count = ids[met.ngram.size()];
  std::transform(ids, ids + met.ngram.size(), met.ngram.begin(),
                 [](std::uint64_t id) { return static_cast<AbstractionId>(id); });
  return met;
}

SessionJournal::Asked SessionJournal::Cursor::ReadAsked() {
  const std::uint64_t* head = Words(3);
  const auto size = static_cast<std::size_t>(head[2]);
  return {static_cast<AbstractionId>(head[0]), head[1], Words(size), size};
}

SessionJournal::Reached SessionJournal::Cursor::ReadReached() {
  Reached reached;
  const std::uint64_t* at = Words(kReachFigureCount + 2);
  for (std::int64_t& value : reached.figures.values) value = static_cast<std::int64_t>(*at++);
  reached.figures.addressed = static_cast<std::int64_t>(at[0]);
  reached.figures.person = static_cast<std::int64_t>(at[1]);
  return reached;
}

SessionJournal::Subject SessionJournal::Cursor::ReadSubject() {
  const std::uint64_t* fields = Words(4);
  Subject subject;
  subject.id = static_cast<AbstractionId>(fields[0]);
  subject.column.item = static_cast<std::uint32_t>(fields[1]);
  subject.column.name = fields[2];
  subject.value = fields[3];
  return subject;
}

}  // namespace privacy_score
