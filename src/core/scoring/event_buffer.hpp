/*
 * event_buffer.hpp - the statements of a log that is read, until the sessions are over that they belong to.
 *
 * A log has more statements than memory holds. Those of sessions that are over can be written while it is read, where
 * the events of each connection come in the order of time: all sessions of a connection are over but the last, and the
 * last is over once nothing has come of the connection for a while, neither in rows nor in time. Where they come in
 * another order nothing is taken before the end.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/scoring/ngram.hpp"

namespace privacy_score {

class EventBuffer {
 public:
  // `idle_gap` in microseconds, as CutSessions() takes it; `most` is how many events are kept before it is worth while
  // to take some, `recent` of how many rows a connection has to be absent for its last session to be over.
  explicit EventBuffer(std::int64_t idle_gap = 0, std::size_t most = 1U << 20U, std::size_t recent = 1U << 18U);

  // Throws Error 55000 for an event of a session that has been taken: the events were in order before. is_late() then
  // says so.
  void Add(Event event);
  bool is_late() const { return is_late_; }
  // Whether so many events are kept that TakeClosed() should be called.
  bool is_full() const { return in_order_ && events_.size() >= full_at_; }
  bool is_in_order() const { return in_order_; }

  // The sessions that are over, as CutSessions() orders them; their events are forgotten. Nothing when events of a
  // connection have come out of order.
  std::vector<CutSession> TakeClosed();
  // All that is left.
  std::vector<CutSession> TakeAll();

  // What is kept; an execution may be given another number.
  std::vector<Event>& events() { return events_; }

 private:
  struct Written {
    std::int64_t day, started, ended;
  };
  // The events of one role over one connection.
  struct Connection {
    std::int64_t last_at = 0;
    std::size_t last_row = 0;
    std::vector<Written> written;
    std::int64_t written_until = 0;  // the greatest of their ends
  };

  std::uint32_t ConnectionOf(std::int64_t session_key, const std::string& role);
  bool IsOver(const Connection& connection) const;
  std::vector<char> Closed() const;
  void NoteWritten(const CutSession& session);
  void ForgetConnections();

  std::int64_t idle_gap_;
  std::size_t most_;
  std::size_t recent_;
  std::size_t full_at_;
  bool in_order_ = true;
  bool is_late_ = false;
  std::size_t rows_ = 0;
  std::int64_t newest_ = 0;
  std::vector<Event> events_;
  std::vector<std::uint32_t> connection_of_;  // each event's place among `connections_`
  std::vector<Connection> connections_;
  std::unordered_map<std::string, std::uint32_t> places_;
};

}  // namespace privacy_score
