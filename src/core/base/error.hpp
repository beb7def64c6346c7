/*
 * error.hpp - the only exception that core and sqlparse throw.
 *
 * The SQLSTATE travels with it so that the backend can raise the same error without knowing the cause.
 */
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace privacy_score {

// A refused argument. `sqlstate` has five characters; `hint` may be empty.
class Error : public std::runtime_error {
 public:
  Error(std::string sqlstate, const std::string& message, std::string hint = {})
      : std::runtime_error(message), sqlstate_(std::move(sqlstate)), hint_(std::move(hint)) {}

  const std::string& sqlstate() const { return sqlstate_; }
  const std::string& hint() const { return hint_; }

 private:
  std::string sqlstate_;
  std::string hint_;
};

inline Error InvalidValue(const std::string& message, std::string hint = {}) {
  return Error("22023", message, std::move(hint));
}

// Internal data (a model, a section, words of a plan) that is not as it was written.
inline Error DamagedData(const std::string& what) { return {"XX001", "could not read internal data: " + what}; }

}  // namespace privacy_score
