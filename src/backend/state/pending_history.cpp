/*
 * pending_history.cpp - see pending_history.hpp.
 */
#include "backend/state/pending_history.hpp"

#include "backend/state/shared_state.hpp"

namespace privacy_score {

namespace {

// Writes into a block that has room. Readers see a note when all of it is there.
void PutIntoBlock(SharedBlock* block, const void* head, Size head_size, const void* body, Size body_size) {
  char* at = block->bytes + block->used;
  memcpy(at, head, head_size);
  if (body_size > 0) memcpy(at + head_size, body, body_size);
  pg_write_barrier();
  block->used += static_cast<int32>(head_size + body_size);
}

// Fills new blocks, which are linked; all but the last to the end.
void Fill(SharedBlock* block, const void* head, Size head_size, const void* body, Size body_size) {
  const auto* from = static_cast<const char*>(body);
  Size fits = Min(body_size, kBlockRoom - head_size);
  PutIntoBlock(block, head, head_size, from, fits);
  for (Size done = fits; done < body_size; done += fits) {
    block = block->next;
    fits = Min(body_size - done, kBlockRoom);
    PutIntoBlock(block, from + done, fits, nullptr, 0);
  }
}

SharedBlock* LastOf(SharedBlock* block) {
  while (block->next != nullptr) block = block->next;
  return block;
}

}  // namespace

bool AppendNote(LiveSession* session, NoteList PendingHistory::*list, const void* head, Size head_size,
                const void* body, Size body_size) {
  const Size size = head_size + body_size;
  SpinLockAcquire(&session->mutex);
  SharedBlock* last = (session->open.*list).last;
  const bool fits = last != nullptr && size <= kBlockRoom - static_cast<Size>(last->used);
  if (fits) PutIntoBlock(last, head, head_size, body, body_size);
  SpinLockRelease(&session->mutex);
  if (fits) return true;
  const Size count = (size + kBlockRoom - 1) / kBlockRoom;
  SharedBlock* first =
      count > INT_MAX / kBlockSize ? nullptr : TakeBlocks(&session->holding, static_cast<int32>(count));
  if (first == nullptr) return false;
  Fill(first, head, head_size, body, body_size);
  last = LastOf(first);
  SpinLockAcquire(&session->mutex);
  NoteList* open = &(session->open.*list);
  if (open->last != nullptr)
    open->last->next = first;
  else
    open->first = first;
  open->last = last;
  SpinLockRelease(&session->mutex);
  return true;
}

bool NoteReader::HasMore() {
  while (block != nullptr) {
    const auto used = static_cast<Size>(*static_cast<const volatile int32*>(&block->used));
    if (at < used) break;
    block = block->next;
    at = 0;
  }
  pg_read_barrier();
  return block != nullptr;
}

void NoteReader::Read(void* to, Size size) {
  auto* out = static_cast<char*>(to);
  while (size > 0 && HasMore()) {
    const Size here = Min(size, static_cast<Size>(block->used) - at);
    if (out != nullptr) {
      memcpy(out, block->bytes + at, here);
      out += here;
    }
    at += here;
    size -= here;
  }
}

char* ReadNoteText(NoteReader* reader, int64 length) {
  auto* text = static_cast<char*>(MemoryContextAllocHuge(CurrentMemoryContext, static_cast<Size>(length) + 1));
  reader->Read(text, static_cast<Size>(length));
  text[length] = '\0';
  return text;
}

void FreeHistory(LiveSession* session, PendingHistory* history) {
  GiveBlocks(&session->holding, reinterpret_cast<SharedBlock*>(history->chunks_first));
  GiveBlocks(&session->holding, history->definitions.first);
  GiveBlocks(&session->holding, history->alerts.first);
  GiveBlocks(&session->holding, history->told.first);
  *history = {};
}

}  // namespace privacy_score
