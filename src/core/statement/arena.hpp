/*
 * arena.hpp - memory for trees that two front ends build.
 *
 * A Statement is built by src/sqlparse (ordinary C++) and by src/backend, where any server call may longjmp past
 * destructors. Its nodes are therefore trivially destructible and live in an arena: palloc in the backend, a list of
 * blocks elsewhere. Nothing is freed one by one; the arena goes as a whole.
 */
#pragma once

#include <cstddef>
#include <cstring>
#include <memory_resource>
#include <new>
#include <string_view>
#include <type_traits>

namespace privacy_score {

// Hands out memory that lives as long as the arena. Alignment is that of max_align_t.
class Arena {
 public:
  virtual void* Allocate(std::size_t size) = 0;

  // Makes a default-initialised T; T needs no destructor.
  template <typename T>
  T* New() {
    static_assert(std::is_trivially_destructible<T>::value, "arena nodes are never destroyed");
    return new (Allocate(sizeof(T))) T();
  }

  // Copies text into the arena.
  std::string_view Copy(std::string_view text) {
    if (text.empty()) return {};
    char* copy = static_cast<char*>(Allocate(text.size()));
    std::memcpy(copy, text.data(), text.size());
    return {copy, text.size()};
  }

 protected:
  ~Arena() = default;
};

// An arena on the C++ heap, for everything but the backend.
class HeapArena final : public Arena {
 public:
  HeapArena() = default;
  HeapArena(const HeapArena&) = delete;
  HeapArena& operator=(const HeapArena&) = delete;

  void* Allocate(std::size_t size) override { return blocks_.allocate(size); }

 private:
  std::pmr::monotonic_buffer_resource blocks_{16384};
};

// A singly linked list of arena nodes; T has a member `T* next`.
template <typename T>
struct ArenaList {
  T* first = nullptr;
  T* last = nullptr;
  int size = 0;

  void Add(T* node) {
    node->next = nullptr;
    if (last == nullptr)
      first = node;
    else
      last->next = node;
    last = node;
    ++size;
  }
  // The node at position `index` from 0; null when out of range.
  T* At(int index) const {
    T* node = index < 0 ? nullptr : first;
    while (node != nullptr && index-- > 0) node = node->next;
    return node;
  }
  bool empty() const { return first == nullptr; }

  struct Iterator {
    T* node;
    T* operator*() const { return node; }
    Iterator& operator++() {
      node = node->next;
      return *this;
    }
    bool operator!=(const Iterator& other) const { return node != other.node; }
  };
  Iterator begin() const { return {first}; }
  Iterator end() const { return {nullptr}; }
};

}  // namespace privacy_score
