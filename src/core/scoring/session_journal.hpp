/*
 * session_journal.hpp - what makes a session's scorer what it is, as words that another process reads.
 *
 * A session whose statements come over several connections is scored by each of their processes. What one takes in for
 * the first time it writes into the session's journal, and the others catch up with it (LiveScorer::CatchUp) before
 * they take in anything themselves. So each knows all, whatever the order: sums of scores do not depend on it.
 *
 * An entry is its kind and its fields. It refers to nothing but abstractions that entries before it define.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/scoring/model.hpp"
#include "core/scoring/ngram.hpp"
#include "core/statement/comparisons.hpp"

namespace privacy_score {

class SessionJournal {
 public:
  enum class Kind : std::uint64_t { kDefinition = 1, kMet = 2, kAsked = 3, kSubject = 4, kReached = 5, kSketch = 6 };
  // The tokens of an abstraction, joined by the character NUL.
  struct Definition {
    AbstractionId id = 0;
    std::string_view tokens;
  };
  // An n-gram of the session's ngram_length that it has had, and how often.
  struct Met {
    NGram ngram{};
    std::uint64_t count = 1;
  };
  // Constants of an execution: the vector and the groups of ExecutionConstants.
  struct Asked {
    AbstractionId id = 0;
    std::uint64_t vector = 0;
    const std::uint64_t* groups = nullptr;
    std::size_t size = 0;
  };
  // The only constant of an execution, which is compared with a subject.
  struct Subject {
    AbstractionId id = 0;
    ComparedColumn column;
    std::uint64_t value = 0;
  };
  // Figures that the session has had, of constants that nobody knows any more.
  struct Reached {
    ReachFigures figures;
  };

  // A sketch (DistinctSketch::Bytes) of the constants of a statement, or of subjects.
  struct Sketch {
    AbstractionId id = 0;
    bool of_subjects = false;
    std::string_view bytes;
  };

  void Write(const Definition& definition);
  void Write(const Met& met);
  void Write(const Asked& asked);
  void Write(const Subject& subject);
  void Write(const Reached& reached);
  void Write(const Sketch& sketch);

  const std::vector<std::uint64_t>& words() const { return words_; }
  void Clear() { words_.clear(); }
  // How many words the first entries take that come to at most `most` words together.
  std::size_t Fitting(std::size_t most) const;
  // Takes out so many words from the beginning, whole entries.
  void Drop(std::size_t count) { words_.erase(words_.begin(), words_.begin() + static_cast<std::ptrdiff_t>(count)); }

  // Gives the entries of `words` to a reader with a Take() for each kind. Throws Error XX001 on damaged words.
  template <typename Reader>
  static void Read(const std::uint64_t* words, std::size_t size, Reader& reader) {
    for (Cursor cursor = {words, words + size}; cursor.at != cursor.end;) ReadEntry(cursor, reader);
  }

 private:
  struct Cursor {
    const std::uint64_t* at;
    const std::uint64_t* end;
    // So many words, which must be there.
    const std::uint64_t* Words(std::size_t count);
    std::string_view ReadText(std::size_t bytes);
    Definition ReadDefinition();
    Met ReadMet();
    Asked ReadAsked();
    Subject ReadSubject();
    Reached ReadReached();
    Sketch ReadSketch();
  };
  [[noreturn]] static void RefuseWords();
  template <typename Reader>
  static void ReadEntry(Cursor& cursor, Reader& reader) {
    switch (static_cast<Kind>(*cursor.at++)) {
      case Kind::kDefinition:
        reader.Take(cursor.ReadDefinition());
        break;
      case Kind::kMet:
        reader.Take(cursor.ReadMet());
        break;
      case Kind::kAsked:
        reader.Take(cursor.ReadAsked());
        break;
      case Kind::kSubject:
        reader.Take(cursor.ReadSubject());
        break;
      case Kind::kReached:
        reader.Take(cursor.ReadReached());
        break;
      case Kind::kSketch:
        reader.Take(cursor.ReadSketch());
        break;
      default:
        RefuseWords();
    }
  }
  void Put(Kind kind, AbstractionId id);
  void PutText(std::string_view text);

  std::vector<std::uint64_t> words_;
};

}  // namespace privacy_score
