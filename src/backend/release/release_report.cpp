/*
 * release_report.cpp - see release_report.hpp.
 */
#include "backend/release/release_report.hpp"

extern "C" {
#include "lib/stringinfo.h"
#include "utils/builtins.h"
}

#include <algorithm>
#include <map>
#include <numeric>
#include <string>

#include "core/base/json.hpp"
#include "core/buckets/bucket_setting.hpp"

namespace privacy_score {

namespace {

constexpr std::size_t kMaxNamed = 10;  // values in an error message
constexpr Size kMaxFraction = 64;

// The text of a fraction in a buffer of kMaxFraction bytes.
void PutFraction(const privacy_score::Rational& value, char* buffer) {
  CallCoreOrRaise([&] { strlcpy(buffer, privacy_score::TextOf(value).c_str(), kMaxFraction); });
}

}  // namespace

void RaiseNoPlan(const BucketWork* work, const ValueList* values, int64 rows, const PlanRequest& request) {
  if (work->undecided) RaiseUndecided();
  if (work->broken.empty())
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("no buckets of up to %d records keep all thresholds", request.max_bucket),
                    errdetail("Each threshold could be kept by itself, but not all of them together."),
                    errhint("Raise max_bucket or some of the thresholds, or leave min_bucket out.")));
  StringInfoData detail;
  initStringInfo(&detail);
  for (std::size_t i = 0; i < Min(work->broken.size(), kMaxNamed); ++i) {
    const privacy_score::BrokenThreshold& broken = work->broken[i];
    char threshold[kMaxFraction], least[kMaxFraction];
    PutFraction(broken.threshold, threshold);
    PutFraction(broken.least_threshold, least);
    appendStringInfo(&detail,
                     "%sValue \"%s\": " INT64_FORMAT " of " INT64_FORMAT
                     " records, threshold %s, at least %s is needed in buckets of up to %d.",
                     i > 0 ? "\n" : "", TextOfNumber(values, static_cast<int64>(broken.value)),
                     static_cast<int64>(work->counts[broken.value]), rows, threshold, least, request.max_bucket);
  }
  if (work->broken.size() > kMaxNamed) appendStringInfo(&detail, "\nAnd %zu more.", work->broken.size() - kMaxNamed);
  ereport(ERROR,
          (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
           errmsg_plural("the threshold of %zu value cannot be kept", "the thresholds of %zu values cannot be kept",
                         work->broken.size(), work->broken.size()),
           errdetail_internal("%s", detail.data),
           errhint("A value cannot be rarer in every bucket of whole records than it is in the table: raise its "
                   "threshold or max_bucket, or leave records of it out.")));
}

char* SizesJson(BucketWork* work) {
  CallCoreOrRaise([&] {
    privacy_score::JsonWriter json;
    json.BeginObject();
    for (const auto& [size, buckets] : work->plan->setting) json.Key(std::to_string(size)).Value(buckets);
    json.EndObject();
    work->text = json.text();
  });
  return pnstrdup(work->text.data(), work->text.size());
}

namespace {

double Probability(const privacy_score::ValueShare& share) {
  return static_cast<double>(share.occurrences) / static_cast<double>(share.records);
}

// The values to list, in work->listed. Called within CallCore.
void ChooseListed(BucketWork* work, const privacy_score::ReleaseFacts& facts) {
  work->thresholds_shown.clear();
  for (const auto& threshold : work->thresholds) work->thresholds_shown.push_back(ToDouble(threshold));
  const auto nearness = [&](std::uint32_t value) {
    return Probability(facts.worst[value]) / work->thresholds_shown[value];
  };
  work->listed.resize(work->counts.size());
  std::iota(work->listed.begin(), work->listed.end(), 0U);
  if (work->listed.size() <= kMaxListedValues) return;
  std::nth_element(work->listed.begin(), work->listed.begin() + kMaxListedValues, work->listed.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return nearness(a) > nearness(b); });
  work->listed.resize(kMaxListedValues);
}

// Writes the listed values with their texts. Values that read alike, such as NULL and a text null, are shown as one,
// the one that is nearer to its threshold. Called within CallCore.
void WriteProbabilities(BucketWork* work, const privacy_score::ReleaseFacts& facts, const char* const* texts) {
  std::map<std::string, std::uint32_t> by_text;
  for (std::size_t i = 0; i < work->listed.size(); ++i) {
    const std::uint32_t value = work->listed[i];
    const auto [place, fresh] = by_text.emplace(texts[i], value);
    const std::uint32_t other = place->second;
    if (!fresh && Probability(facts.worst[value]) * work->thresholds_shown[other] >
                      Probability(facts.worst[other]) * work->thresholds_shown[value])
      place->second = value;
  }
  privacy_score::JsonWriter json;
  json.BeginObject();
  for (const auto& [text, value] : by_text) {
    json.Key(text).BeginObject();
    json.Key("probability").Value(Probability(facts.worst[value]));
    json.Key("threshold").Value(work->thresholds_shown[value]);
    json.EndObject();
  }
  json.EndObject();
  work->text = json.text();
}

}  // namespace

char* ProbabilitiesJson(BucketWork* work, const privacy_score::ReleaseFacts& facts, const ValueList* values) {
  CallCoreOrRaise([&] { ChooseListed(work, facts); });
  const Size count = work->listed.size();
  auto** texts = static_cast<char**>(palloc(sizeof(char*) * (count + 1)));
  for (Size i = 0; i < count; ++i) texts[i] = TextOfNumber(values, work->listed[i]);
  CallCoreOrRaise([&] { WriteProbabilities(work, facts, texts); });
  return pnstrdup(work->text.data(), work->text.size());
}

Datum MeanSquaredErrorOf(const BucketWork* work) {
  return NumericOfRational([&] { return privacy_score::MeanSquaredError(work->plan->setting); });
}

bool GapOf(const BucketWork* work, double* gap) {
  bool known = false;
  CallCoreOrRaise([&] {
    const std::optional<double> found = privacy_score::Gap(*work->plan);
    known = found.has_value();
    if (known) *gap = *found;
  });
  return known;
}

}  // namespace privacy_score
