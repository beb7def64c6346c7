/*
 * rate_requests.cpp - see rate_requests.hpp.
 */
#include "backend/state/rate_requests.hpp"

namespace privacy_score {

namespace {

Size RequestSize(Size length) { return offsetof(MissingRateNode, text) + length; }

// What a rate counts for. Short ones take time, if not room.
int64 RequestCost(Size length) {
  constexpr Size kLeast = 400;
  return static_cast<int64>(Max(RequestSize(length), kLeast));
}

}  // namespace

bool AskForRate(DatabaseSlot* slot, std::string_view relation, std::string_view attributes, AskedShare* share) {
  const Size length = relation.size() + 1 + attributes.size();
  const int64 cost = RequestCost(length);
  const int64 left = ps_shared->asked_most - static_cast<int64>(pg_atomic_read_u64(&ps_shared->asked_bytes));
  if (share != nullptr && share->taken != slot->asked_taken) *share = {slot->asked_taken, 0};
  if (share != nullptr ? !MayHave(share->bytes, cost, left) : cost > left) return false;
  const dsa_pointer pointer = AllocateShared(RequestSize(length));
  if (!DsaPointerIsValid(pointer)) return false;
  if (share != nullptr) share->bytes += cost;
  pg_atomic_fetch_add_u64(&ps_shared->asked_bytes, cost);
  auto* node = SharedAt<MissingRateNode>(pointer);
  node->length = static_cast<int32>(length);
  // What is allocated is zeroed: the NUL between them is there.
  memcpy(node->text, relation.data(), relation.size());
  memcpy(node->text + relation.size() + 1, attributes.data(), attributes.size());
  node->next = slot->missing_rates;
  slot->missing_rates = pointer;
  return true;
}

dsa_pointer TakeAskedRates(DatabaseSlot* slot) {
  const dsa_pointer first = slot->missing_rates;
  slot->missing_rates = InvalidDsaPointer;
  ++slot->asked_taken;
  return first;
}

AskedRate ReadAskedRate(dsa_pointer at) {
  const auto* node = SharedAt<MissingRateNode>(at);
  const Size relation = strlen(node->text) + 1;
  return {node->text, {node->text + relation, static_cast<std::size_t>(node->length) - relation}};
}

dsa_pointer NextAskedRate(dsa_pointer at) { return SharedAt<MissingRateNode>(at)->next; }

dsa_pointer FreeAskedRate(dsa_pointer at) {
  const auto* node = SharedAt<MissingRateNode>(at);
  const dsa_pointer next = node->next;
  const auto length = static_cast<Size>(node->length);
  pg_atomic_fetch_sub_u64(&ps_shared->asked_bytes, RequestCost(length));
  FreeShared(at, RequestSize(length));
  return next;
}

}  // namespace privacy_score
