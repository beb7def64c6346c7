/*
 * logged_executions.hpp - how far sessions reach that were read from a log.
 *
 * A log has the texts of statements and the values of their parameters, so the figures of reach.hpp can be had of it as
 * of a session that runs. Of each text the constants are kept once, as keyed hashes, and of each execution what its
 * parameters were.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/base/keyed_hash.hpp"
#include "core/scoring/model.hpp"
#include "core/scoring/ngram.hpp"
#include "core/statement/comparisons.hpp"

namespace privacy_score {

// The value of a parameter, $1 and so on in order: nothing for NULL.
using LoggedParameters = std::vector<std::optional<std::string>>;

class LoggedExecutions {
 public:
  explicit LoggedExecutions(const HashKey& key = {}) : key_(key) {}
  const HashKey& key() const { return key_; }

  // Takes the constants of a text; returns its number, from 1.
  std::int64_t AddText(const StatementConstants& constants);
  // Takes one execution of the text with that number; returns the execution's number, from 1, or 0 when a parameter is
  // not given: then nothing is known of whom it asks about.
  std::int64_t Add(std::int64_t text, const LoggedParameters& given);

  // Forgets all texts and executions but these; returns what number each of them has from now on.
  std::unordered_map<std::int64_t, std::int64_t> KeepOnly(const std::vector<std::int64_t>& kept);

  // What they take, about.
  std::size_t bytes() const { return bytes_; }

  // The figures of a session with these executions, in order, of statements with these ids. Nothing when one of them is
  // not known. `tokens_of` is asked for each id.
  std::optional<ReachFigures> FiguresOf(const std::vector<LoggedStep>& steps, const Model& model, bool where_counts,
                                        const std::function<const Tokens&(AbstractionId)>& tokens_of) const;

 private:
  // Of one execution that has parameters.
  struct Given {
    std::int64_t text = 0;
    std::vector<ParameterValue> values;
    std::vector<std::vector<std::uint64_t>> elements;  // of arrays, as `values` point to them
  };

  HashKey key_ = {};
  static std::size_t BytesOf(const Given& given);

  std::vector<ConstantWords> texts_;
  std::vector<Given> given_;
  std::size_t bytes_ = 0;
};

}  // namespace privacy_score
