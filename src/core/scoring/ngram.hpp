/*
 * ngram.hpp - sessions as sequences of abstractions, and the n-grams cut from them.
 *
 * [Khan]; padding in front with empty abstractions is ours: without it a role that disconnects after n-1 statements
 * would leave no n-gram. N-grams are recorded at one length, kRecordedLength; the n-gram of a shorter length is its
 * end, so that another ngram_length needs no other history.
 */
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/rows.hpp"
#include "core/base/wire_section.hpp"

namespace privacy_score {

inline constexpr int kRecordedLength = 6;

// The fingerprint of an abstraction; 0 is the empty one, which only stands as padding.
using AbstractionId = std::int64_t;

// The greatest count that is stored of anything: thousands of them add up in 64 bits.
inline constexpr std::int64_t kMostCounted = std::int64_t{1} << 50;

// Reads a stored count. Throws Error XX001 unless it is from 0 to kMostCounted.
std::int64_t ParseCount(std::string_view text);

// An n-gram of any length up to kRecordedLength: it stands at the end of the array, with 0 in front.
using NGram = std::array<AbstractionId, kRecordedLength>;

struct NGramHash {
  std::size_t operator()(const NGram& ngram) const noexcept;
};

// The last `length` abstractions of an n-gram, 1 <= length <= kRecordedLength.
NGram Suffix(const NGram& ngram, int length);

// True when one of the last `length` places is padding.
inline bool HasPadding(const NGram& ngram, int length) {
  return ngram[static_cast<std::size_t>(kRecordedLength - length)] == 0;
}

// Reads the text of a recorded n-gram. Throws Error XX001 when it has another length than kRecordedLength.
NGram ParseNGram(std::string_view array);
std::string TextOf(const NGram& ngram);

// The last abstractions of a running session.
class NGramWindow {
 public:
  NGramWindow() = default;
  // A session that goes on after this recorded n-gram.
  explicit NGramWindow(const NGram& recorded) : ngram_(recorded) {}
  // Takes in the next abstraction, which is not 0.
  void Push(AbstractionId id) {
    std::move(ngram_.begin() + 1, ngram_.end(), ngram_.begin());
    ngram_.back() = id;
  }
  // Takes in the id of a run of kContext.
  void PushContext(AbstractionId id) {
    if (id == 0)
      ngram_ = {};
    else
      Push(id);
  }
  const NGram& recorded() const { return ngram_; }

 private:
  NGram ngram_{};
};

// `count` executions in a row of one abstraction, which returned `rows` in all. A count of 0 brings rows that arrived
// later, when other statements had begun (a cursor).
//
// A count of kContext is no execution: it says what the next statement follows, where this is not what stands before
// it. That happens in a session whose statements come over several connections at a time. Id 0 then begins anew, with
// nothing before, and another id is the one that follows.
inline constexpr std::int64_t kContext = -1;
struct Run {
  AbstractionId id = 0;
  std::int64_t count = 0;
  std::int64_t rows = 0;
};
using Sequence = std::vector<Run>;

// Adds executions to the end of a sequence. Empty abstractions take no place. Runs with rows stay apart, so that rows
// keep to their n-grams. Throws Error XX001 unless count and rows are from 0 to kMostCounted.
void AppendRun(Sequence& sequence, AbstractionId id, std::int64_t count = 1, std::int64_t rows = 0);
// Adds a run of kContext.
void AppendContext(Sequence& sequence, AbstractionId id);
// Calls `add` with the ids of the runs of kContext after which the next statement follows this recorded n-gram.
template <typename Add>
void ForEachContext(const NGram& ngram, Add add) {
  add(AbstractionId{0});
  for (const AbstractionId id : ngram)
    if (id != 0) add(id);
}
std::int64_t LengthOf(const Sequence& sequence);

// Reads the arrays of a stored sequence and adds them to `sequence`; throws Error XX001 when they differ in length.
// `rows` is empty where none were recorded.
void AppendStored(Sequence& sequence, std::string_view ids, std::string_view runs, std::string_view rows = {});
// The two arrays of a sequence.
std::string IdsText(const Sequence& sequence);
std::string RunsText(const Sequence& sequence);
std::string RowsText(const Sequence& sequence);

using NGramVisitor = std::function<void(const NGram&, std::int64_t count, std::int64_t rows)>;
// Calls `visit` with every recorded n-gram (length kRecordedLength, padded), how often it stands there in a row, and
// the rows returned by the last statement of these n-grams. The cost is that of the runs, not of the executions. Rows
// that came late are given with count 0 to the last n-gram that ends with their abstraction.
void ForEachNGram(const Sequence& sequence, const NGramVisitor& visit);
// The same of what follows in a session that has come so far; it goes on. Rows that came late for what was before are
// left out.
void ForEachNGram(const Sequence& sequence, NGramWindow& window, const NGramVisitor& visit);

// One execution. `session_key` names a connection; `at` is in microseconds, `day` counts calendar days in the time zone
// of the caller.
struct Event {
  std::int64_t session_key = 0;
  std::string role;
  std::int64_t at = 0;
  std::int64_t day = 0;
  AbstractionId id = 0;
  std::int64_t execution = 0;                       // its number (logged_executions.hpp); 0: not known
  std::optional<std::int64_t> rows = std::nullopt;  // that it returned, where known
};

// One execution of a session that was cut.
struct LoggedStep {
  AbstractionId id = 0;
  std::int64_t execution = 0;
};

// One session after cutting.
struct CutSession {
  std::int64_t session_key = 0;
  std::string role;
  std::int64_t day = 0;
  std::int64_t started = 0;
  std::int64_t ended = 0;
  Sequence sequence;  // its rows are those of the events, where they are known of all
  std::vector<LoggedStep> steps;
  std::optional<std::int64_t> most_rows;  // of one execution; nothing where the rows of one are not known
};

// Cuts the events of each connection and role into sessions: at a pause longer than `idle_gap` microseconds and at
// midnight. Events in any order; those with the empty abstraction are left out before. Sorted by role, day, start.
std::vector<CutSession> CutSessions(std::vector<Event> events, std::int64_t idle_gap);

WIRE_SECTION(NGramRow, kNgram, kCount);
WIRE_SECTION(SessionSetRow, kCount, kIds);

// What a baseline stores of its sessions. Sessions without statements do not count.
struct BaselineRows {
  std::int64_t sessions = 0;
  ResultTable ngrams;        // NGramRow, sorted by n-gram
  ResultTable session_sets;  // SessionSetRow: how many sessions have the set of distinct abstractions; sorted by set
};
BaselineRows BaselineOf(const std::vector<Sequence>& sessions);

}  // namespace privacy_score
