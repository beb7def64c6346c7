/*
 * reach.hpp - how far a session reaches: what statements that differ in constants only add up to.
 *
 * docs/scoring.md, section 9 (ours). For one session:
 *   reach            greatest number of distinct constant vectors of one abstraction
 *   subjects         distinct values compared with a subject column by =, IN, <> or NOT IN
 *   subject_columns  greatest number of distinct non-identifier columns revealed in statements about one such value
 * Only statements count that name a column of a protected relation in what they show or filter by: a loop that fills a
 * log is nobody's business. Values of relations that share a subject through foreign keys are the same subject. A
 * subject of several columns counts when all of them are compared in one FROM item; comparisons of equal number are
 * taken pair by pair, as in (a, b) IN ((1, 2), (3, 4)), else each with each.
 *
 * Constants come as keyed hashes. What was observed is kept, in a compact log or with the subjects, so that the figures
 * can be had again under another model. Up to kMostExact constants of a statement, and subjects, the figures are exact.
 * Beyond, a sketch of all of them is estimated (distinct_sketch.hpp), whatever has room: a figure is a function of what
 * was observed, in whatever order and by whatever trackers. Memory is bounded: what has no room in the limits below is
 * in the sketches only, and the columns revealed of such a subject are not known.
 *
 * Constants that a statement has had before cost their hash and one look-up; new ones a few stores more. Nothing is
 * allocated but when an array grows. Most statements that come again and again with ever new constants have one, and
 * ask with it about one subject: then the subject tells, by the statement that was the first to ask about it, that the
 * constant was there before, and nothing else is kept of it: a subject is its group and the constant, mixed in a way
 * that can be undone.
 */
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/base/flat_map.hpp"
#include "core/scoring/distinct_sketch.hpp"
#include "core/scoring/model.hpp"
#include "core/scoring/questions.hpp"
#include "core/scoring/session_journal.hpp"
#include "core/statement/comparisons.hpp"

namespace privacy_score {

// Up to so many, constants of one statement and subjects are counted; beyond, estimated.
inline constexpr std::size_t kMostExact = 4096;

// Limits of one session.
inline constexpr std::size_t kMostVectorsOfForm = 32768;
inline constexpr std::size_t kMostVectors = 131072;
inline constexpr std::size_t kMostUnprotectedVectors =
    8192;  // of statements that do not count, lest they starve others
inline constexpr std::size_t kMostLogWords = 524288;
inline constexpr std::size_t kMostBareWords = 131072;  // beyond these, of executions whose subjects have no room
inline constexpr std::size_t kMostSketches = 64;       // of statements
inline constexpr std::size_t kMostSubjects = 65536;
// Of the constants of one execution that are told to the day: so many words of subjects, so many of others.
inline constexpr std::size_t kMostToldWords = 32000;
inline constexpr std::size_t kManyToldWords = 256;
inline constexpr std::size_t kMostColumnSets = 4096;

class ReachTracker {
 public:
  // A tracker under a model that is not referred to afterwards.
  ReachTracker(const Model& model, bool where_counts);

  // The number of a statement, made when it is first met. `model` is that of the constructor.
  std::uint32_t FormOf(const Model& model, AbstractionId id, const Tokens& tokens);
  // Whether the statement with that number counts.
  bool Counts(std::uint32_t form) const { return forms_[form].counts; }
  // Takes in one execution of the statement with that number. Throws Error XX001 on damaged words, and then has not
  // counted it.
  void Observe(std::uint32_t form, const BoundConstants& constants);
  void Observe(std::uint32_t form, const ExecutionConstants& constants);

  // The subject that an execution with no other constant but this one asks about, 0 when that must be found out in
  // another way. It is about to be taken in: what it is compared with lies in memory anywhere, and is there by then.
  std::uint64_t Expect(std::uint32_t index, const ComparedColumn& column, std::uint64_t value) const noexcept {
    const Form& form = forms_[index];
    if (!form.single_group || form.single.name != column.name || form.single.item != column.item) return 0;
    const std::uint64_t subject = SubjectOf(*form.single_group, value);
    subjects_.Expect(subject);
    return subject;
  }
  // Takes that execution in; false, and nothing is done, where it needs Observe.
  bool ObserveBySubject(std::uint32_t form, std::uint64_t subject);

  // Takes in all that `before` has observed. What was too much for its log keeps the figures that it had.
  void Replay(const ReachTracker& before, const Model& model,
              const std::function<const Tokens&(AbstractionId)>& tokens_of);

  const ReachFigures& figures() const { return figures_; }

  // From now on what is taken in for the first time is written into `journal` as well; null: no longer.
  void WriteTo(SessionJournal* journal) { journal_ = journal; }
  // Takes in what another tracker has written of a statement with that number here.
  void TakeAsked(std::uint32_t form, const SessionJournal::Asked& asked);
  void TakeSubject(std::uint32_t form, const SessionJournal::Subject& subject);
  // From now on no figure is below these, whatever the model.
  void TakeReached(const SessionJournal::Reached& reached);
  // Takes in a sketch that another has written, of a statement with that number or of subjects. Throws Error XX001 on
  // damaged words.
  void TakeVectors(std::uint32_t form, const SessionJournal::Sketch& sketch);
  void TakeSubjects(const DistinctSketch& sketch);

  // From now on what is taken in for the first time, of statements that count, is written into `day` as well, for who
  // adds up several sessions; null: no longer. A tracker that replays another goes on with its journal, and writes what
  // did not count there and counts now. `all`: of other statements, too, where it is not known yet which count.
  void TellDay(SessionJournal* day, bool all = false) {
    day_ = day;
    tells_all_ = all;
  }

  // Writes all that was taken in, of statements that count, so that another tracker has it. What was too much for the
  // log is left out, but for its place in the sketches. `in_short`: of what there is a sketch of only that.
  void WriteAll(SessionJournal& journal, bool in_short) const;
  // The sketch of subjects; null where they are not that many.
  const DistinctSketch* subject_sketch() const { return subject_sketch_.get(); }

  // A subject, and the columns revealed of it.
  struct KnownSubject {
    std::uint64_t subject = 0;
    AttributeSet columns;
  };
  // Takes in what another tracker has known of a subject, whose constants are not known here.
  void Know(const KnownSubject& known);
  // From now on subjects of which more is known than before are kept until they are taken out, in this order.
  void KeepChanged() { keeps_changed_ = true; }
  std::vector<KnownSubject> TakeChanged();
  // How many such notes are kept, and the subjects of those that came after so many.
  std::size_t changes() const { return changed_.size(); }
  std::vector<KnownSubject> ChangedAfter(std::size_t changes);
  // Keeps a subject as if more of it were known.
  void Renew(std::uint64_t subject) { NoteChange(subject); }
  // The subject that a value of a column is, and the value; none when no subject is that column alone.
  std::optional<std::uint64_t> SubjectOf(const ComparedColumn& column, std::uint64_t value) {
    const SubjectColumn* known = subject_columns_.Find(column.name);
    if (known == nullptr || !IsWhole(*known)) return std::nullopt;
    return SubjectOf(known->group, value);
  }
  std::optional<std::uint64_t> ValueOf(const ComparedColumn& column, std::uint64_t subject) {
    const SubjectColumn* known = subject_columns_.Find(column.name);
    if (known == nullptr || !IsWhole(*known)) return std::nullopt;
    return ValueOf(known->group, subject);
  }
  // The only constant of an execution; none where it has others.
  static std::optional<SingleComparison> OnlyConstant(const SessionJournal::Asked& asked);
  // What is known of a subject that was taken out.
  KnownSubject KnownOf(std::uint64_t subject) {
    const Asked* asked = subjects_.Find(subject);
    return {subject, asked == nullptr ? AttributeSet() : sets_[asked->set]};
  }
  // How many things are remembered: a measure of memory, about 150 bytes each. An empty tracker takes some, too.
  std::size_t size() const {
    constexpr std::size_t kEmpty = 24;
    constexpr std::size_t kSketch = DistinctSketch::kRegisters / 150;
    return kEmpty + subject_columns_.size() / 3 + 2 * forms_.size() + sets_.size() + steps_.size() / 4 + seen_.size() +
           subjects_.size() + questions_.size() / 4 + log_.size() / 8 + kSketch * sketches_ +
           (subject_sketch_ ? kSketch : 0);
  }

 private:
  // The subject with that value in its only column.
  static std::uint64_t SubjectOf(std::int64_t group, std::uint64_t value) {
    return FoldHash(static_cast<std::uint64_t>(group), FoldHash(0, value));
  }
  // That value.
  static std::uint64_t ValueOf(std::int64_t group, std::uint64_t subject) {
    return LastOfHash(0, LastOfHash(static_cast<std::uint64_t>(group), subject));
  }
  struct SubjectColumn {
    std::int64_t group = 0;
    std::uint32_t position = 0;
    std::uint32_t size = 0;
  };
  // True for a column that is a subject by itself.
  static bool IsWhole(const SubjectColumn& column) { return column.size == 1 && column.position == 0; }
  struct Form {  // statements that differ in constants only
    AbstractionId id = 0;
    std::size_t vectors = 0;
    bool counts = false;
    AttributeSet columns;  // non-identifiers that it reveals
    Questions::Statement questions;
    // Of its first execution with one constant: what that is compared with, and, when this is a subject by itself, the
    // subject's group.
    bool has_single = false;
    ComparedColumn single;
    std::optional<std::int64_t> single_group;
    std::uint32_t first_set = 0;             // what SetWith makes of the empty set; 0: not known
    std::unique_ptr<DistinctSketch> sketch;  // of all its vectors, where they are many or have no room
    bool is_many = false;                    // they are more than kMostExact
  };

  // What is known of a subject.
  struct Asked {
    std::uint32_t set = 0;  // of the columns revealed of it
    // The statement that asked first plus 1, when the subject is all it asked with: the constant was remembered here.
    std::uint32_t form = 0;
  };

  // A column of a subject that one FROM item compares, and the comparisons (ExecutionConstants::groups).
  struct Compared {
    std::uint64_t item = 0;
    SubjectColumn column;
    const std::uint64_t* comparisons = nullptr;
  };

  static std::optional<SingleComparison> OnlyComparison(const SessionJournal::Asked& asked);
  void ObserveSingle(std::uint32_t index, std::uint64_t vector, const SingleComparison& single);
  bool AsksBySubject(std::uint32_t index, const SingleComparison& single);
  void Take(std::uint32_t index, FlatSet::Slot& free, std::uint64_t key, const ExecutionConstants& constants);
  void TakeSingle(std::uint32_t index, FlatSet::Slot& free, std::uint64_t key, std::uint64_t vector,
                  const SingleComparison& single);
  bool HasRoom(const Form& form) const {
    return form.vectors < kMostVectorsOfForm && seen_.size() + by_subject_ < kMostVectors;
  }
  bool Remember(std::uint32_t index, FlatSet::Slot& free, std::uint64_t key);
  void Tell(const Form& form, const SessionJournal::Asked& asked);
  bool ComparesSubject(const std::uint64_t* groups);
  void NoteChange(std::uint64_t subject) {
    if (keeps_changed_) changed_.push_back(subject);
  }
  void Log(std::uint64_t form, std::uint64_t vector, const std::uint64_t* groups, std::size_t size);
  // Whether the vectors of a statement are remembered, and few.
  static bool IsExact(const Form& form) { return form.vectors <= kMostExact && !form.sketch; }
  bool CountVector(std::uint32_t index, std::uint64_t vector, bool remembered);
  bool BeginSketch(std::uint32_t index);
  void MergeVectors(std::uint32_t index, const DistinctSketch& sketch, bool is_many);
  void RaiseReach(const Form& form) {
    Raise(kReach, Estimated(*form.sketch, form.is_many ? kMostExact + 1 : form.vectors));
  }
  void CountFirst(std::uint64_t subject) {
    if (!subject_sketch_ && subjects_.size() <= kMostExact)
      Raise(kSubjects, subjects_.size());
    else
      CountSubject(subject);
  }
  bool CountSubject(std::uint64_t subject);
  void BeginSubjectSketch();
  static std::size_t Estimated(const DistinctSketch& sketch, std::size_t least) {
    return std::max(static_cast<std::size_t>(sketch.Estimate()), least);
  }
  static std::uint64_t VectorOf(std::uint64_t value) { return FoldHash(0, value); }
  bool AddSubjects(std::uint32_t index, const std::vector<std::uint64_t>& groups);
  bool AddSubjectsOfItem(std::uint32_t index, const Compared* begin, const Compared* end);
  bool AddSubject(std::uint32_t index, std::uint64_t subject);
  void AddQuestion(std::uint32_t index, std::uint64_t subject, const Asked& asked) {
    questions_.Ask(forms_[index].questions, subject, asked.form == 0 ? nullptr : &forms_[asked.form - 1].questions,
                   figures_);
  }
  std::optional<std::uint32_t> SetWith(std::uint32_t set, std::uint32_t index);
  std::optional<std::uint32_t> NumberOf(AttributeSet set);
  static void RaiseTo(const ReachFigures& least, ReachFigures& figures);
  static constexpr int kReach = 0;
  static constexpr int kSubjects = 1;
  static constexpr int kSubjectColumns = 2;
  void Raise(int figure, std::size_t value) {
    figures_.values[figure] = std::max(figures_.values[figure], static_cast<std::int64_t>(value));
  }

  bool where_counts_;
  FlatMap<SubjectColumn> subject_columns_;  // by NameHash
  std::vector<Form> forms_;
  std::unordered_map<AbstractionId, std::uint32_t> form_ids_;
  FlatSet seen_;                 // statement and vector
  std::size_t unprotected_ = 0;  // of them, of statements that do not count
  std::size_t by_subject_ = 0;   // vectors that subjects_ remembers instead
  std::vector<std::uint64_t> log_;
  bool log_is_cut_ = false;  // subjects were asked about that it does not tell
  std::size_t sketches_ = 0;
  FlatMap<Asked> subjects_;
  std::unique_ptr<DistinctSketch> subject_sketch_;
  bool sketch_has_more_ = false;  // than subjects_
  std::vector<AttributeSet> sets_;
  std::unordered_map<AttributeSet, std::uint32_t, AttributeSetHash> set_ids_;
  FlatMap<std::uint32_t> steps_;  // (set, statement) -> set
  Questions questions_;
  ReachFigures figures_;
  ReachFigures least_;  // that the figures are
  SessionJournal* journal_ = nullptr;
  SessionJournal* day_ = nullptr;
  bool tells_all_ = false;
  bool keeps_changed_ = false;
  std::vector<std::uint64_t> changed_;
  ExecutionConstants resolved_;     // of the execution that is being taken in
  std::vector<Compared> compared_;  // likewise
};

}  // namespace privacy_score
