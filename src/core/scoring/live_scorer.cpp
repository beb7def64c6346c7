/*
 * live_scorer.cpp - the running score of one session in a backend.
 */
#include "core/scoring/live_scorer.hpp"

#include <utility>

#include "core/base/error.hpp"
#include "core/base/joined.hpp"
#include "core/scoring/enforced_sum.hpp"
#include "core/scoring/explain.hpp"
#include "core/scoring/missing_rates.hpp"

namespace privacy_score {

namespace {

// As malloc gives them, on 64 bits.
constexpr std::size_t kBytesOfAbstraction = 1024;
constexpr std::size_t kBytesOfToken = 96;
constexpr char kTokenEnd = '\0';              // in a journal
constexpr std::size_t kBytesOfCharacter = 2;  // of a token: here, and where who defines them keeps them

// Remembered scores are wanted once more at most, when a statement that was weighed is taken in.
constexpr ScoreMemory kLiveMemory = {std::size_t{1} << 10U, std::size_t{1} << 18U};

}  // namespace

// Reads a session's journal.
struct LiveScorer::JournalReader {
  LiveScorer& scorer;

  std::uint32_t FormOf(AbstractionId id) const {
    const Common& common = *scorer.common_;
    return scorer.reach_->FormOf(*common.model, id, common.scorer->TokensOf(id));
  }
  void Take(const SessionJournal::Definition& definition) const {
    scorer.journalled_.insert(definition.id);
    if (!scorer.Knows(definition.id)) scorer.Define(definition.id, Parted(definition.tokens, kTokenEnd));
  }
  void Take(const SessionJournal::Met& met) const {
    std::uint64_t left = met.count;
    State* state = scorer.profile_.Find(met.ngram);
    if (state == nullptr) {
      state = scorer.Meet(met.ngram.back(), met.ngram);
      --left;
    }
    for (; left > 0; --left) scorer.CountMet(state);
  }
  void Take(const SessionJournal::Asked& asked) const { scorer.reach_->TakeAsked(FormOf(asked.id), asked); }
  void Take(const SessionJournal::Subject& subject) const { scorer.reach_->TakeSubject(FormOf(subject.id), subject); }
  void Take(const SessionJournal::Reached& reached) const { scorer.reach_->TakeReached(reached); }
  void Take(const SessionJournal::Sketch& sketch) const {
    if (sketch.of_subjects)
      scorer.reach_->TakeSubjects(DistinctSketch(sketch.bytes));
    else
      scorer.reach_->TakeVectors(FormOf(sketch.id), sketch);
  }
};

LiveScorer::LiveScorer(std::string role, const ScoreSettings& settings, std::string end_user)
    : role_(std::move(role)), end_user_(std::move(end_user)) {
  common_ = NewCommon(std::make_shared<const Model>(), settings, {}, end_user_);
  reach_ = std::make_unique<ReachTracker>(*common_->model, settings.where_counts);
  summary_ = profile_.Summary();
}

std::shared_ptr<LiveScorer::Common> LiveScorer::NewCommon(std::shared_ptr<const Model> model,
                                                          const ScoreSettings& settings, TokenMap defined,
                                                          const std::string& end_user,
                                                          std::shared_ptr<Common> peers) const {
  auto common = std::make_shared<Common>();
  common->model = std::move(model);
  common->baseline = common->model->BaselineFor(role_, end_user);
  common->accepted = OwnAccepted(*common->model, end_user);
  common->accepted_reach = common->model->AcceptedReach(role_, end_user, false);
  if (common->model->PeersOf(role_, end_user) != nullptr) {
    if (peers == nullptr) peers = NewCommon(common->model, settings, defined, {});
    common->peers = std::move(peers);
  }
  common->defined = std::move(defined);
  common->scorer =
      std::make_unique<RoleScorer>(common->model, role_, settings, &common->defined, kLiveMemory, end_user);
  return common;
}

std::size_t LiveScorer::BytesOf(const Tokens& tokens) {
  std::size_t bytes = kBytesOfAbstraction;
  for (const std::string& token : tokens) bytes += kBytesOfToken + kBytesOfCharacter * token.size();
  return bytes;
}

void LiveScorer::Load(const ModelSource& source) {
  Replace(std::make_shared<const Model>(Model::Parse(source, role_)), settings(), common_->defined);
  KnowModel();
}

void LiveScorer::KnowModel() {
  has_model_ = true;
  TellDay(day_);
}

void LiveScorer::Configure(const ScoreSettings& settings, const std::string& end_user) {
  Adopt(NewCommon(common_->model, settings, common_->defined, end_user));
  end_user_ = end_user;
}

void LiveScorer::Share(const LiveScorer& other) {
  const std::shared_ptr<Common>& theirs = other.common_;
  const Baseline* baseline = BaselineIn(other);
  const AcceptedWork* accepted = AcceptedIn(other);
  if (baseline == theirs->baseline && accepted == theirs->accepted) {
    Adopt(theirs);
    KnowModel();
    return;
  }
  // What is made of the role's baseline is shared all the same.
  const std::shared_ptr<Common>& of_role = theirs->peers != nullptr ? theirs->peers : theirs;
  const bool has_role = of_role->baseline == theirs->model->BaselineOfRole(role_) && of_role->accepted == nullptr;
  if (has_role && baseline == of_role->baseline && accepted == nullptr)
    Adopt(of_role);
  else
    Adopt(NewCommon(theirs->model, other.settings(), common_->defined, end_user_, has_role ? of_role : nullptr));
  KnowModel();
}

// Scores the session under another model or other settings, with these definitions and those that it needs itself.
void LiveScorer::Replace(std::shared_ptr<const Model> model, const ScoreSettings& settings, TokenMap defined) {
  Adopt(NewCommon(std::move(model), settings, std::move(defined), end_user_));
}

// Scores the session anew with what may be another's. Changes nothing when it throws, but for definitions that are
// carried over.
void LiveScorer::Adopt(std::shared_ptr<Common> common) {
  const Model& model = *common->model;
  RoleScorer& scorer = *common->scorer;
  if (profile_.places() > 0 && scorer.settings().ngram_length != settings().ngram_length)
    throw Error("22023", "the session has n-grams of length " + std::to_string(settings().ngram_length));
  profile_.ForEachPlace([&](const State& state) {
    const AbstractionId id = state.first.back();
    if (scorer.FindTokens(id) == nullptr) common->defined.emplace(id, common_->scorer->TokensOf(id));
    if (common->peers != nullptr && common->peers->scorer->FindTokens(id) == nullptr)
      common->peers->defined.emplace(id, scorer.TokensOf(id));
  });
  Profile profile, peer_profile;
  auto reach = std::make_unique<ReachTracker>(model, scorer.settings().where_counts);
  reach->Replay(*reach_, model, [&](AbstractionId id) -> const Tokens& { return scorer.TokensOf(id); });
  profile_.ForEachPlace([&](const State& state) {
    const auto& [ngram, met] = state;
    const AbstractionId id = ngram.back();
    profile.Add(ngram, met.count, scorer)->second.form = reach->FormOf(model, id, scorer.TokensOf(id));
    if (common->peers != nullptr) peer_profile.Add(ngram, met.count, *common->peers->scorer);
  });
  common_ = std::move(common);
  reach_ = std::move(reach);
  reach_->WriteTo(journal_);
  profile_ = std::move(profile);
  peer_profile_ = std::move(peer_profile);
  if (state_ != nullptr) state_ = profile_.Find(Suffix(LastNGram(), settings().ngram_length));
  summary_ = Summarise();
  steps_.fill({});
  ++turn_;
}

SessionSummary LiveScorer::Summarise() const {
  const SessionSummary own = profile_.Summary();
  return common_->peers == nullptr ? own : WithPeers(own, peer_profile_);
}

// Takes in one more of an n-gram, where that changes more than the number of queries.
void LiveScorer::CountAmongPeers(State* met) {
  if (common_->peers != nullptr) peer_profile_.Add(met->first, 1, *common_->peers->scorer);
  summary_ = Summarise();
}

std::vector<MissingRate> LiveScorer::TakeMissing() {
  if (common_->peers == nullptr) return common_->scorer->TakeMissing();
  MissingRates all;
  all.Add(common_->scorer->TakeMissing());
  all.Add(common_->peers->scorer->TakeMissing());
  return all.List();
}

bool LiveScorer::Knows(AbstractionId id) const {
  return id == 0 || common_->defined.count(id) > 0 || common_->model->Knows(id);
}

void LiveScorer::Define(AbstractionId id, Tokens tokens) {
  if (id == 0) return;
  common_->defined.emplace(id, std::move(tokens));
}

void LiveScorer::ForgetUnused() { Replace(common_->model, settings(), {}); }

NGram LiveScorer::NextNGram(AbstractionId id) const {
  NGramWindow window = last_;
  window.Push(id);
  return Suffix(window.recorded(), settings().ngram_length);
}

// Takes in an n-gram that the session has not had.
LiveScorer::State* LiveScorer::Meet(AbstractionId id, const NGram& ngram) {
  const Tokens& tokens = common_->scorer->TokensOf(id);
  const std::uint32_t form = reach_->FormOf(*common_->model, id, tokens);
  Common* peers = common_->peers.get();
  if (peers != nullptr && peers->scorer->FindTokens(id) == nullptr) peers->defined.emplace(id, tokens);
  // Both or none: what one has counted is no longer new.
  if (peers != nullptr) peer_profile_.Prepare(ngram, *peers->scorer);
  State* state = profile_.Add(ngram, 1, *common_->scorer);
  state->second.form = form;
  if (peers != nullptr) peer_profile_.Add(ngram, 1, *peers->scorer);
  if (state->second.statement->count == 1) bytes_ += BytesOf(tokens);
  summary_ = Summarise();
  return state;
}

void LiveScorer::Observe(AbstractionId id, const BoundConstants& constants) {
  if (id == 0) return;
  State* next = FindStep(id);
  bool is_new = false;
  if (next == nullptr) {
    const NGram ngram = NextNGram(id);
    next = profile_.Find(ngram);
    is_new = next == nullptr;
    if (is_new) next = Meet(id, ngram);
    steps_[PlaceOfStep(id)] = {state_, next};
  }
  if (is_new) {
    ++turn_;
    GoTo(next);
  } else {
    Follow(next);
  }
  if (journal_ != nullptr && (is_new || settings().counting == ScoreSettings::kMultiset)) WriteMet(next->first);
  reach_->Observe(next->second.form, constants);
}

// Writes an n-gram into the journal, with the tokens of its statement unless they stand there.
void LiveScorer::WriteMet(const NGram& ngram) {
  const AbstractionId id = ngram.back();
  if (journalled_.insert(id).second)
    journal_->Write(SessionJournal::Definition{id, Joined(common_->scorer->TokensOf(id), {&kTokenEnd, 1})});
  journal_->Write(SessionJournal::Met{ngram});
}

void LiveScorer::WriteTo(SessionJournal* journal) {
  journal_ = journal;
  reach_->WriteTo(journal);
}

void LiveScorer::TellDay(SessionJournal* day) {
  day_ = day;
  reach_->TellDay(day, !has_model_);
}

void LiveScorer::CatchUp(const std::uint64_t* words, std::size_t size) {
  // Others have told it to whoever is to know.
  SessionJournal* own = journal_;
  SessionJournal* day = day_;
  const auto go_on = [&] {
    WriteTo(own);
    TellDay(day);
  };
  WriteTo(nullptr);
  TellDay(nullptr);
  JournalReader reader = {*this};
  try {
    SessionJournal::Read(words, size, reader);
  } catch (...) {
    go_on();
    throw;
  }
  go_on();
}

void LiveScorer::Resume(const NGram& ngram) {
  if (LastNGram() == ngram) return;
  state_ = profile_.Find(Suffix(ngram, settings().ngram_length));
  last_ = state_ == nullptr ? NGramWindow() : NGramWindow(ngram);
  ++turn_;
}

LiveScorer::Weighed LiveScorer::Weigh(AbstractionId id) {
  Weighed weighed;
  weighed.sum = summary_.statement_score;
  weighed.estimated = summary_.statement_estimated;
  const bool once = settings().counting == ScoreSettings::kSet;
  if (id == 0 || (once && (Repeats(id) || profile_.HasStatement(id)))) return weighed;
  const NGramScore own = EnforcedSum::Of(id, *common_->scorer);
  weighed.adds = own.score > 0;
  if (!weighed.adds) return weighed;
  weighed.rise = own.score;
  weighed.sum = profile_.StatementScoreWith(own.score);
  weighed.estimated = weighed.estimated || own.score_estimated;
  return weighed;
}

bool LiveScorer::IsAboutProtected(AbstractionId id) {
  return id != 0 && reach_->Counts(reach_->FormOf(*common_->model, id, common_->scorer->TokensOf(id)));
}

std::string LiveScorer::ExplainStatement(AbstractionId id) {
  NGram statement{};
  statement.back() = id;
  return NGramJson(*common_->scorer, statement, ScoreLevel::kStatement);
}

void LiveScorer::Restart() {
  ++turn_;
  state_ = nullptr;
  last_ = NGramWindow();
  steps_.fill({});
  bytes_ = 0;
  if (common_.use_count() == 1) common_->defined.clear();
  profile_ = Profile();
  peer_profile_ = Profile();
  summary_ = Summarise();
  reach_ = std::make_unique<ReachTracker>(*common_->model, settings().where_counts);
  reach_->WriteTo(journal_);
  TellDay(day_);
  journalled_.clear();
}

ReachLimits LiveScorer::LeastOutOfReach(double factor) const noexcept {
  if (common_->baseline != nullptr)
    return privacy_score::LeastOutOfReach(common_->baseline->greatest, factor, common_->accepted_reach);
  ReachLimits none;
  none.fill(kNeverOutOfReach);
  return none;
}

std::vector<ReachExcess> LiveScorer::OutOfReach(double factor) const {
  if (common_->baseline == nullptr) return {};
  return privacy_score::OutOfReach(reach(), common_->baseline->greatest, factor, common_->accepted_reach);
}

bool LiveScorer::HasNGram(const NGram& recorded, const ScoreSettings& settings) {
  return recorded.back() != 0 && (settings.pad || !HasPadding(recorded, settings.ngram_length));
}

std::string LiveScorer::LastExplanation() {
  const NGram last = LastNGram();
  if (!HasNGram(last, settings())) return "{}";
  return NGramJson(*common_->scorer, Suffix(last, settings().ngram_length), ScoreLevel::kNGram);
}

double LiveScorer::LastScore() {
  const NGram last = LastNGram();
  if (!HasNGram(last, settings())) return 0;
  return common_->scorer->Score(Suffix(last, settings().ngram_length), ScoreLevel::kNGram).score;
}

}  // namespace privacy_score
