/*
 * detection.cpp - what alarms catch of fifteen families of attack, and how often they are false.
 *
 *   detection choosing|reporting [WORLDS]   judges made-up sessions by core alone, as the worker does; prints Markdown
 *   detection live FOLDER                   writes sessions as SQL for a server (detection_live.hpp)
 *
 * A world is a bank with its people (detection_people.hpp), drawn from a seed. Its alarms learn from the sessions of
 * the baseline's days alone; the days that are tested come after these. Whoever changes how alarms are computed may
 * look at the choosing seeds as often as she likes. The reporting seeds are for docs/benchmarks.md: nothing is chosen
 * by what they show, or they show nothing any more.
 *
 * Lines that begin with "@" are single values, which detection.sh compares with targets.
 */
#include <algorithm>
#include <array>
#include <boost/math/distributions/binomial.hpp>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "detection_attacks.hpp"
#include "detection_live.hpp"
#include "detection_world.hpp"

namespace {

using namespace privacy_score;
using bank::At;
using bank::Judged;
using bank::kAlarmRate;
using bank::kBank;
using bank::kBaselineDays;
using bank::kTestDays;
using bank::Past;
using bank::Scope;
using bank::World;

const std::vector<std::uint64_t> kChoosingSeeds = {11, 12, 13, 14, 15, 16, 17, 18};
const std::vector<std::uint64_t> kReportingSeeds = {7101, 7102, 7103, 7104, 7105, 7106, 7107, 7108};

constexpr std::uint64_t kLiveSeed = 7201;

constexpr int kAttacksAFamily = 50;
constexpr int kCampaigns = 30;
constexpr int kCampaignDays = 20;

double MostOf(const std::vector<Judged>& parts) {
  double most = 0;
  for (const Judged& part : parts) most = std::max(most, part.combined);
  return most;
}
bool AnyAlarm(const std::vector<Judged>& parts) {
  return std::any_of(parts.begin(), parts.end(), [](const Judged& part) { return part.IsAlarm(); });
}

// The share of pairs in which the attack is the more unusual one; sorts `normal`.
double Auc(const std::vector<double>& attacks, std::vector<double>& normal) {
  std::sort(normal.begin(), normal.end());
  double won = 0;
  for (const double attack : attacks) {
    const auto [from, to] = std::equal_range(normal.begin(), normal.end(), attack);
    won += static_cast<double>(from - normal.begin()) + static_cast<double>(to - from) / 2;
  }
  return won / static_cast<double>(attacks.size()) / static_cast<double>(normal.size());
}

// One-sided 95 % bound of a share.
double UpperBound(std::int64_t among, std::int64_t all) {
  return boost::math::binomial_distribution<>::find_upper_bound_on_p(static_cast<double>(all),
                                                                     static_cast<double>(among), .05);
}

struct Caught {
  std::int64_t attacks = 0, caught = 0;
  double auc = 0;  // times the attacks
  std::map<std::string, int> reasons;
  double Share() const { return static_cast<double>(caught) / static_cast<double>(attacks); }
  double Auc() const { return auc / static_cast<double>(attacks); }
  std::string Reasons() const {
    std::vector<std::pair<int, std::string>> most;
    for (const auto& [name, times] : reasons) most.emplace_back(-times, name);
    std::sort(most.begin(), most.end());
    std::string text;
    for (std::size_t i = 0; i < most.size() && i < 3; ++i)
      text += (text.empty() ? "" : ", ") + most[i].second + ' ' + std::to_string(-most[i].first);
    return text;
  }
};

struct False {
  std::int64_t sessions = 0, unusual = 0, drips = 0, works = 0, works_alarmed = 0;
  double worst_world = 0;
};

// What is measured in one way of cutting sessions.
struct Measured {
  False normal;
  std::array<Caught, bank::kFamilies.size()> families;
  std::array<Caught, bank::kFamilies.size()> spread;  // over three days
  std::vector<int> drip_days;                         // of the first alarm of each campaign; 0: none
  std::vector<int> dossier_sessions;
  std::int64_t baseline = 0;
};

void MeasureNormal(World& world, const std::vector<std::vector<bank::Session>>& tested, Scope scope, Measured* measured,
                   std::vector<double>* ones, std::vector<double>* threes, std::vector<std::vector<Past>>* pasts) {
  False& normal = measured->normal;
  std::int64_t sessions = 0, unusual = 0;
  for (const std::vector<bank::Session>& of_person : tested) {
    std::vector<double> numbers;
    pasts->emplace_back();
    if (of_person.empty()) continue;
    Past past;
    past.knowledge = world.KnowledgeOf(of_person.front().person);
    for (const bank::Session& session : of_person) {
      const std::vector<Judged> parts = world.Judge(session, scope, &past);
      for (const Judged& part : parts) {
        ++sessions;
        unusual += part.unusual;
        normal.drips += part.drip;
      }
      ++normal.works;
      normal.works_alarmed += AnyAlarm(parts);
      numbers.push_back(MostOf(parts));
      pasts->back().push_back(past);
    }
    ones->insert(ones->end(), numbers.begin(), numbers.end());
    for (std::size_t i = 2; i < numbers.size(); i += 3)
      threes->push_back(std::max({numbers[i - 2], numbers[i - 1], numbers[i]}));
  }
  normal.sessions += sessions;
  normal.unusual += unusual;
  normal.worst_world = std::max(normal.worst_world, static_cast<double>(unusual) / static_cast<double>(sessions));
}

// What is made of a session's executions when they are dealt out to three days.
std::vector<std::vector<bank::Execution>> Dealt(const std::vector<bank::Execution>& executions) {
  std::vector<std::vector<bank::Execution>> days(std::min<std::size_t>(3, executions.size()));
  for (std::size_t i = 0; i < executions.size(); ++i) days[i % days.size()].push_back(executions[i]);
  return days;
}

void Count(Caught* caught, const std::vector<Judged>& parts) {
  ++caught->attacks;
  if (!AnyAlarm(parts)) return;
  ++caught->caught;
  for (const Judged& part : parts) {
    if (!part.IsAlarm()) continue;
    ++caught->reasons[part.drip ? "drip" : std::string(NameOf(*part.reason))];
    break;
  }
}

void MeasureWorld(std::uint64_t seed, Scope scope, Measured* measured) {
  World world(seed, kBank, kBaselineDays);
  bank::People& people = world.people();
  std::vector<std::vector<bank::Session>> tested(At(world.Persons()));
  for (int day = kBaselineDays; day < kBaselineDays + kTestDays; ++day)
    for (int person = 0; person < world.Persons(); ++person)
      for (bank::Session& session : people.DayOf(person, day)) tested[At(person)].push_back(std::move(session));
  world.Calibrate(scope);
  for (const bank::Session& session : world.baseline())
    measured->baseline += scope == Scope::kSession ? 1 : static_cast<std::int64_t>(session.executions.size());
  std::vector<double> ones, threes;
  std::vector<std::vector<Past>> pasts;
  MeasureNormal(world, tested, scope, measured, &ones, &threes, &pasts);

  bank::Attacks attacks(people);
  // Whoever attacks has worked as usual before.
  const auto past_of = [&](int person) {
    Past past;
    if (pasts[At(person)].empty()) return past;
    past = bank::OneOf(pasts[At(person)], people.random());
    past.knowledge = pasts[At(person)].back().knowledge;
    return past;
  };
  const auto somebody = [&] { return bank::Below(world.Persons(), people.random()); };
  constexpr int day = kBaselineDays + kTestDays;
  for (std::size_t family = 0; family < bank::kFamilies.size(); ++family) {
    std::vector<double> whole, spread;
    for (int i = 0; i < kAttacksAFamily; ++i) {
      const int person = somebody();
      const bank::Session session = attacks.Make(bank::kFamilies[family].family, person, day);
      Past past = past_of(person);
      const std::vector<Judged> parts = world.Judge(session, scope, &past);
      whole.push_back(MostOf(parts));
      Count(&measured->families[family], parts);
      past = past_of(person);
      std::vector<Judged> days;
      int on = day;
      for (const auto& executions : Dealt(session.executions)) {
        for (const auto& part : World::Cut(executions, scope))
          days.push_back(world.Judge(session.role, on, part, &past));
        ++on;
      }
      spread.push_back(MostOf(days));
      Count(&measured->spread[family], days);
    }
    measured->families[family].auc += Auc(whole, ones) * kAttacksAFamily;
    measured->spread[family].auc += Auc(spread, threes) * kAttacksAFamily;
  }
  const auto first_alarm = [&](bank::Family family, int most) {
    const int person = somebody();
    Past past = past_of(person);
    for (int i = 1; i <= most; ++i)
      if (AnyAlarm(world.Judge(attacks.Make(family, person, day + i), scope, &past))) return i;
    return 0;
  };
  for (int i = 0; i < kCampaigns; ++i) {
    measured->drip_days.push_back(first_alarm(bank::Family::kSlowDrip, kCampaignDays));
    measured->dossier_sessions.push_back(first_alarm(bank::Family::kDossier, 3));
  }
}

double Percent(std::int64_t among, std::int64_t all) {
  return 100 * static_cast<double>(among) / static_cast<double>(all);
}

void PrintFamilies(const Measured& measured) {
  std::printf(
      "| family | attacks | AUC | caught | most often by | over three days: AUC | caught |\n"
      "|---|---|---|---|---|---|---|\n");
  for (std::size_t i = 0; i < bank::kFamilies.size(); ++i) {
    const Caught& whole = measured.families[i];
    const Caught& spread = measured.spread[i];
    std::printf("| %s | %lld | %.3f | %.0f %% | %s | %.3f | %.0f %% |\n", std::string(bank::kFamilies[i].name).c_str(),
                static_cast<long long>(whole.attacks), whole.Auc(), whole.Share() * 100, whole.Reasons().c_str(),
                spread.Auc(), spread.Share() * 100);
  }
}

void PrintFalse(const char* name, const Measured& measured) {
  const False& normal = measured.normal;
  std::printf("| %s | %lld | %lld | %lld | %.2f %% | %.2f %% | %.2f %% | %lld | %.2f %% |\n", name,
              static_cast<long long>(measured.baseline), static_cast<long long>(normal.sessions),
              static_cast<long long>(normal.unusual), Percent(normal.unusual, normal.sessions),
              100 * UpperBound(normal.unusual, normal.sessions), 100 * normal.worst_world,
              static_cast<long long>(normal.drips), Percent(normal.works_alarmed, normal.works));
}

// How many campaigns were caught by a number of sessions.
std::int64_t Within(const std::vector<int>& first, int most) {
  return std::count_if(first.begin(), first.end(), [&](int one) { return one > 0 && one <= most; });
}

void PrintCampaigns(const char* name, const Measured& measured) {
  const auto drips = static_cast<std::int64_t>(measured.drip_days.size());
  std::vector<int> days = measured.drip_days;
  for (int& one : days) one = one == 0 ? kCampaignDays + 1 : one;
  std::sort(days.begin(), days.end());
  const auto shown = [](int day) { return day > kCampaignDays ? std::string("never") : std::to_string(day); };
  std::printf(
      "| %s | %lld | %s | %s | %s | %.0f %% | %.0f %%, %.0f %%, %.0f %% |\n", name, static_cast<long long>(drips),
      shown(days[days.size() / 2]).c_str(), shown(days[days.size() * 9 / 10]).c_str(), shown(days.back()).c_str(),
      Percent(Within(measured.drip_days, 10), drips), Percent(Within(measured.dossier_sessions, 1), drips),
      Percent(Within(measured.dossier_sessions, 2), drips), Percent(Within(measured.dossier_sessions, 3), drips));
}

void PrintValues(const Measured& measured) {
  const False& normal = measured.normal;
  std::size_t least_auc = 0, least_caught = 0;
  int reached = 0;
  for (std::size_t i = 0; i < bank::kFamilies.size(); ++i) {
    const auto& families = measured.families;
    if (families[i].Auc() < families[least_auc].Auc()) least_auc = i;
    if (families[i].Share() < families[least_caught].Share()) least_caught = i;
    reached += families[i].Auc() >= .95 && families[i].Share() >= .9;
  }
  std::printf("@ false %.4f\n@ bound %.4f\n", Percent(normal.unusual, normal.sessions),
              100 * UpperBound(normal.unusual, normal.sessions));
  std::printf("@ least_auc %.4f %s\n", measured.families[least_auc].Auc(),
              std::string(bank::kFamilies[least_auc].name).c_str());
  std::printf("@ least_caught %.2f %s\n", measured.families[least_caught].Share() * 100,
              std::string(bank::kFamilies[least_caught].name).c_str());
  std::printf("@ families %d\n", reached);
  std::printf("@ drips %.2f\n",
              Percent(Within(measured.drip_days, 10), static_cast<std::int64_t>(measured.drip_days.size())));
  std::printf("@ dossiers %.2f\n", Percent(Within(measured.dossier_sessions, 3),
                                           static_cast<std::int64_t>(measured.dossier_sessions.size())));
}

int MeasureAll(const std::vector<std::uint64_t>& seeds) {
  Measured whole, statements;
  for (const std::uint64_t seed : seeds) {
    MeasureWorld(seed, Scope::kSession, &whole);
    MeasureWorld(seed, Scope::kStatement, &statements);
  }
  PrintValues(whole);
  std::printf("@ seeds");
  for (const std::uint64_t seed : seeds) std::printf(" %llu", static_cast<unsigned long long>(seed));
  std::printf("\n\n");
  PrintFamilies(whole);
  std::printf(
      "\n| a session is | of the baselines | normal ones tested | unusual | share | upper 95 %% bound | greatest of a "
      "bank | drips | pieces of work with an alarm |\n|---|---|---|---|---|---|---|---|---|\n");
  PrintFalse("a person's piece of work", whole);
  PrintFalse("each statement", statements);
  std::printf(
      "\n| a session is | campaigns | drips: first alarm, median day | 90th percentile | last | within ten days | "
      "dossiers caught by session 1, 2, 3 |\n|---|---|---|---|---|---|---|\n");
  PrintCampaigns("a person's piece of work", whole);
  PrintCampaigns("each statement", statements);
  std::printf("\n### What is asked in each family\n\n| family | |\n|---|---|\n");
  for (const bank::FamilyName& family : bank::kFamilies)
    std::printf("| %s | %s |\n", std::string(family.name).c_str(), std::string(family.what).c_str());
  std::printf("\n### Each statement a session of its own\n\n");
  PrintFamilies(statements);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "choosing";
  if (what == "choosing" || what == "reporting") {
    std::vector<std::uint64_t> seeds = what == "choosing" ? kChoosingSeeds : kReportingSeeds;
    if (argc > 2) seeds.resize(std::min<std::size_t>(seeds.size(), std::strtoul(argv[2], nullptr, 10)));
    return MeasureAll(seeds);
  }
  if (what == "live" && argc > 2) {
    bank::WriteLive(argv[2], kLiveSeed);
    return 0;
  }
  std::fprintf(stderr, "detection choosing|reporting [WORLDS] | live FOLDER\n");
  return 2;
}
