/*
 * buckets.cpp - what bucket settings cost in loss and in time: figures 3 to 7 of the paper, the searches against those
 * of the paper and against the program cbc, without a server.
 *
 *   buckets FOLDER [ROUNDS]       bench/buckets.sh does it: 3 rounds
 *
 * Prints Markdown, and leaves charts in the folder. Times are of one thread, medians of rounds in which the things to
 * compare take turns. Where a search repeats within a round its time is the mean.
 */
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "../test/unit/random_fixture.hpp"
#include "bucket_baselines.hpp"
#include "bucket_instances.hpp"
#include "core/buckets/bucket_contents.hpp"
#include "core/buckets/bucket_dealer.hpp"
#include "core/buckets/bucket_plan.hpp"
#include "core/buckets/optimal_buckets.hpp"
#include "core/buckets/release_utility.hpp"
#include "median.hpp"
#include "svg_chart.hpp"

using namespace privacy_score;
using namespace bucket_bench;
using testing_support::SeededRandom;

namespace {

constexpr double kSearchSeconds = 1;
constexpr int kCbcSeconds = 10;
constexpr std::int64_t kDefaultRows = 300'000;

std::string folder;
int rounds = 3;

double Now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// Milliseconds of things that take turns.
class Timer {
 public:
  // Runs `work` for at least a millisecond, and notes the mean.
  void Measure(const std::string& name, const std::function<void()>& work) {
    const double started = Now();
    int times = 0;
    do {
      work();
      ++times;
    } while (Now() - started < 1e-3);
    taken_[name].push_back((Now() - started) / times * 1e3);
  }
  void Note(const std::string& name, double milliseconds) { taken_[name].push_back(milliseconds); }
  double Median(const std::string& name) { return bench::Median(taken_[name]); }

 private:
  std::map<std::string, std::vector<double>> taken_;
};

struct Optimum {
  BucketPlan plan;
  double milliseconds = 0;
  double gap = -1;  // below zero: nothing proved
};

Optimum SearchOptimum(const BucketProblem& problem) {
  Optimum optimum;
  const double started = Now();
  OptimalBuckets search(problem);
  SearchControl control;
  control.expired = [&] { return Now() - started > kSearchSeconds; };
  if (search.Run(control) == SearchOutcome::kFound) optimum.plan = *search.plan();
  optimum.milliseconds = (Now() - started) * 1e3;
  optimum.gap = Gap(optimum.plan).value_or(-1);
  return optimum;
}

double ErrorOf(std::int64_t loss, std::int64_t rows) {
  return static_cast<double>(loss) / static_cast<double>(rows - 1);
}

// The full integer program, for cbc. Values without room in a size have no variable there.
void WriteProgram(const BucketProblem& problem, const std::string& path) {
  std::ofstream file(path);
  const std::vector<int>& sizes = problem.sizes();
  file << "Minimize\n obj:";
  for (const int size : sizes) file << " + " << BucketLoss(size) << " b" << size;
  file << "\nSubject To\n";
  for (std::size_t i = 0; i < problem.values(); ++i) {
    file << " v" << i << ":";
    for (std::size_t k = 0; k < sizes.size(); ++k)
      if (problem.Capacity(i, k) > 0) file << " + y" << i << "_" << sizes[k];
    file << " = " << problem.count(i) << "\n";
  }
  for (std::size_t k = 0; k < sizes.size(); ++k) {
    file << " s" << sizes[k] << ":";
    for (std::size_t i = 0; i < problem.values(); ++i)
      if (problem.Capacity(i, k) > 0) file << " + y" << i << "_" << sizes[k];
    file << " - " << sizes[k] << " b" << sizes[k] << " = 0\n";
    for (std::size_t i = 0; i < problem.values(); ++i)
      if (problem.Capacity(i, k) > 0)
        file << " c" << i << "_" << sizes[k] << ": y" << i << "_" << sizes[k] << " - " << problem.Capacity(i, k) << " b"
             << sizes[k] << " <= 0\n";
  }
  file << "Generals\n";
  for (std::size_t k = 0; k < sizes.size(); ++k) {
    file << " b" << sizes[k];
    for (std::size_t i = 0; i < problem.values(); ++i)
      if (problem.Capacity(i, k) > 0) file << " y" << i << "_" << sizes[k];
    file << "\n";
  }
  file << "End\n";
}

struct CbcResult {
  double milliseconds = 0;
  std::int64_t loss = -1;  // below zero: none found
  bool proved = false;
};

CbcResult RunCbc(const std::string& program) {
  CbcResult result;
  const std::string solution = folder + "/cbc.solution";
  std::remove(solution.c_str());
  const std::string command =
      "cbc " + program + " -sec " + std::to_string(kCbcSeconds) + " -solve -solu " + solution + " >/dev/null 2>&1";
  const double started = Now();
  const int status = std::system(command.c_str());
  result.milliseconds = (Now() - started) * 1e3;
  std::ifstream file(solution);
  std::string line;
  if (status != 0 || !std::getline(file, line)) return result;
  result.proved = line.rfind("Optimal", 0) == 0;
  const std::size_t at = line.find("objective value ");
  if (at != std::string::npos) result.loss = std::llround(std::strtod(line.c_str() + at + 16, nullptr));
  std::remove(solution.c_str());
  return result;
}

std::string Milliseconds(double value) {
  char text[32];
  std::snprintf(text, sizeof text, value < 10 ? "%.2f" : value < 100 ? "%.1f" : "%.0f", value);
  return text;
}

// --- the paper's figures ---

std::vector<std::string> ThetaNames() {
  std::vector<std::string> names;
  for (const int theta : kThetas) names.push_back(std::to_string(theta));
  return names;
}

// The l that promises as much to the rarest value: ceil(1/(theta f + 1/50)).
std::int64_t NeededDiversity(const Counts& counts, int theta) {
  const std::vector<Rational> thresholds = FrequencyThresholds(counts, theta, Rational(1, 50));
  return SmallestBucket({*std::min_element(thresholds.begin(), thresholds.end())});
}

void FigureDiversity() {
  std::printf("### l for the same promise to the rarest value (figure 3, %lld records)\n\n| theta |",
              static_cast<long long>(kDefaultRows));
  Chart chart{"Figure 3: l of l-diversity against theta", "theta", "l", ThetaNames(), {}, false};
  for (const Attribute& attribute : {kOccupation, kEducation}) std::printf(" %s | possible |", attribute.name);
  std::printf("\n|---|---|---|---|---|\n");
  for (const Attribute& attribute : {kOccupation, kEducation}) chart.series.push_back({attribute.name, {}});
  for (const int theta : kThetas) {
    std::printf("| %d |", theta);
    for (std::size_t a = 0; a < 2; ++a) {
      const Counts counts = (a == 0 ? kOccupation : kEducation).CountsOf(kDefaultRows);
      const std::int64_t l = NeededDiversity(counts, theta);
      chart.series[a].values.push_back(static_cast<double>(l));
      std::printf(" %lld | %s |", static_cast<long long>(l),
                  *std::max_element(counts.begin(), counts.end()) * l <= kDefaultRows ? "yes" : "no");
    }
    std::printf("\n");
  }
  std::printf("\n");
  WriteChart(chart, folder + "/figure_3.svg");
}

// Anatomy's buckets have l or l + 1 records; as in the paper, whether values fit is not asked.
double AnatomyError(std::int64_t rows, std::int64_t l) {
  const std::int64_t buckets = rows / l;
  const std::int64_t large = rows % buckets;
  const std::int64_t size = rows / buckets;
  return ErrorOf((buckets - large) * (size - 1) * (size - 1) + large * size * size, rows);
}

void FigureError() {
  std::printf("### Mean squared error (figure 4, %lld records)\n\n", static_cast<long long>(kDefaultRows));
  std::printf(
      "| | theta | two-size | multi-size | optimal | gap | Anatomy (thresholds ignored) | two-size/optimal | "
      "multi-size/optimal |\n");
  std::printf("|---|---|---|---|---|---|---|---|---|\n");
  for (const Attribute& attribute : {kOccupation, kEducation}) {
    Chart chart{std::string("Figure 4: mean squared error, ") + attribute.name + "-300K",
                "theta",
                "mean squared error",
                ThetaNames(),
                {{"two-size", {}}, {"multi-size", {}}, {"optimal", {}}, {"Anatomy", {}}},
                true};
    const Counts counts = attribute.CountsOf(kDefaultRows);
    for (const int theta : kThetas) {
      const BucketProblem problem = Problem(counts, theta);
      const Optimum optimum = SearchOptimum(problem);
      const double two = ErrorOf(TwoSizePlan(problem)->loss, kDefaultRows);
      const double multi = ErrorOf(MultiSizePlan(problem)->loss, kDefaultRows);
      const double best = ErrorOf(optimum.plan.loss, kDefaultRows);
      const double anatomy = AnatomyError(kDefaultRows, NeededDiversity(counts, theta));
      std::printf("| %s | %d | %.4f | %.4f | %.4f | %.1g | %.3f | %.3f | %.3f |\n", attribute.name, theta, two, multi,
                  best, optimum.gap, anatomy, two / best, multi / best);
      const double values[] = {two, multi, best, anatomy};
      for (std::size_t s = 0; s < 4; ++s) chart.series[s].values.push_back(values[s]);
    }
    WriteChart(chart, folder + "/figure_4_" + attribute.name + ".svg");
  }
  std::printf("\n");
}

// The mean relative error of counts from a release of the plan.
double RelativeError(const Table& records, const BucketPlan& plan, std::int64_t queries) {
  SeededRandom dealing(1);
  SeededRandom asking(2);  // the same queries for all plans
  BucketDealer dealer(plan, dealing);
  dealer.Prepare(nullptr);
  ReleaseUtility utility(Table::kDomains.size(), queries, 0.01);
  std::vector<std::size_t> domains(Table::kDomains.begin(), Table::kDomains.end());
  domains.push_back(*std::max_element(records.values.begin(), records.values.end()) + 1);
  utility.SetDomains(domains);
  utility.DrawQueries(asking, std::numeric_limits<std::size_t>::max());
  for (std::size_t i = 0; i < records.codes.size(); ++i) {
    const auto bucket = static_cast<std::uint32_t>(dealer.Deal(records.values[i]));
    utility.AddSource(records.codes[i].data(), records.values[i]);
    utility.AddRecord(records.codes[i].data(), bucket);
    utility.AddValue(bucket, records.values[i], 1);
  }
  utility.Ask({});
  utility.Judge();
  double sum = 0;
  double asked = 0;
  for (const DimensionUtility& each : utility.Result()) {
    sum += each.mean_relative_error * static_cast<double>(each.queries);
    asked += static_cast<double>(each.queries);
  }
  return sum / asked;
}

void FigureRelativeError() {
  constexpr std::int64_t kQueries = 210;
  std::printf(
      "### Mean relative error of counts (figure 5, %lld records, %lld queries of 1 to 7 quasi-identifiers, "
      "selectivity 1 %%)\n\n| | theta | two-size | multi-size | optimal |\n|---|---|---|---|---|\n",
      static_cast<long long>(kDefaultRows), static_cast<long long>(kQueries));
  for (const Attribute& attribute : {kOccupation, kEducation}) {
    Chart chart{std::string("Figure 5: relative error of counts, ") + attribute.name + "-300K",
                "theta",
                "mean relative error (%)",
                ThetaNames(),
                {{"two-size", {}}, {"multi-size", {}}, {"optimal", {}}},
                false};
    const Counts counts = attribute.CountsOf(kDefaultRows);
    const Table records = MakeTable(counts, 7);
    for (const int theta : kThetas) {
      const BucketProblem problem = Problem(counts, theta);
      const double values[] = {RelativeError(records, *TwoSizePlan(problem), kQueries),
                               RelativeError(records, *MultiSizePlan(problem), kQueries),
                               RelativeError(records, SearchOptimum(problem).plan, kQueries)};
      std::printf("| %s | %d | %.2f %% | %.2f %% | %.2f %% |\n", attribute.name, theta, 100 * values[0],
                  100 * values[1], 100 * values[2]);
      for (std::size_t s = 0; s < 3; ++s) chart.series[s].values.push_back(100 * values[s]);
    }
    WriteChart(chart, folder + "/figure_5_" + attribute.name + ".svg");
  }
  std::printf("\n");
}

const char* const kSearches[] = {"no pruning", "loss pruning", "full pruning", "closed form", "optimal"};

std::string LegendOf(const std::string& search) { return search == "optimal" ? "optimal, any sizes" : search; }

// Times of all searches over one problem, whose preparation all share. Without the slow ones where they would take
// long.
std::map<std::string, double> TimeSearches(const BucketProblem& problem, bool all) {
  Timer timer;
  const std::int64_t best = SearchLoss(*BestTwoSizes(problem));
  const auto check = [&](std::int64_t loss) {
    if (loss != best)
      std::printf("**two searches disagree: %lld, %lld**\n", static_cast<long long>(loss),
                  static_cast<long long>(best));
  };
  for (int round = 0; round < rounds; ++round) {
    if (all) {
      timer.Measure("no pruning", [&] { check(BestPairLoss(problem, Pruning::kNone)); });
      timer.Measure("loss pruning", [&] { check(BestPairLoss(problem, Pruning::kLoss)); });
    }
    timer.Measure("full pruning", [&] { check(BestPairLoss(problem, Pruning::kFull)); });
    timer.Measure("closed form", [&] { check(SearchLoss(*BestTwoSizes(problem))); });
    if (round == 0 || timer.Median("optimal") < 500) timer.Note("optimal", SearchOptimum(problem).milliseconds);
  }
  std::map<std::string, double> times;
  for (const char* name : kSearches)
    times[name] = all || std::string(name).find("full") == 0 || std::string(name) == "closed form" ||
                          std::string(name) == "optimal"
                      ? timer.Median(name)
                      : -1;
  return times;
}

void PrintTimes(const std::string& what, const std::map<std::string, double>& times, Chart* chart) {
  std::printf("| %s |", what.c_str());
  for (std::size_t s = 0; s < 5; ++s) {
    const double time = times.at(kSearches[s]);
    std::printf(" %s |", time < 0 ? "" : Milliseconds(time).c_str());
    if (chart != nullptr) chart->series[s].values.push_back(time);
  }
  const double ours = times.at("closed form");
  const auto ratio = [&](const char* name) {
    if (times.at(name) < 0)
      std::printf(" |");
    else
      std::printf(" %.0f |", times.at(name) / ours);
  };
  ratio("no pruning");
  std::printf(" %.1f |\n", times.at("full pruning") / ours);
}

constexpr const char* kTimesHead =
    "no pruning | loss pruning | full pruning | closed form | optimal | no pruning/closed form | full pruning/closed "
    "form |\n"
    "|---|---|---|---|---|---|---|---|\n";

void FiguresRunTime() {
  Chart rows_chart{"Figure 6: run time against records, 50 values", "records", "milliseconds", {}, {}, true};
  Chart values_chart{"Figure 7: run time against values, 300,000 records", "values", "milliseconds", {}, {}, true};
  for (const char* name : kSearches) {
    rows_chart.series.push_back({LegendOf(name), {}});
    values_chart.series.push_back({LegendOf(name), {}});
  }
  std::printf(
      "### Run time in milliseconds against records (figure 6, OCC, theta 8)\n\nTwo sizes: the searches of the "
      "paper and the closed form; and the optimum of any number of sizes.\n\n| records | %s",
      kTimesHead);
  for (std::int64_t rows = 100'000; rows <= 500'000; rows += 100'000) {
    rows_chart.places.push_back(std::to_string(rows / 1000) + "k");
    PrintTimes(rows_chart.places.back(), TimeSearches(Problem(kOccupation.CountsOf(rows), 8), true), &rows_chart);
  }
  PrintTimes("100 million", TimeSearches(Problem(kOccupation.CountsOf(100'000'000), 8), false), nullptr);
  WriteChart(rows_chart, folder + "/figure_6.svg");
  std::printf("\n### Run time in milliseconds against values (figure 7, %lld records, theta 8)\n\n| values | %s",
              static_cast<long long>(kDefaultRows), kTimesHead);
  for (int values = 50; values <= 3200; values *= 2) {
    values_chart.places.push_back(std::to_string(values));
    PrintTimes(values_chart.places.back(), TimeSearches(Problem(ManyValues(values, kDefaultRows), 8), values <= 400),
               &values_chart);
  }
  PrintTimes("3200, 100 million records", TimeSearches(Problem(ManyValues(3200, 100'000'000), 8), false), nullptr);
  WriteChart(values_chart, folder + "/figure_7.svg");
  std::printf("\n");
}

// --- the optimum against cbc ---

void AgainstCbc() {
  const bool has_cbc = std::system("command -v cbc >/dev/null 2>&1") == 0;
  std::printf("### Optimal against cbc on the full integer program (500,000 records; cbc at most %d s%s)\n\n",
              kCbcSeconds, has_cbc ? ", with reading its input" : "; it is not installed: package coinor-cbc");
  std::printf(
      "| | theta | loss | proved gap | optimal ms | cbc loss | cbc ms | cbc/optimal "
      "|\n|---|---|---|---|---|---|---|---|\n");
  for (const Attribute& attribute : {kOccupation, kEducation}) {
    for (const int theta : kThetas) {
      const BucketProblem problem = Problem(attribute.CountsOf(500'000), theta);
      const std::string program = folder + "/program.lp";
      WriteProgram(problem, program);
      Timer timer;
      Optimum optimum;
      CbcResult cbc;
      bool slow = false;
      for (int round = 0; round < rounds; ++round) {
        optimum = SearchOptimum(problem);
        timer.Note("optimal", optimum.milliseconds);
        if (!has_cbc || slow) continue;
        cbc = RunCbc(program);
        timer.Note("cbc", cbc.milliseconds);
        slow = cbc.milliseconds > 2000;
      }
      std::remove(program.c_str());
      std::printf("| %s | %d | %lld | %.1g | %s |", attribute.name, theta, static_cast<long long>(optimum.plan.loss),
                  optimum.gap, Milliseconds(timer.Median("optimal")).c_str());
      if (has_cbc)
        std::printf(" %lld%s | %s | %.0f |\n", static_cast<long long>(cbc.loss), cbc.proved ? "" : " (time over)",
                    Milliseconds(timer.Median("cbc")).c_str(), timer.Median("cbc") / timer.Median("optimal"));
      else
        std::printf(" | | |\n");
    }
  }
  std::printf(
      "\n### Optimal with many values (theta 4, at most %.0f s)\n\n| values | records | two-size | multi-size | "
      "optimal | bound | gap | ms |\n|---|---|---|---|---|---|---|---|\n",
      kSearchSeconds);
  for (const int values : {100, 400, 800, 1600, 3200}) {
    for (const std::int64_t rows : {500'000LL, 100'000'000LL}) {
      const BucketProblem problem = Problem(ManyValues(values, rows), 4);
      const Optimum optimum = SearchOptimum(problem);
      std::printf("| %d | %lld | %lld | %lld | %lld | %lld | %.1g | %s |\n", values, static_cast<long long>(rows),
                  static_cast<long long>(TwoSizePlan(problem)->loss),
                  static_cast<long long>(MultiSizePlan(problem)->loss), static_cast<long long>(optimum.plan.loss),
                  static_cast<long long>(optimum.plan.bound.value_or(0)), optimum.gap,
                  Milliseconds(optimum.milliseconds).c_str());
    }
  }
  std::printf("\n");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: buckets FOLDER [ROUNDS]\n");
    return 2;
  }
  folder = argv[1];
  if (argc > 2) rounds = std::max(1, std::atoi(argv[2]));
  FigureDiversity();
  FigureError();
  FigureRelativeError();
  FiguresRunTime();
  AgainstCbc();
  return 0;
}
