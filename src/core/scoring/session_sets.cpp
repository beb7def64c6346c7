/*
 * session_sets.cpp - see session_sets.hpp.
 */
#include "core/scoring/session_sets.hpp"

#include "core/base/error.hpp"
#include "core/base/packed_bytes.hpp"

namespace privacy_score {

namespace {

constexpr const char* kSetsName = "a list of sessions";

}  // namespace

SessionSets SessionSets::OfOwn(std::string_view bytes) {
  SessionSets sets;
  sets.words_ = LendAll<std::int64_t>(bytes, bytes.size() / sizeof(std::int64_t), kSetsName);
  if (!bytes.empty()) throw DamagedData(kSetsName);
  return sets;
}

SessionSets SessionSets::At(std::string_view bytes) {
  SessionSets sets = OfOwn(bytes);
  for (const std::int64_t* set = sets.words_.begin(); set != sets.words_.end(); set += kHead + set[1]) {
    const std::ptrdiff_t left = sets.words_.end() - set - kHead;
    if (left < 0 || set[1] < 0 || set[1] > left || set[0] < 0 || set[0] > kMostCounted) throw DamagedData(kSetsName);
  }
  return sets;
}

void SessionSets::Add(std::int64_t count, const std::vector<AbstractionId>& ids) {
  const std::int64_t head[] = {count, static_cast<std::int64_t>(ids.size())};
  words_.Append(std::begin(head), std::end(head));
  words_.Append(ids.data(), ids.data() + ids.size());
}

}  // namespace privacy_score
