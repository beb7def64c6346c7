/*
 * model.cpp - reading the model and looking things up in it.
 */
#include "core/scoring/model.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <tuple>

#include "core/base/error.hpp"
#include "core/base/sort_unique.hpp"
#include "core/scoring/model_sections.hpp"
#include "core/scoring/reach_limits.hpp"

namespace privacy_score {

namespace {

// Stands before a figure of reach that is one of a day.
constexpr std::string_view kOfDay = "day_";

Label ParseLabel(const Field& field) {
  if (!field) return Label::kNone;
  for (const Label label : {Label::kIdentifier, Label::kQuasiIdentifier, Label::kSensitive, Label::kPublic}) {
    if (*field == TextOf(label)) return label;
  }
  throw DamagedData("unknown label " + std::string(*field));
}

// A rate or an entropy. What compares with nothing would make scores that no limit is below.
double ParseFigure(const Field& field) {
  const double figure = ParseDouble(Required(field));
  if (!std::isfinite(figure)) throw DamagedData("a figure that is " + RequiredText(field));
  return figure;
}

// The rate of a row of section `rates`. A modified row of a relation may have left one subject for another, which
// counts for two of the subjects that a joint rate is computed over.
RateBounds ParseRate(const Row& row, bool joint) {
  const double rate = std::clamp(ParseFigure(row[RateSection::kRate]), 0.0, 1.0);
  const Field& modifications = row[RateSection::kModified];
  if (!modifications) return {rate, rate};
  const std::int64_t modified = std::min(ParseInteger(*modifications), kMostCounted);
  if (modified < 0) return {0, 1};
  return AfterModifications(rate, ParseFigure(row[RateSection::kSubjectEntropy]),
                            ParseInteger(Required(row[RateSection::kRows])), joint ? 2 * modified : modified);
}

// A limit, which nothing is not and which is not below zero.
std::optional<double> ParseLimit(const Field& field) {
  if (!field) return std::nullopt;
  const double limit = ParseDouble(*field);
  if (!(limit >= 0)) throw DamagedData("a limit that is " + RequiredText(field));
  return limit;
}

}  // namespace

std::string PrincipalKey(std::string_view role, std::string_view end_user) {
  std::string key(role);
  return key.append(1, '\0').append(end_user);
}

std::size_t AttributeSetHash::operator()(const AttributeSet& set) const noexcept {
  std::uint64_t hash = 0x9e3779b97f4a7c15U + set.size();
  for (const AttributeId id : set) {
    hash = (hash ^ id) * 0xff51afd7ed558ccdU;
    hash ^= hash >> 32U;
  }
  return static_cast<std::size_t>(hash);
}

AttributeSet UnionOf(const AttributeSet& a, const AttributeSet& b) {
  AttributeSet result;
  result.reserve(a.size() + b.size());
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(result));
  return result;
}

AttributeSet DifferenceOf(const AttributeSet& a, const AttributeSet& b) {
  AttributeSet result;
  std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(result));
  return result;
}

bool IsSubset(const AttributeSet& a, const AttributeSet& b) {
  return std::includes(b.begin(), b.end(), a.begin(), a.end());
}

std::string_view TextOf(Label label) {
  switch (label) {
    case Label::kIdentifier:
      return "identifier";
    case Label::kQuasiIdentifier:
      return "quasi-identifier";
    case Label::kSensitive:
      return "sensitive";
    case Label::kPublic:
      return "public";
    case Label::kNone:
      break;
  }
  return "";
}

Model Model::Read(WireReader& reader, std::optional<std::string_view> only_role) {
  return Read(reader, only_role, nullptr);
}

Model Model::Read(WireReader& reader, std::optional<std::string_view> only_role, const ModelSource* source) {
  Model model;
  using Column = RelationSection;
  for (const Row& row : reader.Section(Column::kColumns)) {
    const auto id = static_cast<std::uint32_t>(model.relations_.size());
    const std::string name = RequiredText(row[Column::kName]);
    if (!model.relation_ids_.emplace(name, id).second) throw DamagedData("relation " + name + " stands twice");
    model.relations_.push_back({name, ParseInteger(Required(row[Column::kSubjectGroup])),
                                ParseBool(Required(row[Column::kIsRowSubject])),
                                std::string(row[Column::kJointHome].value_or(std::string_view()))});
  }
  model.ReadAttributes(reader);
  model.ReadDependencies(reader);
  model.tokens_ = ReadTokens(reader);
  model.ReadBaselines(reader, only_role, source);
  model.ReadLimits(reader);
  model.ReadAccepted(reader);
  if (source == nullptr || source->published.empty()) model.ReadRates(reader);
  return model;
}

Model Model::Parse(const ModelSource& source, std::optional<std::string_view> only_role) {
  WireReader reader(source.wire);
  Model model = Read(reader, only_role, &source);
  model.holder_ = source.holder;
  WireReader published(source.published);
  if (!published.AtEnd()) {
    model.ReadRevealing(published);
    model.packed_rates_ = PackedRates::Read(published, model.relations_.size());
    model.rates_by_relation_.resize(model.relations_.size());
  }
  if (!reader.AtEnd() || !published.AtEnd()) throw DamagedData("bytes after the model");
  return model;
}

void Model::ReadLimits(WireReader& reader) {
  using Column = LimitSection;
  for (const Row& row : reader.Section(Column::kColumns))
    limits_[PrincipalKey(Required(row[Column::kRole]), Required(row[Column::kEndUser]))] = {
        ParseLimit(row[Column::kSessionLimit]), ParseLimit(row[Column::kDailyLimit])};
}

void Model::ReadAccepted(WireReader& reader) {
  using Column = AcceptedSection;
  reader.EachRow(Column::kColumns, [&](const Row& row) {
    AcceptedWork& accepted =
        accepted_[PrincipalKey(Required(row[Column::kRole]), row[Column::kEndUser].value_or(std::string_view()))];
    if (const Field& ngram = row[Column::kNgram]) {
      accepted.ngrams.push_back(ParseNGram(*ngram));
      return;
    }
    std::string_view figure = Required(row[Column::kFigure]);
    const bool of_day = figure.substr(0, kOfDay.size()) == kOfDay;
    if (of_day) figure.remove_prefix(kOfDay.size());
    const auto* const name = std::find(std::begin(kReachFigureNames), std::end(kReachFigureNames), figure);
    if (name == std::end(kReachFigureNames))
      throw DamagedData("what is accepted of figure " + RequiredText(row[Column::kFigure]));
    std::optional<std::int64_t>& height =
        (of_day ? accepted.reach_of_day
                : accepted.reach)[static_cast<std::size_t>(name - std::begin(kReachFigureNames))];
    height = std::max(height.value_or(0), ParseCount(Required(row[Column::kHeight])));
  });
}

const AcceptedWork* Model::AcceptedOf(std::string_view role, std::string_view end_user) const {
  if (accepted_.empty()) return nullptr;
  const auto found = accepted_.find(PrincipalKey(role, end_user));
  return found == accepted_.end() ? nullptr : &found->second;
}

GreatestReach Model::AcceptedReach(std::string_view role, std::string_view end_user, bool of_day) const {
  GreatestReach all;
  for (const std::string_view whose : {std::string_view(), end_user}) {
    const AcceptedWork* accepted = AcceptedOf(role, whose);
    if (accepted == nullptr) continue;
    const GreatestReach& reach = of_day ? accepted->reach_of_day : accepted->reach;
    for (std::size_t figure = 0; figure < all.size(); ++figure)
      if (reach[figure]) all[figure] = std::max(all[figure].value_or(0), *reach[figure]);
  }
  return all;
}

const EndUserLimits* Model::LimitsOf(std::string_view role, std::string_view end_user) const {
  if (limits_.empty()) return nullptr;
  const auto found = limits_.find(PrincipalKey(role, end_user));
  return found == limits_.end() ? nullptr : &found->second;
}

void Model::ReadAttributes(WireReader& reader) {
  using Column = AttributeSection;
  for (const Row& row : reader.Section(Column::kColumns)) {
    const auto relation = relation_ids_.find(RequiredText(row[Column::kRelationName]));
    if (relation == relation_ids_.end()) continue;
    const Field& position = row[Column::kSubjectPosition];
    attributes_.push_back({RequiredText(row[Column::kName]), relation->second, ParseLabel(row[Column::kLabel]),
                           ParseBool(Required(row[Column::kIdentifier])),
                           position ? static_cast<int>(ParseInteger(*position)) : -1});
  }
  std::sort(attributes_.begin(), attributes_.end(), [](const Attribute& a, const Attribute& b) {
    return std::tie(a.relation, a.name) < std::tie(b.relation, b.name);
  });
  attribute_ids_.reserve(attributes_.size());
  for (const Attribute& attribute : attributes_) {
    const auto id = static_cast<AttributeId>(attribute_ids_.size());
    if (!attribute_ids_.emplace(attribute.name, id).second)
      throw DamagedData("attribute " + attribute.name + " stands twice");
  }
}

void Model::ReadDependencies(WireReader& reader) {
  std::vector<AttributeSet> direct(attributes_.size());
  for (const Row& row : reader.Section(DependencySection::kColumns)) {
    const auto determinant = FindAttribute(RequiredText(row[DependencySection::kDeterminant]));
    const auto dependent = FindAttribute(RequiredText(row[DependencySection::kDependent]));
    if (determinant && dependent) direct[*determinant].push_back(*dependent);
  }
  for (AttributeId start = 0; start < attributes_.size(); ++start) {
    std::vector<bool> seen(attributes_.size());
    AttributeSet reached{start};
    seen[start] = true;
    for (std::size_t i = 0; i < reached.size(); ++i) {
      const AttributeId at = reached[i];
      if (attributes_[at].identifier) continue;
      for (const AttributeId next : direct[at]) {
        if (seen[next]) continue;
        seen[next] = true;
        reached.push_back(next);
      }
    }
    std::sort(reached.begin(), reached.end());
    reach_.push_back(std::move(reached));
  }
}

void Model::ReadBaselines(WireReader& reader, std::optional<std::string_view> only_role, const ModelSource* source) {
  using Column = BaselineSection;
  static_assert(Column::kSubjectColumns - Column::kReach + 1 == kReachFigureCount &&
                Column::kDaySubjectColumns - Column::kDayReach + 1 == kReachFigureCount);
  std::unordered_map<std::int64_t, std::size_t> places;
  for (const Row& row : reader.Section(Column::kColumns)) {
    Baseline baseline;
    baseline.id = ParseInteger(Required(row[Column::kId]));
    baseline.role = RequiredText(row[Column::kRole]);
    baseline.sessions = ParseCount(Required(row[Column::kSessions]));
    for (std::size_t figure = 0; figure < kReachFigureCount; ++figure) {
      if (const Field& height = row[Column::kReach + figure]) baseline.greatest[figure] = ParseCount(*height);
      if (const Field& of_day = row[Column::kDayReach + figure]) baseline.greatest_of_day[figure] = ParseCount(*of_day);
    }
    const Field& cells = row[Column::kCells];
    baseline.cells = !cells || ParseBool(*cells);
    if (const Field& end_user = row[Column::kEndUser]) baseline.end_user = *end_user;
    baseline_places_.emplace(PrincipalKey(baseline.role, baseline.end_user), baselines_.size());
    if (!places.emplace(baseline.id, baselines_.size()).second)
      throw DamagedData("baseline " + RequiredText(row[Column::kId]) + " stands twice");
    baselines_.push_back(std::move(baseline));
  }
  const auto find = [&](const Field& id) {
    const auto place = places.find(ParseInteger(Required(id)));
    if (place == places.end()) throw DamagedData("unknown baseline " + RequiredText(id));
    return place->second;
  };
  const auto is_of_another = [&](const Baseline& baseline) { return only_role && baseline.role != *only_role; };
  reader.EachRow(PackedNGramSection::kColumns, [&](const Row& row) {
    Baseline& baseline = baselines_[find(row[PackedNGramSection::kBaselineId])];
    if (!is_of_another(baseline)) baseline.ngrams = NGramTable::Unpack(Required(row[PackedNGramSection::kTable]));
  });
  reader.EachRow(BaselineSessionSection::kColumns, [&](const Row& row) {
    using Of = BaselineSessionSection;
    Baseline& baseline = baselines_[find(row[Of::kBaselineId])];
    if (is_of_another(baseline) && !baseline.end_user.empty()) return;
    baseline.statements.sets.Add(ParseCount(Required(row[Of::kCount])), ParseIntegers(Required(row[Of::kIds])));
  });
  if (source == nullptr || !source->is_lent) return;
  for (std::size_t place = 0; place < baselines_.size(); ++place) {
    Baseline& baseline = baselines_[place];
    const auto lent = std::lower_bound(source->baselines.begin(), source->baselines.end(), baseline.id,
                                       [](const LentBaseline& each, std::int64_t id) { return each.id < id; });
    if (lent == source->baselines.end() || lent->id != baseline.id)
      throw DamagedData("baseline " + std::to_string(baseline.id) + " is not there");
    if (is_of_another(baseline)) {
      if (baseline.end_user.empty()) baseline.unread = lent->bytes;
      continue;
    }
    const PackedBaseline contents = PackedBaseline::OfOwn(lent->bytes);
    baseline.statements = {contents.sets, contents.tokens};
    baseline.ngrams = contents.ngrams;
    baseline.whole = contents.left_out == 0;
    token_tables_.push_back(place);
  }
}

void Model::ReadRates(WireReader& reader) {
  rates_by_relation_.resize(relations_.size());
  subject_entropies_.resize(relations_.size());
  using Column = RateSection;
  AttributeSet set;                 // in the making
  auto home = relation_ids_.end();  // of the row before
  reader.EachRow(Column::kColumns, [&](const Row& row) {
    set.clear();
    bool known = true;
    std::string_view rest = Required(row[Column::kAttributes]);
    while (known && !rest.empty()) {
      const auto end = std::min(rest.find(kAttributeSeparator), rest.size());
      const auto attribute = FindAttribute(rest.substr(0, end));
      known = attribute.has_value();
      if (known) set.push_back(*attribute);
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    SortUnique(set);
    if (!known || set.empty() || RatedAs(set) != Required(row[Column::kRelationName])) return;
    const std::uint32_t relation = attributes_[set.front()].relation;
    const bool joint = attributes_[set.back()].relation != relation;
    const RateBounds rate = ParseRate(row, joint);
    const Field& subject_entropy = row[Column::kSubjectEntropy];
    if (home == relation_ids_.end() || home->first != Required(row[Column::kRelationName]))
      home = relation_ids_.find(RequiredText(row[Column::kRelationName]));
    if (subject_entropy && home != relation_ids_.end()) {
      std::optional<double>& entropy = subject_entropies_[home->second];
      const double found = std::max(0.0, ParseFigure(subject_entropy));
      if (!entropy || found < *entropy) entropy = found;
    }
    auto& list = joint ? joint_rates_[relations_[relation].subject_group] : rates_by_relation_[relation];
    list.push_back({set, rate});
  });
  // Of several rates of a set the first counts.
  const auto order = [](std::vector<KnownRate>& list) {
    const auto before = [](const KnownRate& a, const KnownRate& b) { return a.set < b.set; };
    if (!std::is_sorted(list.begin(), list.end(), before)) std::stable_sort(list.begin(), list.end(), before);
    const auto same = [](const KnownRate& a, const KnownRate& b) { return a.set == b.set; };
    list.erase(std::unique(list.begin(), list.end(), same), list.end());
    list.shrink_to_fit();
  };
  for (auto& list : rates_by_relation_) order(list);
  for (auto& [group, list] : joint_rates_) order(list);
}

void Model::ReadRevealing(WireReader& reader) {
  using Column = RevealingSection;
  reader.EachRow(Column::kColumns, [&](const Row& row) {
    const std::int64_t id = ParseInteger(Required(row[Column::kBaselineId]));
    const auto baseline =
        std::find_if(baselines_.begin(), baselines_.end(), [id](const Baseline& each) { return each.id == id; });
    const auto attributes = ParseIntegers(Required(row[Column::kAttributes]));
    const auto counts = ParseIntegers(Required(row[Column::kCounts]));
    if (baseline == baselines_.end() || attributes.size() != counts.size())
      throw DamagedData("counts of baseline " + std::to_string(id));
    counted_under_.where_counts = ParseBool(Required(row[Column::kWhereCounts]));
    counted_under_.aggregate_least = static_cast<int>(ParseInteger(Required(row[Column::kAggregateLeast])));
    RevealingSessions revealing;
    revealing.counts.resize(attributes_.size());
    revealing.exact = ParseBool(Required(row[Column::kExact]));
    for (std::size_t i = 0; i < attributes.size(); ++i) {
      if (attributes[i] < 0 || static_cast<std::size_t>(attributes[i]) >= attributes_.size() || counts[i] < 0 ||
          counts[i] > kMostCounted)
        throw DamagedData("counts of baseline " + std::to_string(id));
      revealing.counts[static_cast<std::size_t>(attributes[i])] = counts[i];
    }
    baseline->revealing = std::move(revealing);
  });
}

const RevealingSessions* Model::CountedOf(const Baseline& baseline, const ScoreSettings& settings) const {
  return baseline.revealing && RevealAlike(settings, counted_under_) ? &*baseline.revealing : nullptr;
}

BaselineStatements Model::ReadStatements(std::string_view bytes) {
  const PackedBaseline contents = PackedBaseline::OfOwn(bytes);
  return {contents.sets, contents.tokens};
}

const std::string& Model::RatedAs(const AttributeSet& set) const {
  static const std::string none;
  const ProtectedRelation& first = relations_[attributes_[set.front()].relation];
  if (attributes_[set.back()].relation == attributes_[set.front()].relation) return first.name;
  for (const AttributeId id : set) {
    const ProtectedRelation& relation = relations_[attributes_[id].relation];
    if (relation.subject_group != first.subject_group || relation.joint_home != first.joint_home) return none;
  }
  return first.joint_home;
}

const std::vector<Model::KnownRate>& Model::JointRatesOf(std::int64_t subject_group) const {
  static const std::vector<KnownRate> none;
  const auto found = joint_rates_.find(subject_group);
  return found == joint_rates_.end() ? none : found->second;
}

const Baseline* Model::FindBaseline(std::string_view role, std::string_view end_user) const {
  const auto found = baseline_places_.find(PrincipalKey(role, end_user));
  return found == baseline_places_.end() ? nullptr : &baselines_[found->second];
}

const Baseline* Model::BaselineFor(std::string_view role, std::string_view end_user) const {
  const Baseline* own = FindBaseline(role, end_user);
  return own == nullptr && !end_user.empty() ? BaselineOfRole(role) : own;
}

const Baseline* Model::PeersOf(std::string_view role, std::string_view end_user) const {
  const bool has_own = !end_user.empty() && FindBaseline(role, end_user) != nullptr;
  return has_own ? BaselineOfRole(role) : nullptr;
}

void Model::SetBaseline(Baseline baseline) {
  const auto place = baseline_places_.emplace(PrincipalKey(baseline.role, baseline.end_user), baselines_.size());
  if (place.second)
    baselines_.push_back(std::move(baseline));
  else
    baselines_[place.first->second] = std::move(baseline);
}

const Tokens* Model::FindTokens(AbstractionId id) const {
  const auto found = tokens_.find(id);
  if (found != tokens_.end()) return &found->second;
  if (token_tables_.empty()) return nullptr;
  const auto asked = asked_tokens_.find(id);
  if (asked != asked_tokens_.end()) return &asked->second;
  for (const std::size_t place : token_tables_)
    if (auto tokens = baselines_[place].statements.tokens.Find(id))
      return &asked_tokens_.emplace(id, std::move(*tokens)).first->second;
  return nullptr;
}

bool Model::Knows(AbstractionId id) const {
  return tokens_.count(id) > 0 || std::any_of(token_tables_.begin(), token_tables_.end(), [&](std::size_t place) {
           return baselines_[place].statements.tokens.Has(id);
         });
}

std::optional<Tokens> Model::TokensIn(const BaselineStatements& statements, AbstractionId id) const {
  if (auto tokens = statements.tokens.Find(id)) return tokens;
  const auto found = tokens_.find(id);
  if (found == tokens_.end()) return std::nullopt;
  return found->second;
}

std::optional<AttributeId> Model::FindAttribute(std::string_view name) const {
  const auto found = attribute_ids_.find(name);
  if (found == attribute_ids_.end()) return std::nullopt;
  return found->second;
}

AttributeSet Model::Revealed(const Tokens& tokens, bool where_counts) const {
  AttributeSet set;
  for (const std::string_view column : RevealedTokens(tokens, where_counts)) {
    if (const auto attribute = FindAttribute(column)) set.push_back(*attribute);
  }
  SortUnique(set);
  return set;
}

AttributeSet Model::Closure(const AttributeSet& set) const {
  AttributeSet closure;
  for (const AttributeId id : set) closure.insert(closure.end(), reach_[id].begin(), reach_[id].end());
  SortUnique(closure);
  return closure;
}

const RateBounds* Model::FindRate(const AttributeSet& set) const {
  if (packed_rates_) throw Error("XX000", "the rates of a published model are asked for one by one");
  if (set.empty()) return nullptr;
  const std::uint32_t relation = attributes_[set.front()].relation;
  const bool joint = attributes_[set.back()].relation != relation;
  const auto& list = joint ? JointRatesOf(relations_[relation].subject_group) : rates_by_relation_[relation];
  const auto found =
      std::lower_bound(list.begin(), list.end(), set,
                       [](const KnownRate& known, const AttributeSet& asked) { return known.set < asked; });
  return found == list.end() || found->set != set ? nullptr : &found->rate;
}

std::vector<std::string> Model::NamesOf(const AttributeSet& set) const {
  std::vector<std::string> names;
  names.reserve(set.size());
  for (const AttributeId id : set) names.push_back(attributes_[id].name);
  return names;
}

}  // namespace privacy_score
