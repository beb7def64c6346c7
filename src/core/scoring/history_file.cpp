/*
 * history_file.cpp - see history_file.hpp.
 */
#include "core/scoring/history_file.hpp"

#include <cstring>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "core/base/error.hpp"

namespace privacy_score {

namespace {

constexpr std::size_t kHead = 12;                         // length and checksum
constexpr std::size_t kMostBytes = std::size_t{1} << 28;  // of a record

// FNV-1a, of 64 bits: against what a crash leaves, not against anybody.
std::uint64_t Checksum(std::string_view bytes) {
  std::uint64_t hash = 14695981039346656037U;
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
  return hash;
}

struct FileReader {
  std::string_view file;
  std::size_t at = 0;  // of whole records
  bool Next(std::string_view* record) {
    std::uint32_t length = 0;
    std::uint64_t sum = 0;
    if (file.size() - at < kHead) return false;
    std::memcpy(&length, file.data() + at, sizeof length);
    std::memcpy(&sum, file.data() + at + sizeof length, sizeof sum);
    if (length > kMostBytes || length > file.size() - at - kHead) return false;
    *record = file.substr(at + kHead, length);
    if (Checksum(*record) != sum) return false;
    at += kHead + length;
    return true;
  }
};

// One record of a file, read.
struct Record {
  std::size_t offset = 0;  // in its file
  Row part;
  std::vector<Row> tokens;
  std::vector<Row> alerts;
};

using Part = FiledPartSection;

// Visits the records of sessions of a role, in the order in which they were written.
template <typename Visit>
void ForEachRecord(const DayFiles& files, const std::optional<std::string>& role, Visit visit) {
  for (const std::string_view bytes_of_day : files) {
    FileReader file{bytes_of_day};
    std::string_view bytes;
    for (std::size_t offset = 0; file.Next(&bytes); offset = file.at) {
      WireReader reader(bytes);
      Record record;
      record.offset = offset;
      std::vector<Row> parts = reader.Section(Part::kColumns);
      if (parts.size() != 1) throw Error("XX001", "a record of a standby's history has no session");
      record.part = std::move(parts.front());
      record.tokens = reader.Section(FiledTokenSection::kColumns);
      record.alerts = reader.Section(FiledAlertSection::kColumns);
      visit(record, !role || Required(record.part[Part::kRole]) == *role);
    }
  }
}

// What a session is known by among those of a database.
using SessionKey = std::tuple<std::string, std::string, std::string>;
SessionKey KeyOf(const Row& part) {
  return {RequiredText(part[Part::kRole]), RequiredText(part[Part::kSession]), RequiredText(part[Part::kStarted])};
}

FiledRow Texts(const Row& row) {
  FiledRow texts;
  for (const Field& field : row) texts.push_back(field ? std::optional<std::string>(*field) : std::nullopt);
  return texts;
}

}  // namespace

std::string FileRecord(const FiledRow& part, const std::vector<FiledRow>& tokens, const std::vector<FiledRow>& alerts) {
  WireWriter writer;
  writer.Section(Part::kColumns, {part});
  writer.Section(FiledTokenSection::kColumns, tokens);
  writer.Section(FiledAlertSection::kColumns, alerts);
  const std::string& bytes = writer.bytes();
  if (bytes.size() > kMostBytes) throw Error("54000", "a record of a standby's history is too long");
  const auto length = static_cast<std::uint32_t>(bytes.size());
  const std::uint64_t sum = Checksum(bytes);
  std::string record(kHead, '\0');
  std::memcpy(record.data(), &length, sizeof length);
  std::memcpy(record.data() + sizeof length, &sum, sizeof sum);
  return record + bytes;
}

std::size_t WholeRecords(std::string_view file) {
  FileReader reader{file};
  for (std::string_view record; reader.Next(&record);) continue;
  return reader.at;
}

ResultTable FiledParts(const DayFiles& files, const std::optional<std::string>& role) {
  struct Session {
    std::int64_t number = 0;
    FiledRow figures;  // the newest
  };
  std::map<SessionKey, Session> sessions;
  ForEachRecord(files, role, [&](const Record& record, bool is_asked_for) {
    if (!is_asked_for) return;
    Session& session = sessions[KeyOf(record.part)];
    if (session.number == 0) session.number = static_cast<std::int64_t>(sessions.size());
    session.figures = Texts(record.part);
  });
  ResultTable table;
  ForEachRecord(files, role, [&](const Record& record, bool is_asked_for) {
    if (!is_asked_for || TextOrNothing(record.part[Part::kIds]).empty()) return;
    Session& session = sessions[KeyOf(record.part)];
    FiledRow row(session.figures.begin(), session.figures.begin() + Part::kPart);
    row.insert(row.begin(), TextOf(session.number));
    for (const auto column : {Part::kPart, Part::kIds, Part::kRuns, Part::kRows})
      row.emplace_back(RequiredText(record.part[column]));
    table.rows.push_back(std::move(row));
  });
  return table;
}

ResultTable FiledTokens(const DayFiles& files, const std::optional<std::string>& role) {
  std::map<std::int64_t, std::string> tokens;
  std::set<std::int64_t> met;
  ForEachRecord(files, role, [&](const Record& record, bool is_asked_for) {
    for (const Row& row : record.tokens)
      tokens.emplace(ParseInteger(Required(row[FiledTokenSection::kId])),
                     RequiredText(row[FiledTokenSection::kTokens]));
    if (!is_asked_for || TextOrNothing(record.part[Part::kIds]).empty()) return;
    for (const std::int64_t id : ParseIntegers(*record.part[Part::kIds])) met.insert(id);
  });
  ResultTable table;
  for (const auto& [id, list] : tokens)
    if (!role || met.count(id) > 0) table.rows.push_back({TextOf(id), list});
  return table;
}

std::string WithoutEndUser(std::string_view file, std::string_view role, std::string_view end_user,
                           std::int64_t* sessions) {
  std::string left;
  std::set<SessionKey> gone;
  FileReader reader{file};
  std::string_view bytes;
  for (std::size_t from = 0; reader.Next(&bytes); from = reader.at) {
    const std::string_view whole = file.substr(from, reader.at - from);
    WireReader wire(bytes);
    const std::vector<Row> parts = wire.Section(Part::kColumns);
    const bool is_hers = parts.size() == 1 && Required(parts[0][Part::kRole]) == role &&
                         TextOrNothing(parts[0][Part::kEndUser]) == end_user;
    if (!is_hers) {
      left += whole;
      continue;
    }
    gone.insert(KeyOf(parts[0]));
    std::vector<FiledRow> tokens;
    for (const Row& row : wire.Section(FiledTokenSection::kColumns)) tokens.push_back(Texts(row));
    if (tokens.empty()) continue;
    FiledRow nobody(Part::kColumns);
    nobody[Part::kRole] = std::string(role);
    nobody[Part::kDay] = RequiredText(parts[0][Part::kDay]);
    nobody[Part::kSession] = "";
    nobody[Part::kStarted] = "0";
    left += FileRecord(nobody, tokens, {});
  }
  *sessions += static_cast<std::int64_t>(gone.size());
  return left;
}

ResultTable FiledAlerts(const DayFiles& files, const std::optional<std::string>& role) {
  constexpr std::int64_t kOffsets = std::int64_t{1} << 40;  // more than a file has bytes; days are less than 2^23
  ResultTable table;
  ForEachRecord(files, role, [&](const Record& record, bool is_asked_for) {
    if (!is_asked_for) return;
    const std::int64_t day = ParseInteger(Required(record.part[Part::kDay]));
    std::int64_t place = static_cast<std::int64_t>(record.offset);
    for (const Row& alert : record.alerts) {
      FiledRow row = {TextOf(-(day * kOffsets + ++place))};
      for (const auto column : {Part::kRole, Part::kEndUser, Part::kDay, Part::kSession})
        row.push_back(record.part[column] ? std::optional<std::string>(*record.part[column]) : std::nullopt);
      for (const auto& text : Texts(alert)) row.push_back(text);
      table.rows.push_back(std::move(row));
    }
  });
  return table;
}

}  // namespace privacy_score
