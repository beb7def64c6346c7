/*
 * live_scorer.hpp - the running score of one session in a backend.
 *
 * It lives as long as the backend watches the role; Load brings a new version of the model and scores again what was
 * observed. Equals ScoreSessions on the same data to the last bit.
 *
 * The n-grams of ngram_length that the session has had are states, of which the session is in one; a statement leads to
 * the next. Known steps are kept in a small table that is overwritten as it fills, so a statement that has followed
 * these before costs one look-up there, or a hash look-up of its n-gram, and allocates nothing. Scores are kept with
 * the session's n-grams, so that RoleScorer need not remember many. Longer n-grams are not kept: with statements in
 * ever new order there would be as many of them as executions. So a session keeps the ngram_length that it began with.
 *
 * Scorers of several sessions of one role share what does not depend on the session: Share(). A session that runs in
 * several processes has a scorer in each: session_journal.hpp.
 */
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "core/scoring/profile.hpp"
#include "core/scoring/reach.hpp"
#include "core/scoring/reach_limits.hpp"
#include "core/scoring/session_journal.hpp"

namespace privacy_score {

class LiveScorer {
 public:
  // What a session may have before it is full: n-grams, some 8 MB, and bytes of its abstractions.
  static constexpr std::size_t kMostNGrams = 65536;
  static constexpr std::size_t kMostBytes = std::size_t{8} << 20U;
  // About what an abstraction takes with all that is made of it here: its tokens, what they reveal, its rates and form.
  static std::size_t BytesOf(const Tokens& tokens);

  // Of an end user of the role, empty for none. Throws Error 22023 on bad settings. Until Load nothing is protected and
  // every score is 0.
  LiveScorer(std::string role, const ScoreSettings& settings, std::string end_user = {});
  LiveScorer(const LiveScorer&) = delete;
  LiveScorer& operator=(const LiveScorer&) = delete;

  // Takes in a new version of the model. Throws Error XX001 on damaged bytes, and then keeps the old version.
  void Load(const ModelSource& source);
  // Changes the settings; the session goes on and is scored again under them. Throws Error 22023 on another
  // ngram_length once it has had a statement.
  void Configure(const ScoreSettings& settings) { Configure(settings, end_user_); }
  // The same, and whose session it is.
  void Configure(const ScoreSettings& settings, const std::string& end_user);
  // Takes over the model and the settings of another scorer of the role, and what is made of its baseline if it is the
  // same. What both need stands once in memory until one of them loads another model. Throws like Configure.
  void Share(const LiveScorer& other);
  // Whether that would be all of it.
  bool IsAgainstBaselineOf(const LiveScorer& other) const { return BaselineIn(other) == other.common_->baseline; }
  bool Shares(const LiveScorer& other) const { return common_ == other.common_; }
  const ScoreSettings& settings() const { return common_->scorer->settings(); }

  bool Knows(AbstractionId id) const;
  // Gives the tokens of an abstraction that the model does not hold yet.
  void Define(AbstractionId id, Tokens tokens);
  // Forgets the abstractions that the session has not had, with what was made of them.
  void ForgetUnused();
  // Takes in one execution. Empty abstractions (0) take no place. Throws Error XX001 on an id that is not known, and
  // then has not counted it, or on damaged constants, which are then not counted.
  void Observe(AbstractionId id, const BoundConstants& constants = {});
  // True when Observe(id) would repeat an n-gram of the session by a step that is at hand: then the abstraction is
  // known and, with counting of n-grams as a set, nothing of the summary but the number of queries changes.
  bool Repeats(AbstractionId id) const { return id == 0 || FindStep(id) != nullptr; }
  // What one more execution adds to the sum that mode enforce goes by, and what that comes to; nothing is counted.
  struct Weighed {
    bool adds = false;  // the baseline lacks it, and with counting as a set the session has not had it
    double rise = 0;    // o(a)
    double sum = 0;
    bool estimated = false;  // they rest on bounds
  };
  // Throws like Observe.
  Weighed Weigh(AbstractionId id);
  // Whether it names a column of a protected relation in what it shows or filters by. Throws like Observe.
  bool IsAboutProtected(AbstractionId id);
  // JSON like LastExplanation of a statement by itself.
  std::string ExplainStatement(AbstractionId id);
  // Starts a new session; what was defined is forgotten unless others share it.
  void Restart();
  // Goes to where the session was after this recorded n-gram, which it has had: the next statement follows it. Zeros:
  // the beginning.
  void Resume(const NGram& ngram);
  // The recorded n-gram that the session is at; zeros at the beginning.
  const NGram& LastNGram() const { return last_.recorded(); }

  // From now on what is new in this session is written into `journal` as well; null: no longer.
  void WriteTo(SessionJournal* journal);
  // The same of constants that reach counts, for who adds up the sessions of a day.
  void TellDay(SessionJournal* day);
  // Takes in what other processes have written of this session. Where it stands stays.
  void CatchUp(const std::uint64_t* words, std::size_t size);
  // Whether the session has so many n-grams or abstractions that it should be ended: each takes memory for as long as
  // it lasts.
  bool IsFull() const { return profile_.places() >= kMostNGrams || bytes_ > kMostBytes; }

  const SessionSummary& summary() const { return summary_; }
  // How far the session reaches; nothing is known of it until Load.
  const ReachFigures& reach() const { return reach_->figures(); }
  // The limits of an end user of the role, as the model has them; null: those of the role.
  const EndUserLimits* LimitsOf(std::string_view end_user) const { return common_->model->LimitsOf(role_, end_user); }
  // What of it is too far for the baseline that it is scored against; nothing without a baseline.
  std::vector<ReachExcess> OutOfReach(double factor) const;
  // From where on each figure is.
  ReachLimits LeastOutOfReach(double factor) const noexcept;
  // An execution that is about to be taken in and, when it repeats an n-gram of the session with one constant, what
  // has been found out of it. Plain data. It is as good as none when anything else is taken in before it.
  struct Expected {
    void* step = nullptr;
    std::uint64_t turn = 0;
    std::uint64_t subject = 0;
  };
  // Expects an execution with no other constant than this one.
  Expected Expect(AbstractionId id, const ComparedColumn& column, std::uint64_t value) const noexcept {
    State* next = FindStep(id);
    if (next == nullptr) return {};
    return {next, turn_, reach_->Expect(next->second.form, column, value)};
  }
  // Takes in what was expected; false, and nothing is done, when it needs Observe. Of the summary only the number of
  // queries changes, unless n-grams are counted as often as they occur.
  bool ObserveExpected(const Expected& expected) {
    if (expected.turn != turn_ || expected.subject == 0) return false;
    auto* next = static_cast<State*>(expected.step);
    if (!reach_->ObserveBySubject(next->second.form, expected.subject)) return false;
    Follow(next);
    return true;
  }
  // The rates that were wanted since the last call.
  std::vector<MissingRate> TakeMissing();
  bool IsMissingRates() const {
    return common_->scorer->IsMissingRates() || (common_->peers != nullptr && common_->peers->scorer->IsMissingRates());
  }
  // JSON of the n-gram of the last execution: ngram, known, nearest, deltas, attributes, score. "{}" before the first,
  // and with `pad` off before the session is ngram_length long.
  std::string LastExplanation();
  // delta* of the last statement's n-gram, 0 when it is known.
  double LastScore();

 private:
  struct JournalReader;
  // What does not depend on the session.
  struct Common {
    std::shared_ptr<const Model> model;
    const Baseline* baseline = nullptr;      // in the model
    const AcceptedWork* accepted = nullptr;  // of the end user alone, in the model
    GreatestReach accepted_reach;            // of her and the role
    TokenMap defined;                        // abstractions beyond those of the model
    std::unique_ptr<RoleScorer> scorer;
    // What sessions of the role without an end user have; of an end user with a baseline of her own, else null.
    std::shared_ptr<Common> peers;
  };
  // An n-gram of ngram_length that the session has had.
  using State = Profile::Place;
  // The last statement of a state leads there from another one, null before the first. Nowhere: no step.
  struct Step {
    const State* from = nullptr;
    State* to = nullptr;
  };

  // Goes to an n-gram that the session has had before.
  void Follow(State* next) {
    GoTo(next);
    CountMet(next);
  }
  void GoTo(State* next) {
    state_ = next;
    last_.Push(next->first.back());
  }
  // What this session would be scored against with the model of another.
  const Baseline* BaselineIn(const LiveScorer& other) const {
    return other.common_->model->BaselineFor(role_, end_user_);
  }
  const AcceptedWork* AcceptedIn(const LiveScorer& other) const {
    return OwnAccepted(*other.common_->model, end_user_);
  }
  const AcceptedWork* OwnAccepted(const Model& model, const std::string& end_user) const {
    return end_user.empty() ? nullptr : model.AcceptedOf(role_, end_user);
  }
  static bool HasNGram(const NGram& recorded, const ScoreSettings& settings);
  std::shared_ptr<Common> NewCommon(std::shared_ptr<const Model> model, const ScoreSettings& settings, TokenMap defined,
                                    const std::string& end_user, std::shared_ptr<Common> peers = nullptr) const;
  void Replace(std::shared_ptr<const Model> model, const ScoreSettings& settings, TokenMap defined);
  void KnowModel();
  void Adopt(std::shared_ptr<Common> common);
  NGram NextNGram(AbstractionId id) const;
  void WriteMet(const NGram& ngram);
  std::size_t PlaceOfStep(AbstractionId id) const {
    const auto from = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(state_));
    return static_cast<std::size_t>(((from ^ static_cast<std::uint64_t>(id)) * 0x9e3779b97f4a7c15U) >> 56U);
  }
  // Where a statement leads from where the session is; null when that step is not at hand.
  State* FindStep(AbstractionId id) const {
    const Step& step = steps_[PlaceOfStep(id)];
    return step.from == state_ && step.to != nullptr && step.to->first.back() == id ? step.to : nullptr;
  }
  State* Meet(AbstractionId id, const NGram& ngram);
  void CountAmongPeers(State* met);
  SessionSummary Summarise() const;
  // Counts one more of an n-gram of the session, wherever this stands.
  void CountMet(State* met) {
    ++turn_;
    if (profile_.Repeat(*met, settings()))
      CountAmongPeers(met);
    else
      ++summary_.queries;
  }

  std::string role_, end_user_;
  std::shared_ptr<Common> common_;
  Profile profile_;
  Profile peer_profile_;  // against the baseline of the peers, if there are any
  SessionSummary summary_;
  std::unique_ptr<ReachTracker> reach_;
  std::size_t bytes_ = 0;   // of the session's abstractions, about
  State* state_ = nullptr;  // null before the first statement
  NGramWindow last_;        // what the session has had last, whatever the ngram_length
  std::uint64_t turn_ = 1;  // another one after whatever changes the session or how it is scored
  std::array<Step, 256> steps_{};
  SessionJournal* journal_ = nullptr;
  bool has_model_ = false;
  SessionJournal* day_ = nullptr;
  std::unordered_set<AbstractionId> journalled_;  // definitions that the session's journal has
};

}  // namespace privacy_score
