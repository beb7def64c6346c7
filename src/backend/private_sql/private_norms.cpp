/*
 * private_norms.cpp - see private_norms.hpp.
 *
 * The answer is a line for each norm, with the noisy number of persons in each bin.
 */
#include "backend/private_sql/private_norms.hpp"

extern "C" {
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "utils/builtins.h"
#include "utils/numeric.h"
}

#include <cstdlib>

#include "backend/catalog/function_arguments.hpp"
#include "backend/private_sql/private_canonical.hpp"
#include "backend/private_sql/private_key_values.hpp"
#include "backend/private_sql/private_trees.hpp"
#include "backend/server/compat_query.hpp"
#include "backend/server/core_call.hpp"
#include "backend/server/sql_text.hpp"
#include "backend/server/strong_random.hpp"
#include "core/noise/discrete_laplace.hpp"

namespace privacy_score {

namespace {

// Whether a condition is on columns of persons, other than that there is one, and joins no two items.
bool ChoosesPersons(Node* condition, const ::Query* part, const PrivateLevel* level) {
  if (IsA(condition, NullTest)) {
    const auto* test = castNode(NullTest, condition);
    for (int i = 0; i < level->person_count && test->nulltesttype == IS_NOT_NULL; ++i)
      if (equal(test->arg, TargetOf(level, i)->expr)) return false;
  }
  int item;
  return bms_get_singleton_member(EntriesNamedBy(condition), &item) &&
         HoldsPersons(rt_fetch(item, part->rtable), level);
}

::Query* WithoutConditions(const PrivateLevel* level, const ::Query* own_part) {
  ::Query* part = CopyTree(own_part);
  List* kept = NIL;
  ListCell* cell;
  foreach (cell, make_ands_implicit(reinterpret_cast<::Expr*>(part->jointree->quals)))
    if (!ChoosesPersons(static_cast<Node*>(lfirst(cell)), part, level)) kept = lappend(kept, lfirst(cell));
  part->jointree->quals = kept == NIL ? nullptr : reinterpret_cast<Node*>(make_ands_explicit(kept));
  return part;
}

struct ReferenceText {
  std::string text;
};

}  // namespace

bool AskForReferences(const PrivateLevel* level, const Question* asked, const ::Query* own_part,
                      const PublicGroups* groups, Question* question, ::Query** part) {
  std::size_t norms = 0;
  CallCoreOrRaise([&] {
    const LevelQuestion planned = PlannedQuestion(level, asked->epsilon, asked->delta != nullptr);
    norms = PlanMeasurements(planned.aggregates, planned.shape, planned.epsilon).norms.size();
  });
  if (norms == 0) return false;
  const Datum price = DirectFunctionCall2(numeric_mul, NumericOf(kReferenceEpsilon),
                                          NumericOf(TextOfInteger(static_cast<int64>(norms))));
  *part = WithoutConditions(level, own_part);
  *question = *asked;
  question->kind = "norms";
  question->epsilon = NormalDecimal("epsilon", DatumGetNumeric(price));
  question->delta = nullptr;
  question->newer_than = nullptr;
  question->canonical = CanonicalLevel(level, *part, groups);
  return true;
}

const char* MeasuredReferences(const PrivateLevel* level, const PersonRows* rows, const char* epsilon,
                               bool unknown_keys) {
  auto* measured = NewCoreObject<ReferenceText>();
  CallCoreOrRaise([&] {
    const LevelQuestion question = PlannedQuestion(level, epsilon, unknown_keys);
    const MeasurementPlan plan = PlanMeasurements(question.aggregates, question.shape, question.epsilon);
    for (const NormBins& bins :
         MeasureReferences(rows->records, plan, ParseEpsilon(kReferenceEpsilon), StrongRandom())) {
      for (const std::int64_t bin : bins) measured->text += std::to_string(bin) + " ";
      measured->text += "\n";
    }
  });
  return pstrdup(measured->text.c_str());
}

std::vector<NormReference> ReferencesOfText(const char* text) {
  std::vector<NormReference> references;
  const double epsilon = std::strtod(kReferenceEpsilon, nullptr);
  NormBins bins;
  while (*text == '-' || (*text >= '0' && *text <= '9')) {
    char* end;
    bins.push_back(std::strtoll(text, &end, 10));
    text = end;
    while (*text == ' ') ++text;
    if (*text != '\n') continue;
    ++text;
    references.push_back(ReferenceOf(bins, epsilon));
    bins.clear();
  }
  return references;
}

}  // namespace privacy_score
