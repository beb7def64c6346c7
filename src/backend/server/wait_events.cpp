/*
 * wait_events.cpp - see wait_events.hpp.
 */
#include "backend/server/wait_events.hpp"

extern "C" {
#include "miscadmin.h"
#include "storage/latch.h"
}

#include "backend/server/compat.hpp"

namespace privacy_score {

namespace {

// In the order of OwnWait.
constexpr const char* kNames[] = {"PrivacyScoreWorkerMain",     "PrivacyScoreRates",     "PrivacyScoreShutdown",
                                  "PrivacyScoreAccountantMain", "PrivacyScoreCharge",    "PrivacyScoreBudget",
                                  "PrivacyScoreFlush",          "PrivacyScoreScore",     "PrivacyScoreAlert",
                                  "PrivacyScoreRoom",           "PrivacyScoreFleetMain", "PrivacyScoreCollectorMain",
                                  "PrivacyScoreSender"};
constexpr int kCount = static_cast<int>(OwnWait::kSender) + 1;
static_assert(sizeof kNames / sizeof kNames[0] == kCount, "each wait has a name");

uint32 known[kCount];  // 0: not asked for yet

}  // namespace

uint32 WaitEventOf(OwnWait wait) {
  uint32& event = known[static_cast<int>(wait)];
  if (event == 0) event = NewWaitEvent(kNames[static_cast<int>(wait)]);
  return event;
}

void Pause(OwnWait wait, long milliseconds) {
  WaitLatch(MyLatch, WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, milliseconds, WaitEventOf(wait));
}

}  // namespace privacy_score
