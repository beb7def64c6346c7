/*
 * tree_copy.cpp - see tree_copy.hpp.
 */
#include "sqlparse/tree_copy.hpp"

#include <pg_query/pg_query.pb-c.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "sqlparse/parser_island.hpp"

namespace privacy_score {

namespace {

constexpr std::size_t kAlign = alignof(std::max_align_t);
constexpr std::size_t kFirstBlock = 8192;
constexpr std::size_t kLargestBlock = 262144;

// Adds a block with room for `size` bytes.
bool AddBlock(TreeMemory* memory, std::size_t size) {
  if (memory->block_size < kLargestBlock)
    memory->block_size = memory->block_size == 0 ? kFirstBlock : 2 * memory->block_size;
  const std::size_t room = size > memory->block_size ? size : memory->block_size;
  void* block = std::malloc(kAlign + room);
  if (block == nullptr) return false;
  auto* head = static_cast<TreeBlock*>(block);
  head->next = memory->blocks;
  memory->blocks = head;
  memory->next = static_cast<char*>(block) + kAlign;
  memory->left = room;
  return true;
}

std::size_t SizeOf(ProtobufCType type) {
  switch (type) {
    case PROTOBUF_C_TYPE_STRING:
    case PROTOBUF_C_TYPE_MESSAGE:
      return sizeof(void*);
    case PROTOBUF_C_TYPE_BYTES:
      return sizeof(ProtobufCBinaryData);
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_SINT64:
    case PROTOBUF_C_TYPE_SFIXED64:
    case PROTOBUF_C_TYPE_UINT64:
    case PROTOBUF_C_TYPE_FIXED64:
    case PROTOBUF_C_TYPE_DOUBLE:
      return sizeof(int64_t);
    case PROTOBUF_C_TYPE_BOOL:
      return sizeof(protobuf_c_boolean);
    default:
      return sizeof(int32_t);
  }
}

void* CopyBytes(const void* from, std::size_t size, TreeMemory* memory) {
  void* copy = TakeFrom(memory, size);
  if (copy != nullptr) std::memcpy(copy, from, size);
  return copy;
}

// Replaces what `count` places from `place` on point to, strings or messages, by copies.
bool CopyPointers(const ProtobufCFieldDescriptor& field, void* place, std::size_t count, TreeMemory* memory) {
  for (std::size_t i = 0; i < count; ++i) {
    if (field.type == PROTOBUF_C_TYPE_MESSAGE) {
      ProtobufCMessage*& message = static_cast<ProtobufCMessage**>(place)[i];
      if (message != nullptr && (message = CopyTree(*message, memory)) == nullptr) return false;
    } else {
      char*& text = static_cast<char**>(place)[i];
      if (text == nullptr || text == field.default_value) continue;
      text = static_cast<char*>(CopyBytes(text, std::strlen(text) + 1, memory));
      if (text == nullptr) return false;
    }
  }
  return true;
}

}  // namespace

void* TakeFrom(TreeMemory* memory, std::size_t size) {
  size = (size + kAlign - 1) / kAlign * kAlign;
  memory->why = memory->take(size);
  if (memory->why != nullptr) return nullptr;
  if (size > memory->left && !AddBlock(memory, size)) {
    memory->why = kOutOfMemory;
    return nullptr;
  }
  void* taken = memory->next;
  memory->next += size;
  memory->left -= size;
  return taken;
}

void FreeBlocks(TreeBlock* blocks) {
  while (blocks != nullptr) {
    TreeBlock* next = blocks->next;
    std::free(blocks);
    blocks = next;
  }
}

ProtobufCMessage* CopyTree(const ProtobufCMessage& from, TreeMemory* memory) {
  const ProtobufCMessageDescriptor& kind = *from.descriptor;
  auto* copy = static_cast<ProtobufCMessage*>(CopyBytes(&from, kind.sizeof_message, memory));
  if (copy == nullptr) return nullptr;
  char* bytes = reinterpret_cast<char*>(copy);
  for (unsigned i = 0; i < kind.n_fields; ++i) {
    const ProtobufCFieldDescriptor& field = kind.fields[i];
    const bool points = field.type == PROTOBUF_C_TYPE_MESSAGE || field.type == PROTOBUF_C_TYPE_STRING;
    if (field.label == PROTOBUF_C_LABEL_REPEATED) {
      const std::size_t count = *reinterpret_cast<const std::size_t*>(bytes + field.quantifier_offset);
      void*& items = *reinterpret_cast<void**>(bytes + field.offset);
      if (count == 0) continue;
      items = CopyBytes(items, count * SizeOf(field.type), memory);
      if (items == nullptr || (points && !CopyPointers(field, items, count, memory))) return nullptr;
    } else if (points) {
      const bool is_choice = (field.flags & PROTOBUF_C_FIELD_FLAG_ONEOF) != 0;
      if (is_choice && *reinterpret_cast<const uint32_t*>(bytes + field.quantifier_offset) != field.id) continue;
      if (!CopyPointers(field, bytes + field.offset, 1, memory)) return nullptr;
    }
  }
  return copy;
}

}  // namespace privacy_score
