/*
 * calibration_bytes.cpp - see calibration_bytes.hpp.
 *
 * Numbers are written lowest byte first; counts in seven bits a byte, of which the highest bit says that more follow;
 * a text and the part of a role after their length.
 */
#include "core/detection/calibration_bytes.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "core/base/error.hpp"

namespace privacy_score {

namespace {

constexpr std::string_view kHead = "PSCAL3";

class Writer {
 public:
  void Count(std::int64_t value) {
    auto left = static_cast<std::uint64_t>(value);
    for (; left >= 0x80; left >>= 7U) bytes_ += static_cast<char>(left | 0x80U);
    bytes_ += static_cast<char>(left);
  }
  void Number(double value) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    for (unsigned shift = 0; shift < 64; shift += 8) bytes_ += static_cast<char>(bits >> shift);
  }
  void Text(std::string_view text) {
    Count(static_cast<std::int64_t>(text.size()));
    bytes_ += text;
  }
  void Write(const Quantiles& quantiles) {
    Count(static_cast<std::int64_t>(quantiles.points().size()));
    for (const Quantiles::Point& point : quantiles.points()) {
      Number(point.value);
      Count(point.at_least);
      Count(point.above);
    }
  }
  void Write(const Tail& tail) {
    Write(tail.seen());
    Number(tail.excess().from);
    Number(tail.excess().rate);
    Number(tail.excess().mean);
  }
  void Write(const AlarmLaw& alarm) {
    Count(alarm.sessions);
    Count(alarm.complete ? 1 : 0);
    Write(alarm.combined);
    Number(alarm.mean_excess);
    for (const DripLaw& drip : {alarm.drip, alarm.new_drip}) {
      Number(drip.from);
      Number(drip.reached);
    }
  }
  void Write(const Calibration::Role& role) {
    Count(role.sessions);
    Number(role.usual_distinct);
    Count(static_cast<std::int64_t>(role.tokens.size()));
    for (const Calibration::RoleToken& token : role.tokens) {
      Count(token.token);
      Count(token.sessions);
    }
    for (const std::optional<Tail>& tail : role.tails) {
      Count(tail ? 1 : 0);
      if (tail) Write(*tail);
    }
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  // At most `most`.
  std::int64_t Count(std::int64_t most = kMostCounted) {
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const auto byte = static_cast<std::uint8_t>(Take(1)[0]);
      value |= static_cast<std::uint64_t>(byte & 0x7fU) << shift;
      // One way to write a count: no zeros in front of it.
      if (shift > 49 || (shift > 0 && byte == 0)) Refuse();
      if (byte < 0x80) break;
    }
    if (value > static_cast<std::uint64_t>(most)) Refuse();
    return static_cast<std::int64_t>(value);
  }
  // How many things follow, each of at least so many bytes: what is damaged asks for no more memory than that.
  std::size_t Size(std::size_t least_bytes) {
    return static_cast<std::size_t>(Count(static_cast<std::int64_t>(bytes_.size() / least_bytes)));
  }
  bool Flag() { return Count(1) != 0; }
  // At least 0 and finite, as all numbers here.
  double Number() {
    const std::string_view taken = Take(8);
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < 8; ++i)
      bits |= static_cast<std::uint64_t>(static_cast<std::uint8_t>(taken[i])) << (8 * i);
    double value = 0;
    std::memcpy(&value, &bits, sizeof value);
    if (!std::isfinite(value) || std::signbit(value)) Refuse();
    return value;
  }
  std::string_view Text() { return Take(Size(1)); }
  void Head() {
    if (Take(kHead.size()) != kHead) Refuse();
  }
  void End() const {
    if (!bytes_.empty()) Refuse();
  }

  Quantiles ReadQuantiles() {
    std::vector<Quantiles::Point> points(Size(10));
    for (Quantiles::Point& point : points) {
      point.value = Number();
      point.at_least = Count();
      point.above = Count();
    }
    return Quantiles(std::move(points));
  }
  Tail ReadTail() {
    Quantiles seen = ReadQuantiles();
    Excess excess;
    excess.from = Number();
    excess.rate = Number();
    excess.mean = Number();
    return {std::move(seen), excess};
  }
  AlarmLaw ReadAlarm() {
    AlarmLaw alarm;
    alarm.sessions = Count();
    alarm.complete = Flag();
    alarm.combined = ReadQuantiles();
    if ((alarm.sessions == 0) != (alarm.combined.count() == 0)) Refuse();
    alarm.mean_excess = Number();
    for (DripLaw* drip : {&alarm.drip, &alarm.new_drip}) {
      drip->from = Number();
      drip->reached = Number();
    }
    return alarm;
  }
  std::vector<Calibration::Token> ReadTokens(std::int64_t sessions) {
    std::vector<Calibration::Token> tokens(Size(2));
    const Calibration::Token* before = nullptr;
    for (Calibration::Token& token : tokens) {
      token.text = Text();
      token.sessions = Count(sessions);
      if (before != nullptr && !(before->text < token.text)) Refuse();
      before = &token;
    }
    return tokens;
  }
  Calibration::Role ReadRole(const Calibration& calibration) {
    Calibration::Role role;
    role.sessions = Count(calibration.sessions);
    role.usual_distinct = Number();
    if (role.usual_distinct < 1) Refuse();
    role.tokens.resize(Size(2));
    const Calibration::RoleToken* before = nullptr;
    for (Calibration::RoleToken& token : role.tokens) {
      token.token = static_cast<std::uint32_t>(Count(static_cast<std::int64_t>(calibration.tokens.size())));
      if (token.token == calibration.tokens.size() || (before != nullptr && before->token >= token.token)) Refuse();
      token.sessions = Count(std::min(role.sessions, calibration.tokens[token.token].sessions));
      before = &token;
    }
    for (std::optional<Tail>& tail : role.tails)
      if (Flag()) tail = ReadTail();
    return role;
  }

  [[noreturn]] static void Refuse() { throw DamagedData("a calibration"); }

 private:
  std::string_view Take(std::size_t size) {
    if (size > bytes_.size()) Refuse();
    const std::string_view taken = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return taken;
  }

  std::string_view bytes_;
};

// Calls `visit` with each role's name and bytes, after it has read what stands before them.
template <typename Visit>
Calibration ReadParts(std::string_view bytes, Visit visit) {
  Reader reader(bytes);
  Calibration calibration;
  reader.Head();
  calibration.sessions = reader.Count();
  calibration.tokens = reader.ReadTokens(calibration.sessions);
  for (Tail& tail : calibration.tails) tail = reader.ReadTail();
  calibration.alarm = reader.ReadAlarm();
  std::string_view before;
  for (std::size_t left = reader.Size(2), first = left; left > 0; --left) {
    const std::string_view name = reader.Text();
    if (left != first && !(before < name)) Reader::Refuse();
    before = name;
    visit(calibration, name, reader.Text());
  }
  reader.End();
  return calibration;
}

Calibration::Role RoleOf(const Calibration& calibration, std::string_view name, std::string_view part) {
  Reader reader(part);
  Calibration::Role role = reader.ReadRole(calibration);
  reader.End();
  role.name = name;
  return role;
}

}  // namespace

std::string WriteCalibration(const Calibration& calibration) {
  Writer writer;
  writer.Count(calibration.sessions);
  writer.Count(static_cast<std::int64_t>(calibration.tokens.size()));
  for (const Calibration::Token& token : calibration.tokens) {
    writer.Text(token.text);
    writer.Count(token.sessions);
  }
  for (const Tail& tail : calibration.tails) writer.Write(tail);
  writer.Write(calibration.alarm);
  writer.Count(static_cast<std::int64_t>(calibration.roles.size()));
  for (const Calibration::Role& role : calibration.roles) {
    writer.Text(role.name);
    Writer part;
    part.Write(role);
    writer.Text(part.bytes());
  }
  return std::string(kHead) + writer.bytes();
}

Calibration ReadCalibration(std::string_view bytes) {
  std::vector<Calibration::Role> roles;
  Calibration calibration = ReadParts(bytes, [&](const Calibration& head, std::string_view name,
                                                 std::string_view part) { roles.push_back(RoleOf(head, name, part)); });
  calibration.roles = std::move(roles);
  return calibration;
}

std::optional<RoleCalibration> ReadRoleCalibration(std::string_view bytes, std::string_view role) {
  std::optional<Calibration::Role> wanted;
  const Calibration calibration =
      ReadParts(bytes, [&](const Calibration& head, std::string_view name, std::string_view part) {
        if (name == role) wanted = RoleOf(head, name, part);
      });
  if (!wanted) return std::nullopt;
  return calibration.Of(*wanted);
}

}  // namespace privacy_score
