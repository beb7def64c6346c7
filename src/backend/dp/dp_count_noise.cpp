/*
 * dp_count_noise.cpp - see dp_count_noise.hpp.
 */
#include "backend/dp/dp_count_noise.hpp"

#include "backend/server/core_call.hpp"
#include "backend/server/strong_random.hpp"
#include "backend/server/wire.hpp"

namespace privacy_score {

namespace ps = privacy_score;

namespace {

constexpr uint64 kDrawsBetweenInterrupts = 65536;

}  // namespace

ps::DiscreteLaplace CountLaw(const Budget* budget, const ps::Rational& epsilon) {
  return ps::DiscreteLaplace(ps::Rational(budget->max_rows_per_unit) / epsilon);
}

ps::DiscreteLaplace CountLaw(const Question* question) {
  return CountLaw(question->budget, ps::ParseEpsilon(question->epsilon));
}

void RequireCountLaw(const Question* question) {
  CallCoreOrRaise([&] { CountLaw(question); });
}

void AddCountNoise(const Question* question, int64* counts, uint64 count) {
  for (uint64 first = 0; first < count; first += kDrawsBetweenInterrupts) {
    CHECK_FOR_INTERRUPTS();
    const uint64 end = Min(count, first + kDrawsBetweenInterrupts);
    CallCoreOrRaise([&] {
      const ps::DiscreteLaplace law = CountLaw(question);
      for (uint64 i = first; i < end; ++i) counts[i] = ps::SaturatingAdd(counts[i], law.Draw(StrongRandom()));
    });
  }
}

void TakeCount(void* count) { *static_cast<int64*>(count) = FieldNumber(0, 0); }

}  // namespace privacy_score
