/*
 * calibration.cpp - what it costs to weigh a statement that a baseline lacks, and to calibrate.
 *
 * Baselines of 10,000 abstractions of 20 tokens each: tokens that are used by the law of Zipf, some of which nearly all
 * abstractions have, and tokens all used alike, where no abstraction stands out. Then sessions of 40 days, of up to 200
 * roles. Prints tables in Markdown: CPU microseconds of N(a), median and 99th percentile; CPU seconds, bytes and memory
 * of calibrations, what one role's part takes to be read, and how sure a threshold is that they give.
 */
#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "core/detection/alarm_reason.hpp"
#include "core/detection/calibration_bytes.hpp"
#include "core/detection/calibrator.hpp"

namespace {

using namespace privacy_score;

constexpr std::size_t kTokensEach = 20;
constexpr double kAlarmRate = .01;

// CPU time of this process: a busy machine does not count.
double CpuSeconds() {
  timespec at{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &at);
  return static_cast<double>(at.tv_sec) + static_cast<double>(at.tv_nsec) / 1e9;
}

double PeakMegabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

// Numbers from 0 below `size`, the smaller ones the more often, as 1/(number + 1)^power.
class Zipf {
 public:
  Zipf(std::size_t size, double power) {
    std::vector<double> weights;
    for (std::size_t i = 0; i < size; ++i) weights.push_back(std::pow(static_cast<double>(i + 1), -power));
    law_ = std::discrete_distribution<std::size_t>(weights.begin(), weights.end());
  }
  std::size_t Draw(std::mt19937_64& random) { return law_(random); }

 private:
  std::discrete_distribution<std::size_t> law_;
};

Tokens DrawTokens(std::mt19937_64& random, Zipf& law) {
  std::set<std::string> tokens;
  while (tokens.size() < kTokensEach) tokens.insert("p:public.patients.column" + std::to_string(law.Draw(random)));
  return {tokens.begin(), tokens.end()};
}

struct Case {
  const char* name;
  std::size_t tokens;
  double power;
};

void MeasureNovelty(const Case& of) {
  std::mt19937_64 random(5);
  Zipf law(of.tokens, of.power);
  std::vector<Tokens> baseline;
  for (int i = 0; i < 10000; ++i) baseline.push_back(DrawTokens(random, law));
  RoleTokens role;
  role.sessions = {1000, 5000};
  // A session has ten abstractions.
  std::vector<std::set<std::string>> sessions(1000);
  for (std::size_t i = 0; i < baseline.size(); ++i) sessions[i / 10].insert(baseline[i].begin(), baseline[i].end());
  for (const auto& session : sessions) {
    for (const std::string& token : session) {
      ++role.with_token[token].of_role;
      role.with_token[token].of_all += 5;
    }
  }
  NoveltyProfile::Abstractions named;
  for (std::size_t i = 0; i < baseline.size(); ++i) named.emplace_back(static_cast<AbstractionId>(i + 1), &baseline[i]);
  const double began = CpuSeconds();
  NoveltyProfile profile(role, named);
  const double built = CpuSeconds() - began;
  std::vector<double> times;
  for (int i = 0; i < 2000; ++i) {
    // Half are like one of the baseline but for a few tokens, half are like none.
    Tokens tokens = DrawTokens(random, law);
    if (i % 2 == 0) {
      const Tokens& like = baseline[random() % baseline.size()];
      std::copy(like.begin(), like.end() - 3, tokens.begin());
      std::sort(tokens.begin(), tokens.end());
      tokens.erase(std::unique(tokens.begin(), tokens.end()), tokens.end());
    }
    const double before = CpuSeconds();
    profile.Novelty(tokens);
    times.push_back((CpuSeconds() - before) * 1e6);
  }
  std::sort(times.begin(), times.end());
  std::printf("| %s | %.0f | %.1f | %.1f |\n", of.name, built * 1e3, times[times.size() / 2], times[times.size() * 99 / 100]);
}

struct Size {
  std::size_t roles;
  std::size_t sessions;
  std::size_t abstractions;  // of each role
};

// Returns what is said of a loop over 34 subjects.
std::string MeasureCalibration(const Size& size) {
  std::mt19937_64 random(7);
  Zipf tokens_law(2000, 1);
  Zipf habits(size.abstractions, 1);
  TokenMap tokens;
  for (std::size_t i = 0; i < size.roles * size.abstractions / 2 + size.abstractions; ++i)
    tokens[static_cast<AbstractionId>(i + 1)] = DrawTokens(random, tokens_law);
  std::geometric_distribution<int> few(.5);
  std::vector<BaselineSession> sessions;
  for (std::size_t i = 0; i < size.sessions; ++i) {
    BaselineSession session;
    const std::size_t role = random() % size.roles;
    session.role = "role" + std::to_string(role);
    session.principal = session.role + "/" + std::to_string(random() % 20);
    session.day = static_cast<std::int32_t>(random() % 40);
    session.begin = session.day * std::int64_t{86400} + static_cast<std::int64_t>(random() % 86400);
    // Neighbouring roles share half of what they do.
    for (std::size_t left = 5 + random() % 20; left > 0; --left)
      session.abstractions.push_back(static_cast<AbstractionId>(role * size.abstractions / 2 + habits.Draw(random) + 1));
    for (const Figure figure : {Figure::kAddressed, Figure::kPerson, Figure::kDiffer, Figure::kRepeats})
      session.figures[figure] = few(random);
    session.figures[Figure::kVolume] = VolumeOf(std::int64_t{50} << few(random));
    sessions.push_back(session);
  }
  double began = CpuSeconds();
  Calibrator calibrator(sessions, tokens, .1);
  while (!calibrator.Run({})) continue;
  const double seconds = CpuSeconds() - began;
  const std::string bytes = WriteCalibration(calibrator.calibration());
  began = CpuSeconds();
  const auto role = ReadRoleCalibration(bytes, "role0");
  const double reading = CpuSeconds() - began;
  const AlarmThreshold threshold = role->alarm.Threshold(kAlarmRate);
  std::printf("| %zu | %zu | %zu | %.2f | %.1f | %.1f | %.0f | %.2f%s | %.2f |\n", size.roles, size.sessions, size.abstractions, seconds,
              static_cast<double>(bytes.size()) / 1048576, reading * 1e3, PeakMegabytes(), threshold.value, threshold.extrapolated ? " (extrapolated)" : "",
              role->alarm.DripLimit(kAlarmRate));
  if (WriteCalibration(ReadCalibration(bytes)) != bytes) std::printf("not read as it was written\n");
  SessionFigures loop;
  loop[Figure::kAddressed] = 34;
  return ReasonInWords(role->Judge(loop), loop, *role);
}

}  // namespace

int main() {
  std::printf("| tokens | profile built, ms | N(a) median, us | 99th percentile, us |\n| --- | --- | --- | --- |\n");
  for (const Case& of : {Case{"2,000 by Zipf's law", 2000, 1}, Case{"200 by Zipf's law", 200, 1},
                         Case{"2,000 all alike", 2000, 0}, Case{"40 all alike", 40, 0}})
    MeasureNovelty(of);
  std::printf("\n| roles | sessions | abstractions a role | calibrated, s | MB | a role read, ms | memory so far, MB | one in 100 "
              "above | drip limit |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
  std::string reason;
  for (const Size& size : {Size{6, 400, 300}, Size{6, 10000, 1000}, Size{10, 100000, 10000}, Size{200, 100000, 10000}})
    reason = MeasureCalibration(size);
  std::printf("\nA loop over 34 subjects: %s.\n", reason.c_str());
  return 0;
}
