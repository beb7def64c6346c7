/*
 * tree_copy.hpp - copies of parse trees that outlive libpg_query's memory, in blocks that are freed as a whole.
 *
 * libpg_query gives its trees away as packed bytes. Packing moves the bytes of each message once for each that it lies
 * in, which takes minutes for large texts that are deep, and unpacking takes a kilobyte of stack a message. Where it
 * packs with upb, there is nothing to copy: trees are unpacked into such blocks. Part of the parser island: plain C in
 * a C++ file, which needs malloc and free and nothing of libstdc++.
 */
#pragma once

#include <cstddef>

struct ProtobufCMessage;

namespace privacy_score {

struct TreeBlock {
  TreeBlock* next;
};

// Where a tree is copied to. Starts with `take` alone.
struct TreeMemory {
  const char* (*take)(std::size_t size);  // null, or why no more memory may be taken
  TreeBlock* blocks;                      // the caller's, for FreeBlocks()
  char* next;
  std::size_t left;
  std::size_t block_size;
  const char* why;  // set when memory was refused; static
};

// Memory in the blocks, aligned for anything; null when it is refused, with why.
void* TakeFrom(TreeMemory* memory, std::size_t size);
void FreeBlocks(TreeBlock* blocks);

// Copies a message and all that it holds; null when memory is refused. Recursion is as deep as the tree.
ProtobufCMessage* CopyTree(const ProtobufCMessage& from, TreeMemory* memory);

}  // namespace privacy_score
