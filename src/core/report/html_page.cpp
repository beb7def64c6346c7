/*
 * html_page.cpp - see html_page.hpp.
 */
#include "core/report/html_page.hpp"

#include <algorithm>
#include <cstdlib>

#include "core/report/glossary.hpp"
#include "core/report/markup.hpp"
#include "core/report/page_script.hpp"
#include "core/report/page_style.hpp"
#include "core/report/svg.hpp"

namespace privacy_score {

namespace {

// A name or a moment of so many characters stays on one line everywhere.
constexpr std::size_t kOneLine = 17;

// Text whose lines stay lines.
std::string Lines(std::string_view text) {
  std::string html;
  for (std::size_t begin = 0;;) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    html += Escaped(text.substr(begin, end - begin));
    if (end == text.size()) return html;
    html += "<br>";
    begin = end + 1;
  }
}

}  // namespace

HtmlPage::HtmlPage(std::string_view title) : title_(Escaped(title)) {}

HtmlPage& HtmlPage::Lead(std::string_view text) {
  head_ += "<p class=\"lead\">" + Lines(text) + "</p>\n";
  return *this;
}

HtmlPage& HtmlPage::Tiles(const std::vector<PageTile>& tiles) {
  head_ += "<ul class=\"tiles\">";
  for (const PageTile& tile : tiles) {
    const std::string link = tile.section == nullptr ? "div" : "a href=\"#" + std::string(tile.section) + "\"";
    head_ += std::string("<li") + (tile.alarming ? " class=\"alarm\"" : "") + "><" + link + "><b>" +
             Escaped(tile.value) + "</b><span>" + Escaped(tile.meaning) + "</span></" +
             (tile.section == nullptr ? "div" : "a") + "></li>";
  }
  head_ += "</ul>\n";
  return *this;
}

HtmlPage& HtmlPage::Section(const char* id, std::string_view heading) {
  EndSection();
  contents_ += "<li><a href=\"#" + std::string(id) + "\">" + Escaped(heading) + "</a></li>";
  body_ += "<section id=\"" + std::string(id) + "\">\n<h2>" + Escaped(heading) + "</h2>\n";
  in_section_ = true;
  return *this;
}

void HtmlPage::EndSection() {
  if (in_section_) body_ += "</section>\n";
  in_section_ = false;
}

HtmlPage& HtmlPage::Part(std::string_view heading) {
  body_ += "<h3>" + Escaped(heading) + "</h3>\n";
  return *this;
}

HtmlPage& HtmlPage::LegendPart(std::string_view heading, std::string_view legend) {
  body_ += "<div class=\"part\"><h3 class=\"stick\">" + Escaped(heading) + " " + std::string(legend) + "</h3>\n";
  return *this;
}

HtmlPage& HtmlPage::EndPart() {
  body_ += "</div>\n";
  return *this;
}

HtmlPage& HtmlPage::Note(std::string_view text) {
  body_ += "<p class=\"note\">" + Lines(text) + "</p>\n";
  return *this;
}

// A drawing that is wider than a telephone says there what it shows, in words.
HtmlPage& HtmlPage::Figure(std::string_view svg) {
  constexpr std::string_view kLabel = "aria-label=\"";
  body_ += "<figure class=\"wide\">";
  body_ += svg;
  const std::size_t at = svg.find(kLabel);
  if (at != std::string_view::npos) {
    const std::string_view rest = svg.substr(at + kLabel.size());
    body_ += "<figcaption class=\"instead\">" + std::string(rest.substr(0, rest.find('"'))) + "</figcaption>";
  }
  body_ += "</figure>\n";
  return *this;
}

HtmlPage& HtmlPage::Block(std::string_view html) {
  body_ += html;
  return *this;
}

HtmlPage& HtmlPage::Table(const std::vector<PageColumn>& columns, const std::vector<Row>& rows, std::string_view none,
                          int role) {
  if (rows.empty()) {
    body_ += "<p class=\"none\">" + Escaped(none) + "</p>\n";
    return *this;
  }
  body_ += "<table class=\"rows" + std::string(columns.size() > 6 ? " many" : "") + "\"><thead><tr>";
  for (const PageColumn& column : columns) {
    const bool is_right = column.kind == CellKind::kNumber;
    body_ += std::string("<th scope=\"col\"") + (is_right ? " class=\"number\"" : "") + ">" +
             (column.term == nullptr ? Escaped(column.header) : TermLink(column.term, column.header)) + "</th>";
  }
  body_ += "</tr></thead><tbody>\n";
  for (const Row& row : rows) {
    body_ += "<tr";
    if (role >= 0 && row[static_cast<std::size_t>(role)])
      body_ += " data-role=\"" + Escaped(*row[static_cast<std::size_t>(role)]) + "\"";
    body_ += ">";
    for (std::size_t i = 0; i < columns.size(); ++i) Cell(columns[i], row[i]);
    body_ += "</tr>\n";
  }
  body_ += "</tbody></table>\n";
  return *this;
}

void HtmlPage::Cell(const PageColumn& column, const Field& field) {
  if (!field || field->empty()) {
    body_ += "<td class=\"empty\"></td>";
    return;
  }
  const auto begin = [&](const char* kind) {
    body_ += "<td class=\"" + std::string(kind) + "\" data-l=\"" + Escaped(column.header) + "\">";
  };
  switch (column.kind) {
    case CellKind::kText:
      begin("text");
      body_ += Lines(*field);
      break;
    case CellKind::kShort:
      begin(field->size() <= kOneLine ? "short day" : "short");
      body_ += Escaped(*field);
      break;
    case CellKind::kCode:
      begin("code");
      body_ += Lines(*field);
      break;
    case CellKind::kNumber:
      begin("number");
      body_ += Escaped(*field);
      break;
    case CellKind::kShare: {
      const double share = std::clamp(std::strtod(std::string(*field).c_str(), nullptr), 0.0, 1.0);
      begin("share");
      body_ += "<span class=\"bar\"><i style=\"width:" + Shown(100 * share, 1) + "%\"></i></span>" + Escaped(*field);
      break;
    }
    case CellKind::kMark:
      begin("mark");
      body_ += Escaped(*field);
      break;
  }
  body_ += "</td>";
}

std::string HtmlPage::Finish(std::string_view footer) {
  Section("glossary", "What the words mean");
  body_ += Glossary();
  EndSection();
  return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
         "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
         "script-src '" +
         std::string(kPageScriptHash) +
         "'; base-uri 'none'; form-action 'none'\">\n"
         "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
         "<meta name=\"color-scheme\" content=\"light dark\">\n<title>" +
         title_ + "</title>\n<style>\n" + kChartStyle + "\n" + kPageStyle +
         "</style>\n</head>\n<body>\n<header>\n<h1>" + title_ + "</h1>\n" + head_ +
         "</header>\n<div class=\"side\">\n<nav aria-label=\"contents\"><ul>" + contents_ + "</ul></nav>\n" +
         kPageTools + "</div>\n<main>\n" + body_ + "</main>\n<footer><p>" + Lines(footer) + "</p></footer>\n<script>" +
         kPageScript + "</script>\n</body>\n</html>\n";
}

}  // namespace privacy_score
