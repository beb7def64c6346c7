/*
 * explain.cpp - why a statement or an n-gram scores what it scores, as JSON.
 */
#include "core/scoring/explain.hpp"

#include <algorithm>
#include <memory>

#include "core/base/json.hpp"
#include "core/base/sort_unique.hpp"
#include "core/scoring/aggregates.hpp"
#include "core/scoring/missing_rates.hpp"

namespace privacy_score {

namespace {

void WriteSettings(JsonWriter& json, const ScoreSettings& settings) {
  json.Key("settings").BeginObject();
  json.Key("ngram_length").Value(static_cast<std::int64_t>(settings.ngram_length));
  json.Key("counting").Value(settings.counting == ScoreSettings::kSet ? "set" : "multiset");
  json.Key("compare").Value(settings.compare == ScoreSettings::kUnion ? "union" : "positionwise");
  json.Key("alpha").Value(settings.alpha);
  json.Key("where_counts").Value(settings.where_counts);
  json.Key("pad").Value(settings.pad);
  json.Key("identifiers_count").Value(settings.identifiers_count);
  json.Key("aggregate_least").Value(static_cast<std::int64_t>(settings.aggregate_least));
  json.EndObject();
}

void WriteMissing(JsonWriter& json, const std::vector<MissingRate>& missing) {
  json.Key("missing").BeginArray();
  for (const MissingRate& rate : missing) {
    json.BeginObject().Key("relation").Value(rate.relation).Key("attributes").BeginArray();
    for (std::size_t at = 0; at <= rate.attributes.size();) {
      const auto end = std::min(rate.attributes.find(kAttributeSeparator, at), rate.attributes.size());
      json.Value(std::string_view(rate.attributes).substr(at, end - at));
      at = end + 1;
    }
    json.EndArray().EndObject();
  }
  json.EndArray();
}

// The rate of what is revealed, in all and relation by relation.
void WriteIdentification(JsonWriter& json, RateBook& rates, const Model& model, const AttributeSet& revealed) {
  rates.Want(revealed);
  json.Key("identification").Value(rates.Combined(revealed).upper);
  json.Key("relations").BeginArray();
  for (const AttributeSet& part : rates.ByRelation(revealed)) {
    const RateBounds rate = rates.OfRelation(part);
    json.BeginObject();
    json.Key("relation").Value(model.relations()[model.attributes()[part.front()].relation].name);
    json.Key("attributes").Value(model.NamesOf(part));
    json.Key("rate").Value(rate.upper);
    json.Key("lower_bound").Value(rate.lower);
    json.Key("exact").Value(rate.exact());
    json.EndObject();
  }
  json.EndArray();
}

// The columns that are revealed, and of these the ones that are only under aggregates, whose cells `cells` name: these
// have few subjects.
void WriteRevealed(JsonWriter& json, const Model& model, const AttributeSet& revealed, const Tokens& tokens,
                   const ScoreSettings& settings) {
  const std::vector<std::string> single =
      model.NamesOf(DifferenceOf(revealed, model.Revealed(tokens, settings.where_counts)));
  std::vector<std::string> all = RevealedColumns(tokens, settings.where_counts);
  all.insert(all.end(), single.begin(), single.end());
  SortUnique(all);
  const AggregateTokens read = ReadAggregates(tokens);
  json.Key("revealed_columns").Value(all);
  json.Key("singled_out").Value(single);
  json.Key("cells").Value(read.aggregates.empty() ? std::vector<std::string>() : read.cells);
}

// The columns that the statement reads and that determine another one, which it does not read, by dependencies that its
// owner has confirmed.
std::vector<std::string> Determinants(const Model& model, const AttributeSet& read, AttributeId id) {
  std::vector<std::string> names;
  for (const AttributeId one : read)
    if (IsSubset({id}, model.Closure({one}))) names.push_back(model.attributes()[one].name);
  // Several columns may only do so together.
  return names.empty() ? model.NamesOf(read) : names;
}

// The columns that make tau: those that are read, then those that follow from them.
void WriteNewColumns(JsonWriter& json, const PairScorer& pairs, ClassId a, ClassId b) {
  const Model& model = pairs.model();
  const AttributeSet& read = pairs.class_of(a).revealed;
  const auto is_read = [&](AttributeId id) { return IsSubset({id}, read); };
  AttributeSet columns = pairs.Surprising(a, b);
  std::stable_partition(columns.begin(), columns.end(), is_read);
  json.Key("new_columns").BeginArray();
  for (const AttributeId id : columns) {
    const Attribute& attribute = model.attributes()[id];
    json.BeginObject().Key("column").Value(attribute.name).Key("follows_from");
    json.Value(is_read(id) ? std::vector<std::string>() : Determinants(model, read, id)).Key("label");
    if (attribute.label == Label::kNone) {
      json.Null();
    } else {
      json.Value(TextOf(attribute.label));
    }
    json.Key("identifier").Value(attribute.identifier);
    json.Key("probability").Value(pairs.Probability(id));
    json.Key("weight").Value(pairs.Weight(id));
    json.EndObject();
  }
  json.EndArray();
}

void WriteNearest(JsonWriter& json, const std::vector<std::string>& lines, const NGramExplanation& explained) {
  json.Key("nearest").Value(lines);
  json.Key("deltas").Value(explained.deltas);
  json.Key("attributes").Value(explained.attributes);
  json.Key("score").Value(explained.score.score);
  json.Key("tight_max").Value(explained.score.tight);
  json.Key("estimated").Value(explained.score.estimated);
}

std::shared_ptr<const Model> Shared(std::string_view wire) { return std::make_shared<const Model>(Model::Parse(wire)); }

// The tokens of an abstraction of the baseline; empty when they were lost.
Tokens KnownTokens(const Model& model, AbstractionId id) {
  const Tokens* tokens = model.FindTokens(id);
  return tokens != nullptr ? *tokens : Tokens{};
}

}  // namespace

Explained ExplainQuery(std::string_view model_wire, std::string_view role, const ScoreSettings& settings,
                       const Tokens& tokens, const std::vector<std::string>& problems, std::string_view end_user) {
  const std::shared_ptr<const Model> shared = Shared(model_wire);
  RoleScorer scorer(shared, role, settings, nullptr, {}, end_user);
  PairScorer& pairs = scorer.pairs();
  const Model& model = scorer.model();
  const ClassId own = pairs.ClassOf(tokens);
  const NGramExplanation explained = scorer.ExplainTokens({tokens}, ScoreLevel::kStatement);
  const AbstractionId nearest_id = explained.nearest.back();
  const Tokens nearest_tokens = explained.score.matched ? tokens : KnownTokens(model, nearest_id);
  const ClassId nearest = pairs.ClassOf(nearest_tokens);

  JsonWriter json;
  json.BeginObject().Key("version").Value(std::int64_t{1});
  json.Key("role").Value(role);
  const Baseline* baseline = model.BaselineFor(role, end_user);
  if (!end_user.empty()) {
    json.Key("end_user").Value(end_user);
    json.Key("own_baseline").Value(baseline != nullptr && !baseline->end_user.empty());
  }
  json.Key("baseline").Value(baseline != nullptr);
  WriteSettings(json, settings);
  json.Key("abstraction").Value(tokens);
  json.Key("problems").Value(problems);
  WriteRevealed(json, model, pairs.class_of(own).revealed, tokens, settings);
  json.Key("scored_columns").Value(model.NamesOf(pairs.class_of(own).scored));
  WriteIdentification(json, pairs.rates(), model, pairs.class_of(own).revealed);
  json.Key("known").Value(explained.score.matched);
  json.Key("nearest").Value(nearest_tokens);
  json.Key("delta").Value(pairs.Delta(own, nearest).upper);
  json.Key("tau").Value(pairs.Tau(own, nearest));
  WriteNewColumns(json, pairs, own, nearest);
  json.Key("attributes").Value(explained.attributes);
  json.Key("score").Value(explained.score.score);
  json.Key("tight_max").Value(explained.score.tight);
  MissingRates missing;
  missing.Add(scorer.TakeMissing());
  bool estimated = explained.score.estimated;
  if (model.PeersOf(role, end_user) != nullptr) {
    RoleScorer peers(shared, role, settings);
    const NGramScore among_peers = peers.ExplainTokens({tokens}, ScoreLevel::kStatement).score;
    json.Key("peer_known").Value(among_peers.matched);
    json.Key("peer_score").Value(among_peers.score);
    estimated = estimated || among_peers.estimated;
    missing.Add(peers.TakeMissing());
  }
  Explained result;
  result.missing = missing.List();
  json.Key("estimated").Value(estimated || !result.missing.empty());
  WriteMissing(json, result.missing);
  result.json = json.EndObject().text();
  return result;
}

void WriteRates(JsonWriter& json, RateBook& rates, const Model& model, const std::vector<std::string>& columns) {
  AttributeSet all;
  json.Key("rates").BeginObject();
  for (const std::string& name : columns) {
    const auto id = model.FindAttribute(name);
    if (!id) continue;
    all.push_back(*id);
    json.Key(name);
    const RateBounds* rate = rates.KnownOf(*id);
    if (rate != nullptr && rate->exact()) {
      json.Value(rate->upper);
      continue;
    }
    const double bound = rates.LeastWith(*id);
    if (bound < 1) {
      json.BeginObject().Key("at_most").Value(bound).EndObject();
    } else {
      json.Null();
    }
  }
  json.EndObject();
  std::sort(all.begin(), all.end());
  const RateBounds together = rates.Combined(all);
  json.Key("combined_rate").Value(together.upper);
  json.Key("combined_rate_exact").Value(together.exact());
}

void WantEach(RateBook& rates, const Model& model, const std::vector<std::string>& columns) {
  for (const std::string& name : columns) {
    if (const auto id = model.FindAttribute(name)) rates.Want({*id});
  }
}

std::string NGramJson(RoleScorer& scorer, const NGram& ngram, ScoreLevel level) {
  const NGramExplanation explained = scorer.Explain(ngram, level);
  JsonWriter json;
  json.BeginObject().Key("version").Value(std::int64_t{1});
  json.Key("ngram").Value(scorer.ReadableForm(ngram, level));
  json.Key("known").Value(explained.score.matched);
  WriteNearest(json, scorer.ReadableForm(explained.nearest, level), explained);
  // What is not known yet is for the next alert of these columns.
  WantEach(scorer.pairs().rates(), scorer.model(), explained.attributes);
  WriteRates(json, scorer.pairs().rates(), scorer.model(), explained.attributes);
  return json.EndObject().text();
}

Identification IdentificationOf(const Model& model, const Tokens& tokens, const ScoreSettings& settings) {
  RateBook rates(model);
  const AttributeSet revealed = Reveal(model, rates, tokens, settings).most;
  rates.Want(revealed);
  return {rates.Combined(revealed), rates.TakeMissing()};
}

}  // namespace privacy_score
