/*
 * experiments.cpp - the published comparison of sampling, query restriction and noise [Alfalayleh, Brankovic, figures 2
 * and 4] on a table like the one of the paper.
 *
 *   experiments FOLDER [REPETITIONS]         tables in Markdown; the charts go into the folder
 *
 * The paper's table is a sample of 2,500 people from PUMS, 2006, which is not ours to pass on. The table here is drawn
 * from a seed with the same attributes, ranges and numbers of values (table 2 there): salaries from 10 to 250 thousand
 * in tens, skewed to the left, that grow with education, experience and occupation, so that what an intruder knows
 * tells something. Levels therefore differ from the paper's; what is compared is their order and how they fall.
 */
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

#include "core/loss/simulation_random.hpp"
#include "core/loss/technique_evaluation.hpp"
#include "svg_chart.hpp"

using namespace privacy_score;

namespace {

constexpr std::size_t kRecords = 2500;
constexpr int kKnown = 6;

// Numbers below a bound, small ones more often.
std::uint32_t Skewed(SimulationRandom& random, std::uint32_t bound) {
  const double u = static_cast<double>(random.Below(1U << 30U)) / (1U << 30U);
  return std::min(bound - 1, static_cast<std::uint32_t>(u * u * bound));
}

// The sum of four uniform numbers around 0, with a standard deviation of about 1.
double Spread(SimulationRandom& random) {
  double sum = 0;
  for (int i = 0; i < 4; ++i) sum += static_cast<double>(random.Below(2001)) / 1000 - 1;
  return sum * 0.866;
}

// Age, sex, education, industry, occupation, travel time; the sensitive attribute is the salary.
EvaluatedTable DrawPeople() {
  SimulationRandom random(2006, 0);
  EvaluatedTable people;
  for (std::int64_t salary = 10; salary <= 250; salary += 10) people.domain.push_back({salary, 0});
  people.known.resize(kKnown);
  for (std::size_t i = 0; i < kRecords; ++i) {
    const auto age = static_cast<std::uint32_t>(random.Below(69));
    const auto sex = static_cast<std::uint32_t>(random.Below(2));
    const std::uint32_t education =
        std::min<std::uint32_t>(15, 8 + static_cast<std::uint32_t>(random.Below(8)) - Skewed(random, 9));
    const std::uint32_t industry = Skewed(random, 18);
    const std::uint32_t occupation = (industry + Skewed(random, 25)) % 25;
    const std::uint32_t travel = Skewed(random, 177);
    const double experience = 1 - std::abs(static_cast<double>(age) - 34) / 34;
    const double salary = std::exp(0.13 * education + 0.7 * experience - 0.02 * occupation + 0.45 * Spread(random));
    people.sensitive.push_back(static_cast<std::uint32_t>(std::clamp(salary, 0.0, 24.0)));
    const std::uint32_t known[kKnown] = {age, sex, education, industry, occupation, travel};
    for (int k = 0; k < kKnown; ++k) people.known[static_cast<std::size_t>(k)].push_back(known[k]);
  }
  return people;
}

struct Experiment {
  Technique technique;
  const char* name;
  const char* strength;  // what its strengths are
  const char* unit;
  std::vector<double> strengths;
  std::vector<EvaluationResult> results;  // by strength and number of known attributes
  double seconds;
};

void Run(Experiment* experiment, int repetitions) {
  const std::clock_t begin = std::clock();
  TechniqueEvaluation evaluation(DrawPeople(), experiment->technique, experiment->strengths, repetitions, 1);
  while (!evaluation.Run({})) {
  }
  experiment->results = evaluation.Results();
  experiment->seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

std::string StrengthText(const Experiment& experiment, double strength) {
  char text[32];
  const bool share = experiment.technique == Technique::kSampling;
  std::snprintf(text, sizeof text, "%g%s", share ? 100 * strength : strength, experiment.unit);
  return text;
}

// Of a strength and a number of known attributes, both by place.
const EvaluationResult& At(const Experiment& experiment, std::size_t strength, std::size_t known) {
  return experiment.results[strength * kKnown + known];
}

void PrintTable(const Experiment& experiment) {
  std::printf("| %s |", experiment.strength);
  for (int k = 1; k <= kKnown; ++k) std::printf(" %d |", k);
  std::printf("\n|---|---|---|---|---|---|---|\n");
  for (std::size_t s = 0; s < experiment.strengths.size(); ++s) {
    std::printf("| %s |", StrengthText(experiment, experiment.strengths[s]).c_str());
    for (std::size_t k = 0; k < kKnown; ++k)
      std::printf(" %.2f, %.1f |", At(experiment, s, k).initial_entropy, At(experiment, s, k).area);
    std::printf("\n");
  }
  std::printf("\n");
}

enum class Shown { kEntropy, kArea };

double Value(const EvaluationResult& result, Shown shown) {
  return shown == Shown::kEntropy ? result.initial_entropy : result.area;
}

bucket_bench::Chart NewChart(const Experiment& experiment, Shown shown) {
  bucket_bench::Chart chart;
  const std::string what = shown == Shown::kEntropy ? "initial entropy" : "equivocation area";
  chart.title = std::string(experiment.name) + ": " + what;
  chart.up = shown == Shown::kEntropy ? "H(0), bits" : "area, bits times thousands";
  return chart;
}

// Against what the intruder knows: a line for each strength.
void ChartByKnown(const Experiment& experiment, Shown shown, const std::string& path) {
  bucket_bench::Chart chart = NewChart(experiment, shown);
  chart.across = "attributes that the intruder knows";
  for (std::size_t k = 0; k < kKnown; ++k) chart.places.push_back(std::to_string(k + 1));
  for (std::size_t s = 0; s < experiment.strengths.size(); ++s) {
    bucket_bench::Series series;
    series.name = std::string(experiment.strength) + " " + StrengthText(experiment, experiment.strengths[s]);
    for (std::size_t k = 0; k < kKnown; ++k) series.values.push_back(Value(At(experiment, s, k), shown));
    chart.series.push_back(series);
  }
  bucket_bench::WriteChart(chart, path);
}

// Against the strength: a line for each number of known attributes.
void ChartByStrength(const Experiment& experiment, Shown shown, const std::string& path) {
  bucket_bench::Chart chart = NewChart(experiment, shown);
  chart.across = experiment.strength;
  for (const double strength : experiment.strengths) chart.places.push_back(StrengthText(experiment, strength));
  for (std::size_t k = 0; k < kKnown; ++k) {
    bucket_bench::Series series;
    series.name = std::to_string(k + 1) + (k == 0 ? " attribute" : " attributes");
    for (std::size_t s = 0; s < experiment.strengths.size(); ++s)
      series.values.push_back(Value(At(experiment, s, k), shown));
    chart.series.push_back(series);
  }
  bucket_bench::WriteChart(chart, path);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const std::string folder = argv[1];
  const int repetitions = argc > 2 ? std::atoi(argv[2]) : 30;
  Experiment experiments[] = {
      {Technique::kSampling, "Sampling", "sample", " %", {0.05, 0.1, 0.2, 0.5}, {}, 0},
      {Technique::kQueryRestriction, "Query restriction", "records a query", "", {2, 4, 8, 16, 32}, {}, 0},
      {Technique::kNoise, "Noise", "noise", " %", {10, 20, 40, 60, 80, 100}, {}, 0},
  };
  const char* letters = "abcdef";
  for (Experiment& experiment : experiments) Run(&experiment, repetitions);
  std::printf("%zu people with six attributes that may be known, %d repetitions; processor seconds: ", kRecords,
              repetitions);
  for (const Experiment& experiment : experiments)
    std::printf("%s%s %.1f", &experiment == experiments ? "" : ", ", experiment.name, experiment.seconds);
  std::printf(
      ".\nIn the cells: H(0) in bits, area below the equivocation curve in bits times thousands; across, how many "
      "attributes the intruder knows.\n\n");
  for (Experiment& experiment : experiments) {
    std::printf("**%s** (figure 2 %c, %c)\n\n", experiment.name, letters[0], letters[1]);
    PrintTable(experiment);
    for (const Shown shown : {Shown::kEntropy, Shown::kArea}) {
      const std::string picture = std::string("techniques_2") + *letters++ + ".svg";
      ChartByKnown(experiment, shown, folder + "/" + picture);
      std::printf("![%s, %s](%s)\n", experiment.name, shown == Shown::kEntropy ? "H(0)" : "area", picture.c_str());
    }
    std::printf("\n");
  }
  // Parts a and b of figure 4 are parts e and f of figure 2.
  std::printf("**Noise against its amount** (figure 4 c, d)\n\n");
  ChartByStrength(experiments[2], Shown::kEntropy, folder + "/techniques_4c.svg");
  ChartByStrength(experiments[2], Shown::kArea, folder + "/techniques_4d.svg");
  std::printf("![Noise, H(0) against amount](techniques_4c.svg)\n![Noise, area against amount](techniques_4d.svg)\n");
}
