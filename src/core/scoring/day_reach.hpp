/*
 * day_reach.hpp - how far the sessions of one principal reach together on one day.
 *
 * Forty connections with one look-up each are a loop over forty subjects, as forty look-ups on one connection are. So
 * what a session takes in for the first time is told to one process (ReachTracker::TellDay), which gives it to a
 * tracker of the principal and day. The figures are those of reach.hpp, exact up to the same limits.
 *
 * That process remembers the days that it has last been told of, `most` things in all, and hands them to the next one
 * by shared memory (Save). What it cannot have any more, after a crash or when it has forgotten a day, it gets from
 * what is stored: the figures so far, which the new ones are never below; subjects by their keyed hashes, with the
 * columns revealed of each and the statements whose only constant it was, kMostStoredSubjects a day, those first of
 * which most is known; and where there are more, a sketch of all. So `subjects` goes on as if nothing had happened, and
 * `reach` of statements that ask by subject.
 */
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "core/scoring/model.hpp"
#include "core/scoring/reach.hpp"
#include "core/scoring/session_journal.hpp"

namespace privacy_score {

inline constexpr std::size_t kMostStoredSubjects = 4096;

// So many pairs of a subject and a statement that asked with it alone.
inline constexpr std::size_t kMostStoredAlone = 4 * kMostStoredSubjects;

// Subjects as they are stored: ten bytes each in hexadecimal, the hash and the number of its set, highest byte first; a
// set as names of columns parted by kAttributeSeparator, among which the statements are that asked with it alone: = and
// the id, the column and the item of the comparison in hexadecimal.
struct StoredSubjects {
  std::string subjects;
  std::vector<std::string> sets;
};

// Of how many days it is added up what a principal knows of a subject.
inline constexpr int kDaysOfKnowledge = 5;
// The most columns that are known of one of these subjects, with what was known of it on earlier days. Throws Error
// XX001 on damaged bytes.
std::int64_t MostKnown(const StoredSubjects& subjects, const std::vector<StoredSubjects>& earlier);

class DayReach {
 public:
  // One principal's day.
  class Day {
   public:
    Day(std::shared_ptr<const Model> model, bool where_counts, const ReachFigures& stored);

    // Takes in what is stored of it. Columns that are not protected any more are left out. Throws Error XX001 on
    // damaged bytes.
    void Know(const StoredSubjects& stored);
    ReachFigures Figures() const;
    // It is never below what one of its sessions has, also of what that could not tell.
    void Raise(const ReachFigures& of_session);
    // What has come to be known since the last call and is to be stored; empty when nothing is, or it has no room.
    StoredSubjects TakeChanged();
    // Whether it takes the place of what is stored: all of that is to be written anew.
    bool replaces() const { return replaces_; }
    // The sketch of subjects in hexadecimal, where there is one and it has changed since the last call.
    std::string TakeChangedSketch();
    // Takes in what that has given. Throws Error XX001 on damaged bytes.
    void KnowSketch(std::string_view sketch);
    // All that is stored.
    StoredSubjects All() const;
    // Of what number of subjects a change is not taken yet, each as often as it changed; and what is known of those
    // that have changed since there were so many.
    std::size_t changes() const { return tracker_->changes(); }
    StoredSubjects ChangedAfter(std::size_t changes) const { return Written(tracker_->ChangedAfter(changes)); }

    // How many things are remembered: a measure of memory.
    std::size_t size() const {
      constexpr std::size_t kBytes = 150;  // of a thing
      return tracker_->size() + stored_subjects_.size() / 2 + alone_count_ + stored_sketch_.size() / kBytes;
    }

    // For who stores it.
    std::uint32_t alerted = 0;
    int parts = 0;
    bool is_stored = false;

   private:
    friend class DayReach;
    // A statement whose only constant was compared with that column.
    struct Asker {
      AbstractionId id = 0;
      ComparedColumn column;
    };
    void NoteAlone(AbstractionId id, const ComparedColumn& column, std::uint64_t value);
    bool AddAlone(std::uint64_t subject, const Asker& asker);
    bool TakesPlace(std::size_t columns, std::vector<std::pair<std::size_t, std::uint64_t>>& least);
    void Reckon(const StoredSubjects& stored);
    StoredSubjects Written(const std::vector<ReachTracker::KnownSubject>& subjects) const;
    // Begins anew under another model, with all that was taken in. False when a statement of it is not known any more.
    bool Judge(std::shared_ptr<const Model> model, const DayReach& reach);

    std::shared_ptr<const Model> model_;
    bool where_counts_;
    ReachFigures stored_;
    std::unique_ptr<ReachTracker> tracker_;
    std::unordered_set<std::uint64_t> stored_subjects_;
    std::vector<StoredSubjects> known_;
    bool replaces_ = false;
    std::string stored_sketch_;
    std::unordered_map<std::uint64_t, std::vector<Asker>> alone_;  // by the subject that they asked with
    std::size_t alone_count_ = 0;
  };

  explicit DayReach(std::size_t most) : most_(most) {}

  // Takes in another version of the model; what is remembered of days is judged by it. Throws Error XX001 on damaged
  // bytes.
  void Load(const ModelSource& source);

  // What of the abstractions in a journal is not defined yet. Throws Error XX001 on damaged words.
  std::vector<AbstractionId> Unknown(const std::vector<std::uint64_t>& words) const;
  void Define(AbstractionId id, Tokens tokens);

  // The principal's day; null when it is not remembered.
  Day* Find(const std::string& principal, std::int32_t day);
  // Begins to remember it.
  Day* Begin(const std::string& principal, std::int32_t day, bool where_counts, const ReachFigures& stored);
  void Forget(const std::string& principal, std::int32_t day);
  // Takes in words of a journal, whose abstractions are defined. Throws Error XX001 on damaged words.
  void Take(Day* day, const std::vector<std::uint64_t>& words);
  // The same of the statements that have asked with a subject alone, by what is stored of the day; those that nobody
  // defines any more are left out.
  std::vector<AbstractionId> UnknownAlone(const Day* day) const;
  void TakeAlone(Day* day);
  // How far a session reaches that has told all of this, whose abstractions are defined. Throws Error XX001 on damaged
  // words.
  ReachFigures FiguresOf(const std::vector<std::uint64_t>& words, bool where_counts) const;
  // Forgets the days that were longest not told of, but for the last one, until what is remembered is not too much.
  void MakeRoom();

  // Writes what was taken in of the days, from the one that was last told of on, in at most so many words; then what
  // was restored and not taken since. A day that has no room is left out.
  std::vector<std::uint64_t> Save(std::size_t most) const;
  // Takes in what another has saved: each principal's day goes on from there when it begins. Throws Error XX001 on
  // damaged words.
  void Restore(const std::vector<std::uint64_t>& saved);
  // What was restored of a principal's day, which has not begun: words of a journal. It is given once.
  std::vector<std::uint64_t> TakeRestored(const std::string& principal, std::int32_t day);

  // What an end user of a role is judged by (Model::BaselineFor).
  const Baseline* BaselineFor(std::string_view role, std::string_view end_user) const {
    return model_->BaselineFor(role, end_user);
  }
  // How far her days may reach by what is accepted.
  GreatestReach AcceptedReach(std::string_view role, std::string_view end_user) const {
    return model_->AcceptedReach(role, end_user, true);
  }
  std::size_t size() const { return days_.size(); }

 private:
  struct JournalReader;
  struct Remembered {
    std::string key;
    Day day;
  };
  using Days = std::list<Remembered>;  // the one that was last told of stands first

  const Tokens* FindTokens(AbstractionId id) const;

  std::size_t most_;
  std::shared_ptr<const Model> model_ = std::make_shared<const Model>();
  TokenMap defined_;
  std::size_t defined_bytes_ = 0;
  Days days_;
  std::unordered_map<std::string, Days::iterator> places_;
  std::unordered_map<std::string, std::vector<std::uint64_t>> restored_;  // by the same key
};

}  // namespace privacy_score
