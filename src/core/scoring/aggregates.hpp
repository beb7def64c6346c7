/*
 * aggregates.hpp - which columns under aggregates a statement reveals, since its aggregates are over few subjects
 * (ours).
 *
 * sum(x) hides x among the rows that it is taken over. The tokens e:, and g: but m: and n:, name the cells that the
 * aggregates of a statement are taken over (cells.hpp). By the rates a cell has N^(1 - CDR(e, g)) subjects, where N is
 * 2^H(X), the number of subjects if they have equally many rows; of columns of several relations about the same
 * subjects the rates add up. Fewer than `aggregate_least` of them hide nothing, nor does a cell that is named by all
 * columns of the subject. Months (m:) make no more than 60 cells, as many as five years have.
 *
 * An expression of several columns may put them into one number: each row adds something that tells which row it is.
 * That takes a column that tells rows apart, so f: with an identifier beside others reveals all of them.
 */
#pragma once

#include <string>
#include <vector>

#include "core/scoring/model.hpp"
#include "core/scoring/rates.hpp"
#include "core/scoring/score_settings.hpp"
#include "core/statement/abstraction.hpp"

namespace privacy_score {

// Y(Q) with the columns under aggregates: where a rate is only bounded at least these, and at most those.
struct Revelation {
  AttributeSet least;
  AttributeSet most;
  bool exact() const { return least.size() == most.size(); }
};

// What a statement reveals. Notes the rates that decide it in `rates`, which must be of the model.
Revelation Reveal(const Model& model, RateBook& rates, const Tokens& tokens, const ScoreSettings& settings);

// The columns under aggregates of a statement whose cells are named by all columns of their subject.
AttributeSet OfOneSubject(const Model& model, const Tokens& tokens);

// The sets that the statements of the model by themselves need to be identified and scored exactly, as
// RateBook::TakeMissing.
std::vector<MissingRate> MissingOfStatements(const Model& model, const ScoreSettings& settings);

// The aggregates of the tokens that hide columns, and what names their cells, by name; nothing where there are none.
struct AggregateTokens {
  struct Aggregate {
    std::vector<std::string> columns;
    bool packs = false;  // may put several columns into one number
  };
  std::vector<Aggregate> aggregates;
  std::vector<std::string> cells;   // sorted, but for months
  std::vector<std::string> months;  // sorted
};
AggregateTokens ReadAggregates(const Tokens& tokens);

// The binary logarithm of the least number of cells that grouping by months is taken to make.
double MonthsLog();

// The tokens as they were before there were any of cells: without e:, m: and n:.
Tokens WithoutCells(const Tokens& tokens);

}  // namespace privacy_score
