/*
 * pair_score.hpp - delta* of two revealed sets: what one statement tells beyond another (ours).
 *
 *   delta(a|b)  = CDR(Ya u Yb) - CDR(Yb), by relation (rates.hpp), Y without identifiers unless `identifiers_count`
 *   tau(a|b)    = 1 - product over y in closure(Ya) minus closure(Yb) of p(y)^lambda(y)
 *   delta*(a|b) = alpha delta(a|b) + (1 - alpha) tau(a|b)
 *   p(y)        = 0.8 (sessions of the role's baseline that reveal y + 0.02)/(its sessions + 1)
 *               + 0.2 (the same over the peers: the baselines of all roles together)
 * For an end user who has a baseline of her own that takes the place of the role's, and the role's is that of her
 * peers. Baselines of end users are nobody's peers: who makes one changes no score but hers.
 * A session reveals what its statements reveal and what follows from that by confirmed dependencies. Statements with
 * the same revealed set form one class; everything is computed once a class. What a statement reveals that could not be
 * parsed is not known: it may be everything, so beyond any other statement it tells the most, 1.
 */
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string_view>
#include <vector>

#include "core/base/flat_map.hpp"
#include "core/scoring/model.hpp"
#include "core/scoring/rates.hpp"
#include "core/scoring/score_settings.hpp"

namespace privacy_score {

// The number of a class of statements; 0 is the class that reveals nothing.
using ClassId = std::uint32_t;
inline constexpr ClassId kEmptyClass = 0;
// The class of what could not be parsed; beyond it others tell what they tell beyond nothing.
inline constexpr ClassId kUnparsedClass = 1;

class PairScorer {
 public:
  struct Class {
    ClassId next_alike = kEmptyClass;  // of equal hash; the empty one: none
    AttributeSet revealed;
    AttributeSet scored;              // revealed, without identifiers unless they count: for delta
    AttributeSet closure;             // of revealed: for tau
    std::unique_ptr<RatedSet> rated;  // scored, once it was asked for: most of a baseline never are
    // Delta and Want beyond what has none of its relations, likewise.
    bool has_alone = false;
    bool alone_wanted = false;
    RateBounds alone;
  };

  // For an end user of the role; empty: for all who have no baseline of their own.
  PairScorer(std::shared_ptr<const Model> model, std::string_view role, const ScoreSettings& settings,
             std::string_view end_user = {});

  const Model& model() const { return *model_; }
  const ScoreSettings& settings() const { return settings_; }

  // The class of a revealed set.
  ClassId Intern(const AttributeSet& revealed);
  // The class of statements with these tokens, of which no more is known than rates tell: one that is scored reveals
  // all that it may, `exact` says whether that is so; one of a baseline only what it does for certain (aggregates.hpp).
  ClassId ClassOf(const Tokens& tokens, bool* exact = nullptr);
  ClassId KnownClassOf(const Tokens& tokens);
  // Whether what the baselines reveal rests on bounds of rates.
  bool RestsOnBounds() const { return rests_on_bounds_; }
  const Class& class_of(ClassId id) const { return classes_[id]; }

  double Probability(AttributeId attribute) const { return probability_[attribute]; }
  double Weight(AttributeId attribute) const;
  // The columns that make tau(a|b): the new ones of the closure, with those of weight 0.
  AttributeSet Surprising(ClassId a, ClassId b) const;
  double Tau(ClassId a, ClassId b) const;
  RateBounds Delta(ClassId a, ClassId b);
  // delta*(a|b). Tau is always exact.
  RateBounds Combined(ClassId a, ClassId b);
  // The same where the surprise, (1 - alpha) tau(a|b), is known.
  RateBounds Combined(ClassId a, ClassId b, double surprise);
  // That surprise for each b of `others`, in their order: what delta*(a|b) is at least, whatever the rates are.
  std::vector<double> Surprises(ClassId a, const std::vector<ClassId>& others);
  // Notes what must be computed before Combined(a, b) is exact.
  void Want(ClassId a, ClassId b);
  // The columns to which delta*(a|b) is due: scored ones that are new (for delta), new ones with a weight (for tau).
  AttributeSet Causes(ClassId a, ClassId b) const;

  RateBook& rates() { return rates_; }
  const RateBook& rates() const { return rates_; }

 private:
  void CountSessions(const Baseline* own_baseline, const Baseline* role_peers);
  const RatedSet& RatedOf(ClassId id);

  std::shared_ptr<const Model> model_;
  ScoreSettings settings_;
  RateBook rates_;
  std::deque<Class> classes_;                  // which leaves no holes as it grows: each session has its own
  FlatMap<ClassId> class_by_hash_;             // of a revealed set: the last of that hash
  std::vector<std::vector<ClassId>> holders_;  // of each attribute: the classes whose closure has it
  std::vector<std::uint64_t> held_;            // in the making
  std::vector<double> probability_;            // p(y), one an attribute
  std::vector<double> log_cost_;               // lambda(y) ln p(y)
  bool rests_on_bounds_ = false;
};

}  // namespace privacy_score
