/*
 * logged_executions.cpp - see logged_executions.hpp.
 */
#include "core/scoring/logged_executions.hpp"

#include <algorithm>
#include <utility>

#include "core/base/array_text.hpp"
#include "core/base/constant_hash.hpp"
#include "core/scoring/reach.hpp"

namespace privacy_score {

namespace {

// Executions without parameters have the number of their text, others numbers above all texts.
constexpr std::int64_t kFirstGiven = std::int64_t{1} << 40U;

std::size_t At(std::int64_t number) { return static_cast<std::size_t>(number - 1); }

}  // namespace

std::size_t LoggedExecutions::BytesOf(const Given& given) {
  std::size_t bytes = sizeof given + given.values.size() * sizeof(ParameterValue);
  for (const std::vector<std::uint64_t>& elements : given.elements)
    bytes += sizeof elements + elements.capacity() * sizeof(std::uint64_t);
  return bytes;
}

std::int64_t LoggedExecutions::AddText(const StatementConstants& constants) {
  texts_.push_back(Encode(constants));
  texts_.back().shrink_to_fit();
  bytes_ += texts_.back().size() * sizeof(ConstantWords::value_type);
  return static_cast<std::int64_t>(texts_.size());
}

std::int64_t LoggedExecutions::Add(std::int64_t text, const LoggedParameters& given) {
  if (text == 0) return 0;
  const ConstantWords& words = texts_[At(text)];
  const std::uint32_t count = words[kParameterCountWord];
  if (count == 0) return text;
  Given execution;
  execution.text = text;
  execution.elements.reserve(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t number = words[kParameterCountWord + 1 + i];
    if (number == 0 || number > given.size()) return 0;
    const std::optional<std::string>& written = given[number - 1];
    ParameterValue value;
    value.number = static_cast<int>(number);
    value.is_null = !written;
    if (written) {
      value.hash = ConstantHash(key_, std::string_view(*written));
      std::vector<std::uint64_t>& elements = execution.elements.emplace_back();
      if (const auto array = written->empty() ? std::nullopt : ReadArrayText(*written))
        for (const std::optional<std::string>& element : array->values)
          if (element && elements.size() < kMostComparedValues)
            elements.push_back(ConstantHash(key_, std::string_view(*element)));
      value.elements = elements.data();
      value.element_count = static_cast<int>(elements.size());
    }
    execution.values.push_back(value);
  }
  bytes_ += BytesOf(execution);
  given_.push_back(std::move(execution));
  return kFirstGiven + static_cast<std::int64_t>(given_.size());
}

std::unordered_map<std::int64_t, std::int64_t> LoggedExecutions::KeepOnly(const std::vector<std::int64_t>& kept) {
  std::vector<ConstantWords> texts;
  std::vector<Given> given;
  std::unordered_map<std::int64_t, std::int64_t> numbers;
  const auto keep_text = [&](std::int64_t text) {
    const auto number = numbers.emplace(text, static_cast<std::int64_t>(texts.size()) + 1);
    if (number.second) texts.push_back(std::move(texts_[At(text)]));
    return number.first->second;
  };
  for (const std::int64_t number : kept) {
    if (number == 0 || numbers.count(number) > 0) continue;
    if (number <= kFirstGiven) {
      (void)keep_text(number);
      continue;
    }
    Given& execution = given.emplace_back(std::move(given_[At(number - kFirstGiven)]));
    execution.text = keep_text(execution.text);
    numbers.emplace(number, kFirstGiven + static_cast<std::int64_t>(given.size()));
  }
  texts_ = std::move(texts);
  given_ = std::move(given);
  bytes_ = 0;
  for (const ConstantWords& words : texts_) bytes_ += words.size() * sizeof(ConstantWords::value_type);
  for (const Given& execution : given_) bytes_ += BytesOf(execution);
  return numbers;
}

std::optional<ReachFigures> LoggedExecutions::FiguresOf(
    const std::vector<LoggedStep>& steps, const Model& model, bool where_counts,
    const std::function<const Tokens&(AbstractionId)>& tokens_of) const {
  ReachTracker tracker(model, where_counts);
  for (const LoggedStep& step : steps) {
    if (step.execution == 0) return std::nullopt;
    BoundConstants bound;
    const bool has_given = step.execution > kFirstGiven;
    const Given* given = has_given ? &given_[At(step.execution - kFirstGiven)] : nullptr;
    const ConstantWords& words = texts_[At(has_given ? given->text : step.execution)];
    bound.words = words.data();
    bound.count = words.size();
    if (given != nullptr) {
      bound.parameters = given->values.data();
      bound.parameter_count = given->values.size();
    }
    tracker.Observe(tracker.FormOf(model, step.id, tokens_of(step.id)), bound);
  }
  return tracker.figures();
}

}  // namespace privacy_score
