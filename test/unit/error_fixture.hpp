/*
 * error_fixture.hpp - the error that a call throws, as text.
 */
#pragma once

#include <string>

#include "core/base/error.hpp"

namespace privacy_score::testing_support {

// SQLSTATE and message of the Error that `body` throws; empty when it throws none.
template <typename Body>
std::string ErrorOf(Body body) {
  try {
    body();
  } catch (const privacy_score::Error& error) {
    return error.sqlstate() + " " + error.what();
  }
  return {};
}

}  // namespace privacy_score::testing_support
