/*
 * literals.cpp - a scanner for the server's lexical rules, as far as literals need it.
 */
#include "literals.hpp"

namespace privacy_score::fuzz {

namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool StartsName(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (static_cast<unsigned char>(c) & 0x80U) != 0;
}
bool ContinuesName(char c) { return StartsName(c) || IsDigit(c) || c == '$'; }

class Scanner {
 public:
  Scanner(std::string_view sql, std::string_view text, std::string_view number)
      : sql_(sql), text_(text), number_(number) {}

  std::string Run() {
    while (at_ < sql_.size()) Token();
    return std::move(out_);
  }

 private:
  char Peek(std::size_t ahead = 0) const { return at_ + ahead < sql_.size() ? sql_[at_ + ahead] : '\0'; }
  bool Sees(std::string_view what) const { return sql_.substr(at_, what.size()) == what; }
  void Keep(std::size_t count = 1) {
    out_ += sql_.substr(at_, count);
    at_ += count;
  }

  void Token() {
    if (Sees("--")) return Keep(std::min(sql_.find_first_of("\r\n", at_), sql_.size()) - at_);
    if (Sees("/*")) return Comment();
    if (Peek() == '\'') return Quoted(false);
    if (Peek() == '"') return Name();
    if (Peek() == '$') return Dollar();
    if (Sees("..")) return Keep(2);
    if (IsDigit(Peek()) || (Peek() == '.' && IsDigit(Peek(1)))) return Number();
    if (StartsName(Peek())) return Word();
    Keep();
  }

  void Comment() {
    int depth = 0;
    do {
      if (Sees("/*")) {
        ++depth;
        Keep(2);
      } else if (Sees("*/")) {
        --depth;
        Keep(2);
      } else {
        Keep();
      }
    } while (depth > 0 && at_ < sql_.size());
  }

  // From its quotation mark on.
  void Quoted(bool escapes) {
    const std::size_t start = at_++;
    for (; at_ < sql_.size(); ++at_) {
      if (escapes && sql_[at_] == '\\') {
        ++at_;
      } else if (sql_[at_] == '\'') {
        if (Peek(1) != '\'') {
          ++at_;
          out_ += '\'';
          out_ += text_;
          out_ += '\'';
          return;
        }
        ++at_;
      }
    }
    at_ = sql_.size();
    out_ += sql_.substr(start);  // it has no end
  }

  void Name() {
    Keep();
    while (at_ < sql_.size() && Peek() != '"') Keep();
    Keep();
  }

  void Dollar() {
    std::size_t end = at_ + 1;
    if (end < sql_.size() && StartsName(sql_[end]))
      while (end < sql_.size() && sql_[end] != '$' && ContinuesName(sql_[end])) ++end;
    if (end >= sql_.size() || sql_[end] != '$') {
      Keep();
      while (IsDigit(Peek())) Keep();  // a parameter
      return;
    }
    const std::string_view tag = sql_.substr(at_, end + 1 - at_);
    const std::size_t close = sql_.find(tag, end + 1);
    if (close == std::string_view::npos) return Keep(sql_.size() - at_);
    out_ += tag;
    out_ += text_;
    out_ += tag;
    at_ = close + tag.size();
  }

  void Number() {
    const std::size_t start = at_;
    while (IsDigit(Peek())) ++at_;
    // 1..2 is a range, as in loops.
    if (Peek() == '.' && Peek(1) != '.') {
      ++at_;
      while (IsDigit(Peek())) ++at_;
    }
    const std::size_t sign = Peek(1) == '+' || Peek(1) == '-' ? 1 : 0;
    if ((Peek() == 'e' || Peek() == 'E') && IsDigit(Peek(1 + sign))) {
      at_ += 1 + sign;
      while (IsDigit(Peek())) ++at_;
    }
    // .5 may stand behind a name, which another number would become a part of.
    if (!number_.empty() && !out_.empty() && ContinuesName(out_.back())) out_ += ' ';
    out_ += number_.empty() ? sql_.substr(start, at_ - start) : number_;
    while (ContinuesName(Peek())) Keep();  // junk, which the server refuses
  }

  void Word() {
    const char first = Peek();
    const bool is_unicode = (first == 'u' || first == 'U') && Peek(1) == '&';
    if (is_unicode && (Peek(2) == '\'' || Peek(2) == '"')) {
      Keep(2);
      return Peek() == '"' ? Name() : Quoted(false);
    }
    constexpr std::string_view kPrefixes = "eEbBxXnN";
    if (Peek(1) == '\'' && kPrefixes.find(first) != std::string_view::npos) {
      Keep();
      return Quoted(first == 'e' || first == 'E');
    }
    while (ContinuesName(Peek())) Keep();
  }

  std::string_view sql_;
  std::string_view text_;
  std::string_view number_;
  std::size_t at_ = 0;
  std::string out_;
};

}  // namespace

std::string WithLiterals(std::string_view sql, std::string_view text, std::string_view number) {
  return Scanner(sql, text, number).Run();
}

}  // namespace privacy_score::fuzz
