/*
 * table_reveals.hpp - what the statements of a token table reveal, each distinct token looked up once.
 *
 * A session whose first statement the baseline lacks looks at all statements of that baseline. They have few tokens
 * that differ, so nothing is done again for each statement but to put together what its tokens are.
 */
#pragma once

#include <optional>
#include <vector>

#include "core/scoring/model.hpp"
#include "core/scoring/token_table.hpp"
#include "core/statement/abstraction.hpp"

namespace privacy_score {

class TableReveals {
 public:
  // Both must outlive the object.
  TableReveals(const Model& model, const TokenTable& table, bool where_counts);

  struct Revealed {
    AttributeSet columns;        // as Model::Revealed() says
    bool has_functions = false;  // which may reveal more (aggregates.hpp)
    bool unparsed = false;
  };
  // Of an abstraction, valid until the next call; null when it is not in the table.
  const Revealed* Of(AbstractionId id);

 private:
  struct Token {
    TokenPart part = TokenPart::kOther;
    std::optional<AttributeId> column;  // of those that name one which is protected
  };

  const TokenTable& table_;
  bool where_counts_;
  std::vector<Token> tokens_;  // by number
  Revealed revealed_;          // in the making
};

}  // namespace privacy_score
