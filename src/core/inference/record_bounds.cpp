/*
 * record_bounds.cpp - see record_bounds.hpp.
 */
#include "core/inference/record_bounds.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "core/base/error.hpp"
#include "core/base/paused.hpp"

namespace privacy_score {

namespace {

// How many queries an error names.
constexpr std::size_t kMostNamed = 10;

Integer StepsOnGrid(const char* parameter, const Decimal& value, int decimals) {
  return Integer(StepsOf(parameter, value, decimals));
}

}  // namespace

AnsweredSums SumsOf(RecordSets queries, const std::vector<Decimal>& answers, const std::optional<Decimal>& low,
                    const std::optional<Decimal>& high, int records) {
  CheckRecordCount(records);
  CheckRecordSets("queries", queries, records);
  if (queries.size() != answers.size())
    throw InvalidValue(
        "there are " + std::to_string(queries.size()) + " queries and " + std::to_string(answers.size()) + " answers",
        "Give one answer for each query.");
  std::vector<Decimal> all(answers);
  if (low) all.push_back(*low);
  if (high) all.push_back(*high);
  AnsweredSums sums;
  sums.decimals = CommonDecimals(all);
  for (const Decimal& answer : answers) sums.answers.push_back(StepsOnGrid("answers", answer, sums.decimals));
  if (low) sums.low = StepsOnGrid("low", *low, sums.decimals);
  if (high) sums.high = StepsOnGrid("high", *high, sums.decimals);
  if (low && high && *sums.low > *sums.high)
    throw InvalidValue("low must not be greater than high", "Every record lies from low to high.");
  sums.queries = std::move(queries);
  sums.records = records;
  return sums;
}

RecordBounds::RecordBounds(const PsLinearSolver& solver, AnsweredSums sums)
    : solver_(solver), sums_(std::move(sums)), classes_(sums_.queries, sums_.records) {
  if (sums_.low && sums_.high) width_ = *sums_.high - *sums_.low;
  from_high_ = !sums_.low && sums_.high;
  const Integer start = sums_.low ? *sums_.low : sums_.high ? *sums_.high : Integer(0);
  for (std::size_t k = 0; k < sums_.queries.size(); ++k) {
    const Integer distance = sums_.answers[k] - start * (sums_.queries.starts[k + 1] - sums_.queries.starts[k]);
    sides_.push_back(from_high_ ? Integer(-distance) : distance);
  }
  bounds_.resize(classes_.sizes().size());
  classes_of_part_.resize(static_cast<std::size_t>(classes_.parts()));
  queries_of_part_.resize(static_cast<std::size_t>(classes_.parts()));
  for (int number = 0; number < classes_.classes(); ++number)
    classes_of_part_[static_cast<std::size_t>(classes_.part_of_class()[static_cast<std::size_t>(number)])].push_back(
        number);
}

bool RecordBounds::Run(const WorkControl& control) {
  try {
    CheckEquations(control);
    if (!sums_.low && !sums_.high) return true;
    for (; part_ < classes_.parts(); ++part_, program_.reset()) RunPart(control);
    return true;
  } catch (const Paused&) {
    return false;
  }
}

// The equations without the limits, exactly: whether they contradict each other, which of them tell something new, and
// which sums they determine.
void RecordBounds::CheckEquations(const WorkControl& control) {
  for (; checked_ < sides_.size(); ++checked_) {
    switch (span_.Add(RowOfOnes(classes_.queries()[checked_], sides_[checked_]), control)) {
      case RowSpan::Added::kNew:
        queries_of_part_[static_cast<std::size_t>(classes_.PartOfQuery(checked_))].push_back(checked_);
        break;
      case RowSpan::Added::kCombined:
        break;
      case RowSpan::Added::kContradiction: {
        std::vector<std::size_t> queries = queries_of_part_[static_cast<std::size_t>(classes_.PartOfQuery(checked_))];
        queries.push_back(checked_);
        Refuse(std::move(queries));
      }
    }
  }
}

void RecordBounds::MakePart() {
  const std::vector<int>& members = classes_of_part_[static_cast<std::size_t>(part_)];
  const std::vector<std::size_t>& queries = queries_of_part_[static_cast<std::size_t>(part_)];
  std::vector<int> place_of_class(classes_.sizes().size(), -1);
  for (std::size_t place = 0; place < members.size(); ++place)
    place_of_class[static_cast<std::size_t>(members[place])] = static_cast<int>(place);
  std::vector<Integer> uppers(members.size(), Integer(-1));  // below zero: none yet
  if (width_)
    for (std::size_t place = 0; place < members.size(); ++place)
      uppers[place] = *width_ * classes_.sizes()[static_cast<std::size_t>(members[place])];
  std::vector<std::vector<int>> rows;
  std::vector<Integer> sides;
  Integer greatest = 1;
  for (const std::size_t query : queries) {
    const Integer& side = sides_[query];
    if (side < 0) Refuse({query});
    std::vector<int> row;
    for (const int number : classes_.queries()[query]) {
      row.push_back(place_of_class[static_cast<std::size_t>(number)]);
      // Distances are not negative, so none is greater than a sum that it is in.
      Integer& upper = uppers[static_cast<std::size_t>(row.back())];
      if (upper < 0 || side < upper) upper = side;
    }
    rows.push_back(std::move(row));
    sides.push_back(side);
    greatest = std::max(greatest, side);
  }
  const Integer unit = width_ && *width_ > 0 ? *width_ : greatest;
  places_.clear();
  for (std::size_t place = 0; place < members.size(); ++place) {
    const int number = members[place];
    const int others = classes_.sizes()[static_cast<std::size_t>(number)] - 1;
    Place own;
    own.number = number;
    own.idle = width_ ? *width_ * others : others > 0 ? uppers[place] : Integer(0);
    own.full = width_ ? std::min(*width_, uppers[place]) : uppers[place];
    own.idle_share = ToDouble(Rational(own.idle, unit));
    own.full_share = ToDouble(Rational(own.full, unit));
    Rational determined;
    if (span_.MakesUnit(number, &determined)) {
      if (determined < Rational(0) || determined > Rational(uppers[place], 1)) Refuse(queries);
      bounds_[static_cast<std::size_t>(number)] = {determined, determined};
    }
    places_.push_back(std::move(own));
  }
  program_ = std::make_unique<ProvenProgram>(solver_, std::move(rows), std::move(sides), std::move(uppers), unit);
  step_ = 0;
  next_ = 0;
}

// A solution that has a sum at a limit proves that it can be there.
void RecordBounds::TakeWitness() {
  for (std::size_t place = 0; place < places_.size(); ++place) {
    const Place& own = places_[place];
    ClassBound& bound = bounds_[static_cast<std::size_t>(own.number)];
    const double value = program_->values()[place];
    if (!bound.least && value <= own.idle_share + ProvenProgram::kNear) bound.least = Rational(own.idle, 1);
    if (!bound.greatest && value >= own.full_share - ProvenProgram::kNear) bound.greatest = Rational(own.full, 1);
  }
}

// Pushes all sums that are not settled to one side at once; false when that settled none.
bool RecordBounds::Sweep(bool up, const WorkControl& control) {
  const auto open = [&] {
    std::vector<int> found;
    for (std::size_t place = 0; place < places_.size(); ++place) {
      const ClassBound& bound = bounds_[static_cast<std::size_t>(places_[place].number)];
      if (!(up ? bound.greatest : bound.least)) found.push_back(static_cast<int>(place));
    }
    return found;
  };
  const std::vector<int> before = open();
  program_->Push(before, up, control);
  TakeWitness();
  return !before.empty() && open().size() < before.size();
}

void RecordBounds::RunPart(const WorkControl& control) {
  try {
    if (program_ == nullptr) MakePart();
    for (; step_ < 2; ++step_)
      while (Sweep(step_ == 1, control)) PauseIfInterrupted(control);
    for (; next_ < places_.size(); ++next_) {
      PauseIfInterrupted(control);
      ClassBound& bound = bounds_[static_cast<std::size_t>(places_[next_].number)];
      if (!bound.least) {
        bound.least = program_->Least(static_cast<int>(next_), control);
        TakeWitness();
      }
      if (!bound.greatest) {
        bound.greatest = program_->Greatest(static_cast<int>(next_), control);
        TakeWitness();
      }
      // Proofs that leave no room prove that there is no solution: the solver took what is missing for rounding.
      const auto [least, greatest] = Distances(places_[next_].number);
      if (least > greatest) Refuse(queries_of_part_[static_cast<std::size_t>(part_)]);
    }
  } catch (const Contradiction& contradiction) {
    std::vector<std::size_t> queries;
    for (const int row : contradiction.rows)
      queries.push_back(queries_of_part_[static_cast<std::size_t>(part_)][static_cast<std::size_t>(row)]);
    Refuse(std::move(queries));
  }
}

void RecordBounds::Refuse(std::vector<std::size_t> queries) const {
  std::string names;
  for (std::size_t i = 0; i < std::min(queries.size(), kMostNamed); ++i)
    names += (i == 0 ? "" : ", ") + std::to_string(queries[i] + 1);
  if (queries.size() > kMostNamed) names += " and " + std::to_string(queries.size() - kMostNamed) + " more";
  const bool limited = sums_.low || sums_.high;
  throw InvalidValue(
      "the answers contradict each other" + std::string(limited ? ", or the limits of the records" : ""),
      (queries.size() == 1 ? "No values give the answer of query " : "No values give the answers of queries ") + names +
          ", counted from 1" + (limited ? ", within low and high." : "."));
}

RecordBound RecordBounds::Of(int record) const {
  const int number = classes_.class_of()[static_cast<std::size_t>(record - 1)];
  RecordBound limits;
  if (sums_.low) limits.lower = Rational(*sums_.low, 1);
  if (sums_.high) limits.upper = Rational(*sums_.high, 1);
  if (number == RecordClasses::kNone) return limits;
  if (!sums_.low && !sums_.high) {
    Rational value;
    if (Determined(record) && span_.MakesUnit(number, &value)) limits = {value, value};
    return limits;
  }
  const auto [least, greatest] = Distances(number);
  if (from_high_) return {*limits.upper - greatest, *limits.upper - least};
  return {*limits.lower + least, *limits.lower + greatest};
}

// A record is least when the others of its class are greatest.
std::pair<Rational, Rational> RecordBounds::Distances(int number) const {
  const int others = classes_.sizes()[static_cast<std::size_t>(number)] - 1;
  const ClassBound& bound = bounds_[static_cast<std::size_t>(number)];
  if (!width_) return {others == 0 ? *bound.least : Rational(0), *bound.greatest};
  return {std::max(Rational(0), *bound.least - Rational(*width_ * others, 1)),
          std::min(*bound.greatest, Rational(*width_, 1))};
}

bool RecordBounds::Determined(int record) const {
  const int number = classes_.class_of()[static_cast<std::size_t>(record - 1)];
  return number != RecordClasses::kNone && classes_.sizes()[static_cast<std::size_t>(number)] == 1 &&
         span_.MakesUnit(number);
}

}  // namespace privacy_score
