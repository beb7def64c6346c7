/*
 * event_buffer.cpp - see event_buffer.hpp.
 */
#include "core/scoring/event_buffer.hpp"

#include <algorithm>
#include <utility>

#include "core/base/error.hpp"

namespace privacy_score {

namespace {

// Beyond so many connections those are forgotten of which no event is kept.
constexpr std::size_t kMostConnections = 1000000;

std::string NameOf(std::int64_t session_key, const std::string& role) {
  return std::to_string(session_key) + ' ' + role;
}

}  // namespace

EventBuffer::EventBuffer(std::int64_t idle_gap, std::size_t most, std::size_t recent)
    : idle_gap_(idle_gap), most_(most), recent_(recent), full_at_(most) {}

std::uint32_t EventBuffer::ConnectionOf(std::int64_t session_key, const std::string& role) {
  // What comes next comes of the same connection as a rule.
  if (!events_.empty() && events_.back().session_key == session_key && events_.back().role == role)
    return connection_of_.back();
  const auto found = places_.emplace(NameOf(session_key, role), static_cast<std::uint32_t>(connections_.size()));
  if (found.second) connections_.emplace_back();
  return found.first->second;
}

void EventBuffer::Add(Event event) {
  const std::uint32_t place = ConnectionOf(event.session_key, event.role);
  Connection& connection = connections_[place];
  const auto touches = [&](const Written& written) {
    return event.day == written.day && event.at >= written.started - idle_gap_ && event.at <= written.ended + idle_gap_;
  };
  if (!connection.written.empty() && event.at <= connection.written_until + idle_gap_ &&
      std::any_of(connection.written.begin(), connection.written.end(), touches)) {
    is_late_ = true;
    throw Error("55000", "a statement comes after its session was written", "ORDER BY the time.");
  }
  if (event.at < connection.last_at && connection.last_row > 0) in_order_ = false;
  newest_ = rows_ == 0 ? event.at : std::max(newest_, event.at);
  connection.last_at = event.at;
  connection.last_row = ++rows_;
  connection_of_.push_back(place);
  events_.push_back(std::move(event));
}

bool EventBuffer::IsOver(const Connection& connection) const {
  return connection.last_at < newest_ - idle_gap_ && connection.last_row + recent_ < rows_;
}

// Of each event whether its session is over. From behind: the last session of a connection is open until an event is
// cut from the one after it.
std::vector<char> EventBuffer::Closed() const {
  std::vector<const Event*> next(connections_.size(), nullptr);
  std::vector<char> is_cut(connections_.size(), 0);
  std::vector<char> closed(events_.size(), 0);
  for (std::size_t i = events_.size(); i-- > 0;) {
    const std::uint32_t place = connection_of_[i];
    const Event& event = events_[i];
    const Event* later = next[place];
    if (later == nullptr)
      is_cut[place] = IsOver(connections_[place]) ? 1 : 0;
    else if (later->day != event.day || later->at - event.at > idle_gap_)
      is_cut[place] = 1;
    next[place] = &event;
    closed[i] = is_cut[place];
  }
  return closed;
}

void EventBuffer::NoteWritten(const CutSession& session) {
  Connection& connection = connections_[places_.at(NameOf(session.session_key, session.role))];
  connection.written_until =
      connection.written.empty() ? session.ended : std::max(connection.written_until, session.ended);
  connection.written.push_back({session.day, session.started, session.ended});
}

std::vector<CutSession> EventBuffer::TakeClosed() {
  if (!in_order_) return {};
  const std::vector<char> is_closed = Closed();
  std::vector<Event> closed;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < is_closed.size(); ++i) {
    if (is_closed[i] != 0) {
      closed.push_back(std::move(events_[i]));
      continue;
    }
    if (kept != i) events_[kept] = std::move(events_[i]);
    connection_of_[kept] = connection_of_[i];
    ++kept;
  }
  events_.resize(kept);
  connection_of_.resize(kept);
  std::vector<CutSession> sessions = CutSessions(std::move(closed), idle_gap_);
  for (const CutSession& session : sessions) NoteWritten(session);
  full_at_ = std::max(most_, 2 * kept);
  ForgetConnections();
  return sessions;
}

std::vector<CutSession> EventBuffer::TakeAll() {
  connection_of_.clear();
  return CutSessions(std::exchange(events_, {}), idle_gap_);
}

void EventBuffer::ForgetConnections() {
  if (connections_.size() <= kMostConnections) return;
  const std::vector<Connection> all = std::exchange(connections_, {});
  const std::vector<std::uint32_t> was = std::exchange(connection_of_, {});
  places_.clear();
  for (std::size_t i = 0; i < events_.size(); ++i) {
    const std::string name = NameOf(events_[i].session_key, events_[i].role);
    const auto place = places_.emplace(name, static_cast<std::uint32_t>(connections_.size()));
    if (place.second) connections_.push_back(all[was[i]]);
    connection_of_.push_back(place.first->second);
  }
}

}  // namespace privacy_score
