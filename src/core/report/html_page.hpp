/*
 * html_page.hpp - a page that needs nothing beside it: headings, tables, drawings, one style sheet, no script.
 *
 * Readable on paper, on a phone, in light and dark. All text is escaped here; drawings come as the SVG of svg.hpp.
 */
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/rows.hpp"

namespace privacy_score {

enum class CellKind {
  kText,    // lines stay lines
  kShort,   // a name, a day: stays on one line
  kCode,    // names and tokens
  kNumber,  // to the right
  kShare,   // a number from 0 to 1, with a bar
  kMark     // a word that is worth a look: error, critical, blocked, ...
};

struct PageColumn {
  const char* header;
  CellKind kind = CellKind::kText;
};

struct PageTile {
  std::string value;
  std::string meaning;
  bool alarming = false;
};

class HtmlPage {
 public:
  explicit HtmlPage(std::string_view title);

  HtmlPage& Lead(std::string_view text);
  HtmlPage& Tiles(const std::vector<PageTile>& tiles);
  // Sections are listed at the head of the page.
  HtmlPage& Section(const char* id, std::string_view heading);
  HtmlPage& Part(std::string_view heading);
  HtmlPage& Note(std::string_view text);
  HtmlPage& Figure(std::string_view svg);
  // `rows` have at least as many fields as there are columns; further ones are not shown.
  HtmlPage& Table(const std::vector<PageColumn>& columns, const std::vector<Row>& rows, std::string_view caption = {});

  std::string Finish(std::string_view footer);

 private:
  void EndSection();
  void Cell(const PageColumn& column, const Field& field);

  std::string title_;
  std::string head_;
  std::string contents_;
  std::string body_;
  bool in_section_ = false;
};

}  // namespace privacy_score
