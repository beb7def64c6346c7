/*
 * model.hpp - what a score is computed from: protected relations, labels, dependencies, abstractions, baselines, rates.
 *
 * The backend writes it as sections of one wire buffer, which lies in shared memory under a version number; each
 * backend reads from it what its roles need, which is immutable from then on and shared by pointer. Attributes are
 * small integers in the order of relation and name, so that a sorted set holds the attributes of one relation side by
 * side.
 */
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/base/rows.hpp"
#include "core/scoring/ngram.hpp"
#include "core/scoring/ngram_table.hpp"
#include "core/scoring/packed_baseline.hpp"
#include "core/scoring/packed_rates.hpp"
#include "core/scoring/rate_bounds.hpp"
#include "core/scoring/score_settings.hpp"
#include "core/statement/abstraction.hpp"

namespace privacy_score {

using AttributeId = std::uint32_t;
using AttributeSet = std::vector<AttributeId>;  // sorted, without duplicates

// Parts the attributes of a set in a row of section `rates` and in MissingRate.
inline constexpr char kAttributeSeparator = '\x01';

struct AttributeSetHash {
  std::size_t operator()(const AttributeSet& set) const noexcept;
};

AttributeSet UnionOf(const AttributeSet& a, const AttributeSet& b);
AttributeSet DifferenceOf(const AttributeSet& a, const AttributeSet& b);
bool IsSubset(const AttributeSet& a, const AttributeSet& b);

enum class Label { kNone, kIdentifier, kQuasiIdentifier, kSensitive, kPublic };
// The text of a label; empty for none.
std::string_view TextOf(Label label);

// A protected relation. Relations with the same `subject_group` are about the same subjects. `is_row_subject`: the
// subject tells the rows apart (no subject declared, or a unique one). `joint_home`: the relation where the subject is
// at home, when rates of columns of several relations of the group can be computed over its rows; else empty.
struct ProtectedRelation {
  std::string name;
  std::int64_t subject_group = 0;
  bool is_row_subject = true;
  std::string joint_home;
};

// `subject_position`: the place of a subject column among the columns of its subject, counted from 0 where the subject
// is at home, so that relations which share a subject agree on it; -1 for a column that is none.
struct Attribute {
  std::string name;  // qualified
  std::uint32_t relation = 0;
  Label label = Label::kNone;
  bool identifier = false;
  int subject_position = -1;
};

// The figures of reach.hpp: reach, subjects, subject_columns; and those of questions.hpp.
inline constexpr int kReachFigureCount = 3;
struct ReachFigures {
  std::int64_t values[kReachFigureCount] = {};
  std::int64_t addressed = 0;
  std::int64_t person = 0;
  // Another one when any of them has grown.
  std::int64_t Sum() const {
    std::int64_t sum = addressed + person;
    for (const std::int64_t value : values) sum += value;
    return sum;
  }
};

// The greatest of these over several, where known.
using GreatestReach = std::array<std::optional<std::int64_t>, kReachFigureCount>;

// In how many sessions of a baseline each attribute is revealed, and whether that rests on no bound of a rate.
struct RevealingSessions {
  std::vector<std::int64_t> counts;  // one an attribute
  bool exact = true;
};

// The statements of a baseline's sessions, and their tokens where its contents lie elsewhere.
struct BaselineStatements {
  SessionSets sets;
  TokenTable tokens;
};

struct Baseline {
  std::int64_t id = 0;
  std::string role;
  std::string end_user;  // whose it is alone; empty: that of all who work under the role
  std::int64_t sessions = 0;
  GreatestReach greatest;         // over its sessions
  GreatestReach greatest_of_day;  // over its days, each of one principal
  bool cells = true;  // its abstractions tell of the cells of aggregates; else it was made before there were any
  NGramTable ngrams;
  BaselineStatements statements;
  // Of another role than the only one of its model: what lies elsewhere and is read when it is asked for.
  std::string_view unread;
  bool whole = true;                           // else there was no room for its n-grams
  std::optional<RevealingSessions> revealing;  // counted by whoever published the model
};

// What was accepted beside a baseline, of all who work under a role or of one end user: n-grams that are known as the
// baseline's are, and how far sessions and days may reach.
struct AcceptedWork {
  std::vector<NGram> ngrams;  // recorded
  GreatestReach reach;
  GreatestReach reach_of_day;
};

// A role and an end user, empty for none, as one name: neither holds the character between them.
std::string PrincipalKey(std::string_view role, std::string_view end_user);

// Limits of one end user, in place of those that hold for all of the role; none where they do.
struct EndUserLimits {
  std::optional<double> session, daily;
};

// A set of attributes whose exact rate is wanted. They are of one relation, or of several about the same subjects,
// whose joint_home stands in the place of the relation.
struct MissingRate {
  std::string relation;
  std::string attributes;  // qualified names, sorted, parted by kAttributeSeparator
};
inline bool operator==(const MissingRate& a, const MissingRate& b) {
  return a.relation == b.relation && a.attributes == b.attributes;
}

class Model {
 public:
  // A rate that was computed; bounds when its relation has changed much since.
  struct KnownRate {
    AttributeSet set;
    RateBounds rate;
  };

  // A model without protected relations: nothing scores.
  Model() = default;
  // Attributes are found by names that stand where a move leaves them and a copy does not.
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;
  Model(Model&&) = default;
  Model& operator=(Model&&) = default;
  ~Model() = default;

  // Reads the sections of a model from the reader, in this order:
  //   relations (name, subject_group, is_row_subject, joint_home); attributes (name, relation, label, identifier,
  //   subject_position); dependencies (determinant, dependent); abstractions (id, token), one row a token;
  //   baselines (id, role, sessions, reach, subjects, subject_columns, cells, day_reach, day_subjects,
  //   day_subject_columns, end_user: NULL for none); their n-grams (id, table: ngram_table.hpp); their sessions (id,
  //   count, abstractions); limits of end users (role, end_user, session_limit, daily_limit); what is accepted (role,
  //   end_user: NULL for all of the role, n-gram, figure, height: the last two or the one before them NULL; figures
  //   are those of reach, of a day with "day_" in front); rates (relation, attributes, rate, rows, subject_entropy,
  //   modified), the last for rates that are out of date, with the two before it: see AfterModifications; below 0 it
  //   is not known.
  // Attributes, dependencies and rates of what is not protected are left out. `only_role`: so are what no score of that
  // role needs, the n-grams of other roles and the sessions of their end users. Throws Error XX001 on damaged bytes.
  static Model Read(WireReader& reader, std::optional<std::string_view> only_role = std::nullopt);
  // The same of sections and nothing else, or of those of a source whose baselines lie elsewhere: then the sections of
  // n-grams and sessions are empty, and that of abstractions has those of what is accepted.
  static Model Parse(const ModelSource& source, std::optional<std::string_view> only_role = std::nullopt);

  const std::vector<ProtectedRelation>& relations() const { return relations_; }
  const std::vector<Attribute>& attributes() const { return attributes_; }
  const std::vector<Baseline>& baselines() const { return baselines_; }
  // Calls visit(id, tokens) with all abstractions; with one that several baselines have as often.
  template <typename Visit>
  void ForEachTokens(Visit visit) const {
    for (const auto& [id, tokens] : tokens_) visit(id, tokens);
    for (const Baseline& baseline : baselines_)
      UseStatements(baseline, [&](const BaselineStatements& statements) { statements.tokens.ForEach(visit); });
  }

  // The baseline of a role; null when it has none.
  const Baseline* BaselineOfRole(std::string_view role) const { return FindBaseline(role, {}); }
  // What an end user of a role, empty for none, is scored against: her own baseline, else that of the role; null when
  // there is neither.
  const Baseline* BaselineFor(std::string_view role, std::string_view end_user) const;
  // The role's baseline, to compare with an end user who has one of her own; null when one of the two is missing.
  const Baseline* PeersOf(std::string_view role, std::string_view end_user) const;
  // Puts another baseline in the place of that of the same role and end user. No scorer of the model may be in use.
  void SetBaseline(Baseline baseline);
  // The limits of an end user of a role; null when those of the role hold.
  const EndUserLimits* LimitsOf(std::string_view role, std::string_view end_user) const;
  // What is accepted of an end user of a role, or, where that is empty, of all who work under it; null for nothing.
  const AcceptedWork* AcceptedOf(std::string_view role, std::string_view end_user) const;
  // How far sessions, or days, of an end user of a role may reach by what is accepted of her and of the role.
  GreatestReach AcceptedReach(std::string_view role, std::string_view end_user, bool of_day) const;
  // The tokens of an abstraction; null when the model does not know it. Of those whose baselines lie elsewhere it knows
  // what the baselines of its only role have; each that is asked for is kept.
  const Tokens* FindTokens(AbstractionId id) const;
  bool Knows(AbstractionId id) const;
  // The same of an abstraction of one of its baselines, of which none is kept.
  std::optional<Tokens> TokensIn(const BaselineStatements& statements, AbstractionId id) const;
  // Calls use(statements) with those of a baseline. Throws Error XX001 where they are yet to be read, and damaged.
  template <typename Use>
  static void UseStatements(const Baseline& baseline, Use use) {
    if (baseline.unread.empty())
      use(baseline.statements);
    else
      use(ReadStatements(baseline.unread));
  }
  // What was counted of a baseline under settings that reveal the same; null when nothing was.
  const RevealingSessions* CountedOf(const Baseline& baseline, const ScoreSettings& settings) const;
  std::optional<AttributeId> FindAttribute(std::string_view name) const;
  // Y(Q) among the attributes of protected relations.
  AttributeSet Revealed(const Tokens& tokens, bool where_counts) const;
  // The set with all that it determines by confirmed dependencies, never through an identifier.
  AttributeSet Closure(const AttributeSet& set) const;

  // The rates of a model that was published; null where it has them one by one.
  const PackedRates* packed_rates() const { return packed_rates_ ? &*packed_rates_ : nullptr; }

  // What is known of the rate of a set of attributes, of one relation or joint; null when nothing has been computed.
  // Throws Error XX000 for a model whose rates are packed, as RatesOf() and JointRatesOf() are empty for it.
  const RateBounds* FindRate(const AttributeSet& set) const;
  // The name under which rates of the set are kept: that of its relation, or the joint home of its relations; empty
  // when there are no rates of it.
  const std::string& RatedAs(const AttributeSet& set) const;
  const std::vector<KnownRate>& RatesOf(std::uint32_t relation) const { return rates_by_relation_[relation]; }
  // The same of several relations of a group.
  const std::vector<KnownRate>& JointRatesOf(std::int64_t subject_group) const;

  // H(X) in bits of a relation's subject, as it was when its rates were computed; the least where they differ. None
  // when no rate is known.
  std::optional<double> SubjectEntropyOf(std::uint32_t relation) const {
    return packed_rates_ ? packed_rates_->subject_entropies[relation] : subject_entropies_[relation];
  }

  // Names of a set.
  std::vector<std::string> NamesOf(const AttributeSet& set) const;

 private:
  void ReadAttributes(WireReader& reader);
  void ReadDependencies(WireReader& reader);
  static Model Read(WireReader& reader, std::optional<std::string_view> only_role, const ModelSource* source);
  void ReadBaselines(WireReader& reader, std::optional<std::string_view> only_role, const ModelSource* source);
  void ReadLimits(WireReader& reader);
  void ReadAccepted(WireReader& reader);
  static BaselineStatements ReadStatements(std::string_view bytes);
  void ReadRates(WireReader& reader);
  void ReadRevealing(WireReader& reader);
  const Baseline* FindBaseline(std::string_view role, std::string_view end_user) const;

  std::vector<ProtectedRelation> relations_;
  std::vector<Attribute> attributes_;
  std::unordered_map<std::string_view, AttributeId> attribute_ids_;  // by their names in attributes_
  std::unordered_map<std::string, std::uint32_t> relation_ids_;
  std::vector<AttributeSet> reach_;  // one an attribute: itself and what it determines
  TokenMap tokens_;
  mutable TokenMap asked_tokens_;          // of baselines that lie elsewhere
  std::vector<std::size_t> token_tables_;  // the baselines that know them
  std::shared_ptr<const void> holder_;     // of what lies elsewhere
  std::vector<Baseline> baselines_;
  std::unordered_map<std::string, std::size_t> baseline_places_;          // by PrincipalKey
  std::unordered_map<std::string, EndUserLimits> limits_;                 // by PrincipalKey
  std::unordered_map<std::string, AcceptedWork> accepted_;                // by PrincipalKey
  std::vector<std::vector<KnownRate>> rates_by_relation_;                 // each sorted by set
  std::unordered_map<std::int64_t, std::vector<KnownRate>> joint_rates_;  // likewise, by subject group
  std::vector<std::optional<double>> subject_entropies_;
  std::optional<PackedRates> packed_rates_;
  ScoreSettings counted_under_;  // of what they reveal, those that decide it
};

}  // namespace privacy_score
