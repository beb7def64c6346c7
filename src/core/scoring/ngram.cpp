/*
 * ngram.cpp - sessions as sequences of abstractions, and the n-grams cut from them.
 */
#include "core/scoring/ngram.hpp"

#include <algorithm>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "core/base/error.hpp"
#include "core/scoring/baseline_contents.hpp"

namespace privacy_score {

namespace {

[[noreturn]] void RefuseCount(std::int64_t count) { throw DamagedData("a count of " + std::to_string(count)); }

std::vector<AbstractionId> ToVector(const NGram& ngram) { return {ngram.begin(), ngram.end()}; }

}  // namespace

std::size_t NGramHash::operator()(const NGram& ngram) const noexcept {
  std::uint64_t hash = 0x9e3779b97f4a7c15U;
  for (const AbstractionId id : ngram) {
    hash = (hash ^ static_cast<std::uint64_t>(id)) * 0xff51afd7ed558ccdU;
    hash ^= hash >> 32U;
  }
  return static_cast<std::size_t>(hash);
}

std::int64_t ParseCount(std::string_view text) {
  const std::int64_t count = ParseInteger(text);
  if (count < 0 || count > kMostCounted) RefuseCount(count);
  return count;
}

NGram Suffix(const NGram& ngram, int length) {
  NGram suffix{};
  std::copy(ngram.end() - length, ngram.end(), suffix.end() - length);
  return suffix;
}

NGram ParseNGram(std::string_view array) {
  const auto ids = ParseIntegers(array);
  NGram ngram{};
  if (ids.size() != ngram.size()) {
    throw DamagedData("n-gram of length " + std::to_string(ids.size()));
  }
  std::copy(ids.begin(), ids.end(), ngram.begin());
  return ngram;
}

std::string TextOf(const NGram& ngram) { return ArrayText(ToVector(ngram)); }

void AppendRun(Sequence& sequence, AbstractionId id, std::int64_t count, std::int64_t rows) {
  if (count < 0 || count > kMostCounted) RefuseCount(count);
  if (rows < 0 || rows > kMostCounted) RefuseCount(rows);
  if (id == 0 || (count == 0 && rows == 0)) return;
  if (!sequence.empty() && sequence.back().id == id && sequence.back().rows == 0 && rows == 0 &&
      sequence.back().count != kContext && sequence.back().count <= kMostCounted - count) {
    sequence.back().count += count;
  } else {
    sequence.push_back({id, count, rows});
  }
}

void AppendContext(Sequence& sequence, AbstractionId id) { sequence.push_back({id, kContext, 0}); }

std::int64_t LengthOf(const Sequence& sequence) {
  std::int64_t length = 0;
  for (const Run& run : sequence) length += std::max<std::int64_t>(run.count, 0);
  return length;
}

void AppendStored(Sequence& sequence, std::string_view ids, std::string_view runs, std::string_view rows) {
  const auto id_values = ParseIntegers(ids);
  const auto run_values = ParseIntegers(runs);
  const auto row_values = rows.empty() ? std::vector<std::int64_t>(id_values.size()) : ParseIntegers(rows);
  if (id_values.size() != run_values.size() || id_values.size() != row_values.size()) {
    throw DamagedData(std::to_string(id_values.size()) + " abstractions with " + std::to_string(run_values.size()) +
                      " runs and " + std::to_string(row_values.size()) + " numbers of rows");
  }
  for (std::size_t i = 0; i < id_values.size(); ++i) {
    if (run_values[i] == kContext)
      AppendContext(sequence, id_values[i]);
    else
      AppendRun(sequence, id_values[i], run_values[i], row_values[i]);
  }
}

std::string IdsText(const Sequence& sequence) {
  std::vector<std::int64_t> ids;
  for (const Run& run : sequence) ids.push_back(run.id);
  return ArrayText(ids);
}

std::string RunsText(const Sequence& sequence) {
  std::vector<std::int64_t> runs;
  for (const Run& run : sequence) runs.push_back(run.count);
  return ArrayText(runs);
}

std::string RowsText(const Sequence& sequence) {
  std::vector<std::int64_t> rows;
  for (const Run& run : sequence) rows.push_back(run.rows);
  return ArrayText(rows);
}

void ForEachNGram(const Sequence& sequence, const NGramVisitor& visit) {
  NGramWindow window;
  ForEachNGram(sequence, window, visit);
}

void ForEachNGram(const Sequence& sequence, NGramWindow& window, const NGramVisitor& visit) {
  std::unordered_map<AbstractionId, NGram> last;  // n-gram that ends with it
  for (const Run& run : sequence) {
    if (run.count == kContext) {
      window.PushContext(run.id);
      continue;
    }
    // After kRecordedLength repetitions the window holds this abstraction alone and no longer changes.
    const std::int64_t single = std::min<std::int64_t>(run.count, kRecordedLength);
    for (std::int64_t i = 0; i < single; ++i) {
      window.Push(run.id);
      visit(window.recorded(), 1, i + 1 == run.count ? run.rows : 0);
    }
    if (run.count > single) visit(window.recorded(), run.count - single, run.rows);
    if (run.count > 0) {
      last[run.id] = window.recorded();
    } else if (const auto found = last.find(run.id); found != last.end()) {
      visit(found->second, 0, run.rows);
    }
  }
}

std::vector<CutSession> CutSessions(std::vector<Event> events, std::int64_t idle_gap) {
  if (idle_gap < 0)
    throw InvalidValue("idle gap must not be negative, not " + std::to_string(idle_gap),
                       "It is how long a session may be without a statement.");
  events.erase(std::remove_if(events.begin(), events.end(), [](const Event& event) { return event.id == 0; }),
               events.end());
  std::stable_sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
    return std::tie(a.session_key, a.role, a.at) < std::tie(b.session_key, b.role, b.at);
  });
  std::vector<CutSession> sessions;
  for (const Event& event : events) {
    const bool same = !sessions.empty() && sessions.back().session_key == event.session_key &&
                      sessions.back().role == event.role && sessions.back().day == event.day &&
                      event.at - sessions.back().ended <= idle_gap;
    if (!same) sessions.push_back({event.session_key, event.role, event.day, event.at, event.at, {}, {}, 0});
    CutSession& session = sessions.back();
    session.ended = event.at;
    AppendRun(session.sequence, event.id, 1, event.rows.value_or(0));
    session.steps.push_back({event.id, event.execution});
    if (!event.rows)
      session.most_rows.reset();
    else if (session.most_rows)
      session.most_rows = std::max(*session.most_rows, *event.rows);
  }
  std::stable_sort(sessions.begin(), sessions.end(), [](const CutSession& a, const CutSession& b) {
    return std::tie(a.role, a.day, a.started) < std::tie(b.role, b.day, b.started);
  });
  return sessions;
}

BaselineRows BaselineOf(const std::vector<Sequence>& sessions) {
  BaselineContents contents;
  for (const Sequence& sequence : sessions) contents.Add(sequence);
  BaselineRows rows;
  rows.sessions = contents.sessions;
  for (const auto& [ngram, count] : contents.ngrams) rows.ngrams.rows.push_back({TextOf(ngram), TextOf(count)});
  for (const auto& [ids, count] : contents.session_sets)
    rows.session_sets.rows.push_back({TextOf(count), ArrayText(ids)});
  return rows;
}

}  // namespace privacy_score
