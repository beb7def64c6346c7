/*
 * asked_rates.cpp - see asked_rates.hpp.
 */
#include "asked_rates.hpp"

bool AskForRate(DatabaseSlot* slot, std::string_view relation, std::string_view attributes) {
  const Size length = relation.size() + 1 + attributes.size();
  const dsa_pointer pointer = AllocateShared(offsetof(MissingRateNode, text) + length);
  if (!DsaPointerIsValid(pointer)) return false;
  auto* node = SharedAt<MissingRateNode>(pointer);
  node->length = static_cast<int32>(length);
  // What is allocated is zeroed: the NUL between them is there.
  memcpy(node->text, relation.data(), relation.size());
  memcpy(node->text + relation.size() + 1, attributes.data(), attributes.size());
  node->next = slot->missing_rates;
  slot->missing_rates = pointer;
  return true;
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
  FreeShared(at, offsetof(MissingRateNode, text) + static_cast<Size>(node->length));
  return next;
}
