/*
 * core_call.cpp - see core_call.hpp.
 */
#include "backend/server/core_call.hpp"

#ifdef __GLIBC__
#include <malloc.h>
#include <sys/resource.h>
#endif

#include <cstdio>

namespace privacy_score {

void FillCoreError(CoreError* error, const char* sqlstate, const char* message, const char* hint) noexcept {
  strlcpy(error->sqlstate, std::strlen(sqlstate) == 5 ? sqlstate : "XX000", sizeof error->sqlstate);
  strlcpy(error->message, message, sizeof error->message);
  strlcpy(error->hint, hint, sizeof error->hint);
}

void RaiseCoreError(const CoreError& error) {
  const char* s = error.sqlstate;
  ereport(ERROR, (errcode(MAKE_SQLSTATE(s[0], s[1], s[2], s[3], s[4])), errmsg("%s", error.message),
                  error.hint[0] != '\0' ? errhint("%s", error.hint) : 0));
  pg_unreachable();
}

void GiveBackMemory(long kilobytes) {
#ifdef __GLIBC__
  // The C library goes through all that is free and tells the system of each piece, also of what is given back already.
  // There cannot be more to give back than was touched since.
  constexpr long kPage = 4;  // kilobytes
  static long touched_then = 0;
  struct rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  if ((usage.ru_minflt - touched_then) * kPage < kilobytes) return;
  malloc_trim(0);
  touched_then = usage.ru_minflt;
#endif
}

}  // namespace privacy_score
