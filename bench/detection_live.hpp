/*
 * detection_live.hpp - writes a small bank and its sessions as files of SQL, for detection.sh to run by a server.
 *
 *   bank.sql           makes the tables
 *   roles              a role a line
 *   baseline/DAY/N.ROLE, test/N.ROLE   sessions in the order of N, a statement a line
 *   recorded.sql       makes the table recorded: what the generator says of each session of test
 *   tokens.sql         makes the table asked: each statement once, with the tokens that the generator says it has
 */
#pragma once

#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include "core/base/rows.hpp"
#include "detection_attacks.hpp"
#include "detection_record.hpp"
#include "detection_sql.hpp"

namespace bank {

class LiveFiles {
 public:
  LiveFiles(const std::string& folder, std::uint64_t seed)
      : folder_(folder), people_(seed, {2000, 4, 5}), attacks_(people_) {}

  void Write() {
    std::filesystem::create_directories(folder_ + "/test");
    std::ofstream(folder_ + "/bank.sql") << SqlOfBank(people_.customers());
    std::ofstream roles(folder_ + "/roles");
    for (const Role& role : people_.roles()) roles << role.name << '\n';
    std::ofstream recorded(folder_ + "/recorded.sql");
    recorded
        << "CREATE TABLE recorded (number int PRIMARY KEY, family text, statements int, addressed int, person int, "
           "repeats int);\n";
    std::ofstream asked(folder_ + "/tokens.sql");
    asked << "CREATE TABLE asked (sql text, tokens text[]);\n";
    for (int day = 0; day < kBaselineDays; ++day) {
      const std::string to = folder_ + "/baseline/" + std::to_string(1000 + day);
      std::filesystem::create_directories(to);
      EachNormal(day, [&](const Session& session) { WriteSession(to, session, asked); });
    }
    const auto test = [&](const Session& session, std::string_view family) {
      WriteSession(folder_ + "/test", session, asked);
      const Recorded what = Record(session.executions);
      recorded << "INSERT INTO recorded VALUES (" << number_ << ", '" << family << "', " << session.executions.size()
               << ", " << *what.figures.addressed << ", " << *what.figures.person << ", " << what.repeats << ");\n";
    };
    for (int day = kBaselineDays; day < kBaselineDays + kTestDays; ++day)
      EachNormal(day, [&](const Session& session) { test(session, "normal"); });
    for (const FamilyName& family : kFamilies)
      for (int i = 0; i < kAttacks; ++i) {
        const int person = Below(static_cast<int>(people_.people().size()), people_.random());
        test(attacks_.Make(family.family, person, kBaselineDays + kTestDays), family.name);
      }
  }

 private:
  static constexpr int kBaselineDays = 12;
  static constexpr int kTestDays = 5;
  static constexpr int kAttacks = 3;

  template <typename Visit>
  void EachNormal(int day, const Visit& visit) {
    for (std::size_t person = 0; person < people_.people().size(); ++person)
      for (const Session& session : people_.DayOf(static_cast<int>(person), day)) visit(session);
  }

  void WriteSession(const std::string& to, const Session& session, std::ofstream& asked) {
    std::ofstream file(to + '/' + std::to_string(++number_ + 10000) + '.' +
                       people_.roles()[static_cast<std::size_t>(session.role)].name);
    for (const Execution& execution : session.executions) {
      file << SqlOf(execution) << ";\n";
      if (asked_.insert(execution.statement->id).second)
        asked << "INSERT INTO asked VALUES ($sql$" << SqlOf(execution) << "$sql$, $tokens$"
              << privacy_score::ArrayText(execution.statement->tokens) << "$tokens$);\n";
    }
  }

  std::string folder_;
  People people_;
  Attacks attacks_;
  int number_ = 0;
  std::set<privacy_score::AbstractionId> asked_;
};

inline void WriteLive(const std::string& folder, std::uint64_t seed) { LiveFiles(folder, seed).Write(); }

}  // namespace bank
