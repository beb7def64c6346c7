/*
 * score.cpp - the score of n-grams against the baseline of one role, or of one of its end users.
 */
#include "core/scoring/score.hpp"

#include <algorithm>
#include <utility>

#include "core/base/error.hpp"
#include "core/base/joined.hpp"
#include "core/base/sort_unique.hpp"
#include "core/scoring/aggregates.hpp"

namespace privacy_score {

RoleScorer::RoleScorer(std::shared_ptr<const Model> model, std::string_view role, const ScoreSettings& settings,
                       const TokenMap* defined, const ScoreMemory& memory, std::string_view end_user)
    : pairs_(std::move(model), role, settings, end_user),
      defined_(defined),
      memory_(memory),
      deltas_(pairs_, memory.deltas) {
  places_.emplace(0, Place());
  known_places_.emplace(0, kEmptyClass);
  const Baseline* baseline = baseline_ = this->model().BaselineFor(role, end_user);
  if (baseline != nullptr && !baseline->cells)
    baseline->statements.sets.ForEach([&](std::int64_t, const AbstractionId* first, const AbstractionId* last) {
      before_cells_.insert(first, last);
    });
  static const NGramTable nothing;
  known_ = baseline != nullptr ? &baseline->ngrams : &nothing;
  whole_ = baseline == nullptr || baseline->whole;
  std::vector<NGram> beside = baseline != nullptr ? AcceptedNGrams(role, end_user) : std::vector<NGram>();
  if (!whole_)
    baseline->statements.sets.ForEach([&](std::int64_t, const AbstractionId* first, const AbstractionId* last) {
      for (; first != last; ++first) beside.push_back({0, 0, 0, 0, 0, *first});
    });
  if (!beside.empty()) {
    std::vector<NGramTable::Counted> all = known_->List();
    for (const NGram& ngram : beside) all.push_back({ngram, 1});
    with_accepted_ = NGramTable(all);
    known_ = &with_accepted_;
  }
  ngrams_ = LevelOfLength(settings.ngram_length);
  statements_ = LevelOfLength(1);
}

// The recorded n-grams that are accepted beside the baseline, as it would know them.
std::vector<NGram> RoleScorer::AcceptedNGrams(std::string_view role, std::string_view end_user) {
  std::vector<NGram> all;
  const auto take = [&](const AcceptedWork* accepted) {
    if (accepted == nullptr) return;
    for (const NGram& ngram : accepted->ngrams) {
      const bool known =
          std::all_of(ngram.begin(), ngram.end(), [&](AbstractionId id) { return FindTokens(id) != nullptr; });
      all.push_back(known ? KnownAs(ngram) : ngram);
    }
  };
  take(model().AcceptedOf(role, {}));
  if (!end_user.empty()) take(model().AcceptedOf(role, end_user));
  return all;
}

RoleScorer::Level RoleScorer::LevelOfLength(int length) const {
  Level level;
  level.length = length;
  level.positions = settings().compare == ScoreSettings::kUnion ? 1 : static_cast<std::size_t>(length);
  return level;
}

// Which column each statement is. Most sessions never have anything but what is known, and need none.
void RoleScorer::FindColumns() {
  if (has_columns_) return;
  deltas_.Clear();
  deltas_.ColumnOf(kEmptyClass);
  statement_columns_.clear();
  for (Level* level : {&ngrams_, &statements_}) {
    level->empty = true;
    known_->Descend(
        level->length, settings().pad, [&](std::size_t, std::uint32_t) { return level->empty; },
        [&](std::size_t) { level->empty = false; });
    if (settings().compare != ScoreSettings::kUnion) continue;
    level->unions.clear();
    level->explained_unions.clear();
    known_->ForEach(level->length, settings().pad, [&](const NGram& ngram, std::int64_t) {
      level->unions.push_back(deltas_.ColumnOf(KnownClassesOf(*level, ngram)[0]));
    });
    SortUnique(level->unions);
  }
  // What stands farther in front is nothing to the score, and its rates are not wanted.
  if (settings().compare != ScoreSettings::kUnion) {
    static const TokenTable nothing;
    TableReveals reveals(model(), baseline_ != nullptr ? baseline_->statements.tokens : nothing,
                         settings().where_counts);
    for (const AbstractionId id : known_->IdsWithin(settings().ngram_length))
      statement_columns_.push_back(deltas_.ColumnOf(KnownClassIn(reveals, id)));
  }
  has_columns_ = true;
}

bool RoleScorer::IsKnown(const Level& level, const NGram& ngram) const {
  return (settings().pad || !HasPadding(ngram, level.length)) && known_->Has(ngram, level.length);
}

void RoleScorer::Define(AbstractionId id, const Tokens& tokens) {
  if (places_.count(id) > 0) return;
  const AbstractionId known = FindKnownAs(id, tokens);
  known_as_.emplace(id, known);
  if (known != id) return;
  Place place;
  place.id = pairs_.ClassOf(tokens, &place.exact);
  places_.emplace(id, place);
}

AbstractionId RoleScorer::FindKnownAs(AbstractionId id, const Tokens& tokens) const {
  if (before_cells_.empty() || before_cells_.count(id) > 0) return id;
  const Tokens before = WithoutCells(tokens);
  if (before.size() == tokens.size()) return id;
  const AbstractionId known = Fingerprint(before);
  return before_cells_.count(known) > 0 ? known : id;
}

AbstractionId RoleScorer::KnownAs(AbstractionId id) {
  if (before_cells_.empty() || id == 0) return id;
  const auto found = known_as_.find(id);
  if (found != known_as_.end()) return found->second;
  return known_as_.emplace(id, FindKnownAs(id, TokensOf(id))).first->second;
}

NGram RoleScorer::KnownAs(const NGram& ngram) {
  if (before_cells_.empty()) return ngram;
  NGram known = ngram;
  for (AbstractionId& id : known) id = KnownAs(id);
  return known;
}

const Tokens* RoleScorer::FindTokens(AbstractionId id) const {
  if (id == 0) return &no_tokens_;
  if (defined_ != nullptr) {
    const auto found = defined_->find(id);
    if (found != defined_->end()) return &found->second;
  }
  return model().FindTokens(id);
}

const Tokens& RoleScorer::TokensOf(AbstractionId id) const {
  if (const Tokens* tokens = FindTokens(id)) return *tokens;
  throw Error("XX001", "abstraction " + std::to_string(id) + " is not known");
}

RoleScorer::Place RoleScorer::PlaceOf(AbstractionId id) {
  const auto found = places_.find(id);
  if (found != places_.end()) return found->second;
  Place place;
  place.id = pairs_.ClassOf(TokensOf(id), &place.exact);
  return places_.emplace(id, place).first->second;
}

// The class of an abstraction of the baseline. It may be unknown (its tokens were lost): it then counts as revealing
// nothing, which can only raise scores.
ClassId RoleScorer::FindKnownClass(AbstractionId id) {
  // Those of a baseline are many, and wanted once.
  const std::optional<Tokens> of_baseline =
      baseline_ == nullptr ? std::nullopt : model().TokensIn(baseline_->statements, id);
  const Tokens* tokens = of_baseline ? &*of_baseline : FindTokens(id);
  return tokens == nullptr ? kEmptyClass : pairs_.KnownClassOf(*tokens);
}

// The same, with what the statements of the baseline reveal.
ClassId RoleScorer::KnownClassIn(TableReveals& reveals, AbstractionId id) {
  const TableReveals::Revealed* revealed = reveals.Of(id);
  if (revealed == nullptr || (revealed->has_functions && settings().aggregate_least > 0)) return FindKnownClass(id);
  return revealed->unparsed ? kUnparsedClass : pairs_.Intern(revealed->columns);
}

ClassId RoleScorer::KnownClassOf(AbstractionId id) {
  const auto found = known_places_.find(id);
  return found != known_places_.end() ? found->second : known_places_.emplace(id, FindKnownClass(id)).first->second;
}

RoleScorer::Classes RoleScorer::ClassesOf(const Level& level, const NGram& ngram, bool* exact) {
  Classes places{};
  *exact = true;
  for (int k = 0; k < level.length; ++k) {
    const Place place = PlaceOf(ngram[static_cast<std::size_t>(kRecordedLength - level.length + k)]);
    places[static_cast<std::size_t>(k)] = place.id;
    *exact = *exact && place.exact;
  }
  return Together(level, places);
}

RoleScorer::Classes RoleScorer::KnownClassesOf(const Level& level, const NGram& ngram) {
  Classes places{};
  for (int k = 0; k < level.length; ++k)
    places[static_cast<std::size_t>(k)] =
        KnownClassOf(ngram[static_cast<std::size_t>(kRecordedLength - level.length + k)]);
  return Together(level, places);
}

// For 'union' the class of all places together, else the places as they are.
RoleScorer::Classes RoleScorer::Together(const Level& level, Classes places) {
  if (settings().compare != ScoreSettings::kUnion) return places;
  AttributeSet all;
  Classes together{};
  for (int k = 0; k < level.length; ++k) {
    const ClassId place = places[static_cast<std::size_t>(k)];
    if (place == kUnparsedClass) together[0] = kUnparsedClass;
    all = UnionOf(all, pairs_.class_of(place).revealed);
  }
  if (together[0] != kUnparsedClass) together[0] = pairs_.Intern(all);
  return together;
}

NGramScore RoleScorer::Score(const NGram& ngram, ScoreLevel which) {
  Level& level = LevelOf(which);
  const auto found = level.memo.find(ngram);
  if (found != level.memo.end()) return found->second;
  NGramScore score;
  if (ByStatements(which)) {
    score = ScoreByStatements(ngram);
  } else {
    const NGram known = KnownAs(ngram);
    bool exact = true;
    const Classes classes = ClassesOf(level, known, &exact);
    score = Compute(level, classes, exact, IsKnown(level, known));
  }
  if (level.memo.size() >= memory_.scores) level.memo.clear();
  level.memo.emplace(ngram, score);
  return score;
}

// The statement at a place of an n-gram of ngram_length, counted from its first.
NGram RoleScorer::StatementAt(const NGram& ngram, int place) const {
  NGram statement{};
  statement.back() = ngram[static_cast<std::size_t>(kRecordedLength - settings().ngram_length + place)];
  return statement;
}

NGramScore RoleScorer::ScoreByStatements(const NGram& ngram) {
  NGramScore score;
  score.matched = true;
  score.estimated = score.score_estimated = true;
  const bool together = settings().compare == ScoreSettings::kUnion;
  for (int k = 0; k < settings().ngram_length; ++k) {
    const NGram statement = StatementAt(ngram, k);
    if (statement.back() == 0) continue;
    const NGramScore own = Score(statement, ScoreLevel::kStatement);
    score.matched = score.matched && own.matched;
    score.score = together ? std::max(score.score, own.score) : score.score + own.score;
    score.tight = together ? std::max(score.tight, own.tight) : score.tight + own.tight;
  }
  // One that is accepted as it is.
  if (!score.matched && IsKnown(ngrams_, KnownAs(ngram))) score.matched = true;
  if (score.matched) score.score = 0;
  return score;
}

NGramExplanation RoleScorer::ExplainByStatements(const NGram& ngram) {
  NGramExplanation explanation;
  explanation.score = Score(ngram, ScoreLevel::kNGram);
  if (explanation.score.matched) {
    explanation.nearest = ngram;
    explanation.deltas.assign(ngrams_.positions, 0);
    return explanation;
  }
  for (int k = 0; k < settings().ngram_length; ++k) {
    const NGram statement = StatementAt(ngram, k);
    if (statement.back() == 0) {
      explanation.deltas.push_back(0);
      continue;
    }
    NGramExplanation own = Explain(statement, ScoreLevel::kStatement);
    explanation.nearest[static_cast<std::size_t>(kRecordedLength - settings().ngram_length + k)] = own.nearest.back();
    explanation.deltas.push_back(own.score.score);
    explanation.attributes.insert(explanation.attributes.end(), own.attributes.begin(), own.attributes.end());
  }
  SortUnique(explanation.attributes);
  if (settings().compare == ScoreSettings::kUnion) explanation.deltas = {explanation.score.score};
  return explanation;
}

NGramScore RoleScorer::Compute(Level& level, const Classes& classes, bool exact, bool matched) {
  NGramScore score;
  score.matched = matched;
  score.estimated = !exact || pairs_.RestsOnBounds();
  score.score_estimated = score.estimated && !matched;
  for (std::size_t k = 0; k < level.positions; ++k) {
    const RateBounds bounds = pairs_.Combined(classes[k], kEmptyClass);
    score.tight += bounds.upper;
    if (bounds.exact()) continue;
    score.estimated = true;
    pairs_.Want(classes[k], kEmptyClass);
  }
  if (!matched) ComputeNearest(level, classes, score);
  return score;
}

NGramExplanation RoleScorer::Explain(const NGram& ngram, ScoreLevel which) {
  if (ByStatements(which)) return ExplainByStatements(ngram);
  Level& level = LevelOf(which);
  const NGram known = KnownAs(ngram);
  bool exact = true;
  const Classes classes = ClassesOf(level, known, &exact);
  return ExplainClasses(level, known, classes, Score(ngram, which));
}

NGramExplanation RoleScorer::ExplainTokens(const std::vector<Tokens>& places, ScoreLevel which) {
  Level& level = LevelOf(which);
  if (places.size() != static_cast<std::size_t>(level.length)) {
    throw InvalidValue("n-gram must have " + std::to_string(level.length) + " statements, not " +
                       std::to_string(places.size()));
  }
  NGram ngram{};
  Classes classes{};
  bool exact = true;
  for (std::size_t k = 0; k < places.size(); ++k) {
    AbstractionId& id = ngram[ngram.size() - places.size() + k];
    id = places[k].empty() ? 0 : Fingerprint(places[k]);
    const AbstractionId known = FindKnownAs(id, places[k]);
    bool place_exact = true;
    classes[k] = pairs_.ClassOf(known == id ? places[k] : WithoutCells(places[k]), &place_exact);
    exact = exact && place_exact;
    id = known;
  }
  classes = Together(level, classes);
  return ExplainClasses(level, ngram, classes, Compute(level, classes, exact, IsKnown(level, ngram)));
}

NGramExplanation RoleScorer::ExplainClasses(Level& level, const NGram& ngram, const Classes& classes,
                                            const NGramScore& score) {
  NGramExplanation explanation;
  explanation.score = score;
  Classes nearest{};
  if (score.matched) {
    explanation.nearest = ngram;
    nearest = classes;
  } else {
    FindColumns();
    explanation.nearest = NearestOf(level, ngram, classes, score.score);
    nearest = KnownClassesOf(level, explanation.nearest);
  }
  AttributeSet causes;
  for (std::size_t k = 0; k < level.positions; ++k) {
    explanation.deltas.push_back(pairs_.Combined(classes[k], nearest[k]).upper);
    if (explanation.deltas.back() > 0) causes = UnionOf(causes, pairs_.Causes(classes[k], nearest[k]));
  }
  explanation.attributes = model().NamesOf(causes);
  std::sort(explanation.attributes.begin(), explanation.attributes.end());
  return explanation;
}

AttributeSet RoleScorer::BaselineAttributes() {
  AttributeSet all;
  known_->ForEach(1, settings().pad, [&](const NGram& ngram, std::int64_t) {
    all = UnionOf(all, pairs_.class_of(KnownClassOf(ngram.back())).scored);
  });
  return all;
}

std::vector<std::string> RoleScorer::BaselineColumns() {
  std::vector<std::string> names = model().NamesOf(BaselineAttributes());
  std::sort(names.begin(), names.end());
  return names;
}

RateBounds RoleScorer::BaselineRate() {
  const AttributeSet all = BaselineAttributes();
  pairs_.rates().Want(all);
  return pairs_.rates().Combined(all);
}

std::vector<std::string> RoleScorer::ReadableForm(const NGram& ngram, ScoreLevel which) const {
  std::vector<std::string> lines;
  const int length = LengthOf(which);
  for (int k = kRecordedLength - length; k < kRecordedLength; ++k) {
    const Tokens* tokens = FindTokens(ngram[static_cast<std::size_t>(k)]);
    lines.push_back(tokens != nullptr ? Joined(*tokens, " ") : "unknown");
  }
  return lines;
}

}  // namespace privacy_score
