/*
 * html_page.hpp - a page that needs nothing beside it: headings, tables, drawings, one style sheet, one script.
 *
 * Readable on paper, on a phone, in light and dark, with the script or without it. The page's own policy forbids every
 * request, and every script but the one it has. All text is escaped here; drawings come as the SVG of svg.hpp, and what
 * is composed elsewhere in this folder as a block.
 */
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/rows.hpp"

namespace privacy_score {

enum class CellKind {
  kText,    // lines stay lines
  kShort,   // a name, a day: stays on one line where there is room
  kCode,    // names and tokens
  kNumber,  // to the right
  kShare,   // a number from 0 to 1, with a bar
  kMark     // a word that is worth a look: error, critical, blocked, ...
};

struct PageColumn {
  const char* header;
  CellKind kind = CellKind::kText;
  const char* term = nullptr;  // of the glossary
};

struct PageTile {
  std::string value;
  std::string meaning;
  bool alarming = false;
  const char* section = nullptr;  // where it leads to
};

class HtmlPage {
 public:
  explicit HtmlPage(std::string_view title);

  HtmlPage& Lead(std::string_view text);
  HtmlPage& Tiles(const std::vector<PageTile>& tiles);
  // Sections are listed at the head of the page; their headings stay in sight.
  HtmlPage& Section(const char* id, std::string_view heading);
  HtmlPage& Part(std::string_view heading);
  // A part whose heading stays in sight, with a legend in markup, to EndPart().
  HtmlPage& LegendPart(std::string_view heading, std::string_view legend);
  HtmlPage& EndPart();
  HtmlPage& Note(std::string_view text);
  HtmlPage& Figure(std::string_view svg);
  // Markup that is well-formed and escaped.
  HtmlPage& Block(std::string_view html);
  // `rows` have at least as many fields as there are columns; further ones are not shown. Where there are none it says
  // `none`. `role`: the column with the name of the role that a row is about, -1 for none.
  HtmlPage& Table(const std::vector<PageColumn>& columns, const std::vector<Row>& rows, std::string_view none,
                  int role = -1);

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
