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

// Writes the text of a rate as it stands in memory that is set aside for it.
void WriteText(char* text, std::string_view relation, std::string_view attributes) {
  memcpy(text, relation.data(), relation.size());
  text[relation.size()] = '\0';
  memcpy(text + relation.size() + 1, attributes.data(), attributes.size());
}

AskedRate ReadText(const char* text, Size length) {
  const Size relation = strlen(text) + 1;
  return {text, {text + relation, length - relation}};
}

// Puts a rate into the list; false when there is no room.
bool PutIntoList(DatabaseSlot* slot, std::string_view relation, std::string_view attributes) {
  const Size length = relation.size() + 1 + attributes.size();
  const dsa_pointer pointer = AllocateShared(RequestSize(length));
  if (!DsaPointerIsValid(pointer)) return false;
  auto* node = SharedAt<MissingRateNode>(pointer);
  node->length = static_cast<int32>(length);
  WriteText(node->text, relation, attributes);
  node->next = slot->missing_rates;
  slot->missing_rates = pointer;
  return true;
}

// In the inbox the length of a text stands before it.
using InboxLength = uint16;

// The same of the inbox.
bool PutIntoInbox(DatabaseSlot* slot, std::string_view relation, std::string_view attributes) {
  const Size length = relation.size() + 1 + attributes.size();
  char* at = slot->asked_inbox + slot->asked_inbox_used;
  if (length > kAskedInbox || at + sizeof(InboxLength) + length > slot->asked_inbox + kAskedInbox) return false;
  const auto before = static_cast<InboxLength>(length);
  memcpy(at, &before, sizeof before);
  WriteText(at + sizeof before, relation, attributes);
  slot->asked_inbox_used += static_cast<int32>(sizeof before + length);
  return true;
}

}  // namespace

bool AskForRate(DatabaseSlot* slot, std::string_view relation, std::string_view attributes, AskedShare* share) {
  const int64 cost = RequestCost(relation.size() + 1 + attributes.size());
  const int64 left = ps_shared->asked_most - static_cast<int64>(pg_atomic_read_u64(&ps_shared->asked_bytes));
  if (share != nullptr && share->taken != slot->asked_taken) *share = {slot->asked_taken, 0};
  if (share != nullptr ? !MayHave(share->bytes, cost, left) : cost > left) return false;
  if (!PutIntoInbox(slot, relation, attributes) && !PutIntoList(slot, relation, attributes)) return false;
  if (share != nullptr) share->bytes += cost;
  pg_atomic_fetch_add_u64(&ps_shared->asked_bytes, cost);
  return true;
}

AskedRate NextInInbox(const char* inbox, int32* at) {
  InboxLength length;
  memcpy(&length, inbox + *at, sizeof length);
  const char* text = inbox + *at + sizeof length;
  *at += static_cast<int32>(sizeof length + length);
  return ReadText(text, length);
}

void TakeAskedRates(DatabaseSlot* slot, TakenRates* taken) {
  taken->list = slot->missing_rates;
  taken->inbox_used = slot->asked_inbox_used;
  memcpy(taken->inbox, slot->asked_inbox, static_cast<Size>(slot->asked_inbox_used));
  for (int32 at = 0; at < taken->inbox_used;) {
    const int32 before = at;
    NextInInbox(taken->inbox, &at);
    const Size length = static_cast<Size>(at - before) - sizeof(InboxLength);
    pg_atomic_fetch_sub_u64(&ps_shared->asked_bytes, RequestCost(length));
  }
  slot->missing_rates = InvalidDsaPointer;
  slot->asked_inbox_used = 0;
  ++slot->asked_taken;
}

AskedRate ReadAskedRate(dsa_pointer at) {
  const auto* node = SharedAt<MissingRateNode>(at);
  return ReadText(node->text, static_cast<Size>(node->length));
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
