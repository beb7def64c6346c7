/*
 * html_page.cpp - see html_page.hpp.
 */
#include "core/report/html_page.hpp"

#include <algorithm>
#include <cstdlib>

#include "core/report/markup.hpp"
#include "core/report/svg.hpp"

namespace privacy_score {

namespace {

// What is wider than the page scrolls by itself, so that the page never does. On paper nothing scrolls, and colours are
// those of the light page.
const char* const kPageStyle =
    R"(:root{--ink:#1f2328;--soft:#59636e;--rule:#d1d9e0;--paper:#fff;--box:#f6f8fa;--link:#0063a8;--mark:#a03c00;--bar:#c04b00;--rail:#e4e9ee}
@media(prefers-color-scheme:dark){:root{--ink:#e6edf3;--soft:#9aa5b1;--rule:#343b44;--paper:#14181d;--box:#1b2027;--link:#5cb2f2;--mark:#f0a36b;--bar:#f0883e;--rail:#2c333b}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0 auto;padding:24px 20px 48px;max-width:1120px;background:var(--paper);color:var(--ink);font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans","DejaVu Sans",Arial,sans-serif}
h1{font-size:26px;line-height:1.2;margin:0 0 6px}
h2{font-size:20px;line-height:1.3;margin:40px 0 8px;padding-top:12px;border-top:1px solid var(--rule)}
h3{font-size:16px;margin:24px 0 6px}
p{margin:6px 0 10px;max-width:78ch;overflow-wrap:anywhere}
.lead,.note,footer,caption{color:var(--soft)}
a{color:var(--link)}
nav ul{list-style:none;display:flex;flex-wrap:wrap;gap:4px 18px;margin:14px 0 0;padding:0}
.tiles{list-style:none;display:grid;grid-template-columns:repeat(auto-fill,minmax(132px,1fr));gap:10px;margin:18px 0;padding:0}
.tiles li{background:var(--box);border:1px solid var(--rule);border-radius:8px;padding:10px 12px}
.tiles b{display:block;font-size:22px;line-height:1.2;font-variant-numeric:tabular-nums;overflow-wrap:anywhere}
.tiles span{color:var(--soft);font-size:13px}
.tiles .alarm{border-color:var(--mark)}
.tiles .alarm b{color:var(--mark)}
figure{margin:14px 0;overflow-x:auto}
figure svg{display:block;max-width:none;height:auto}
.wide{overflow-x:auto;margin:10px 0 18px}
table{border-collapse:collapse;font-size:13.5px;line-height:1.4}
caption{text-align:left;padding-bottom:6px}
th,td{text-align:left;vertical-align:top;padding:5px 14px 5px 0;border-bottom:1px solid var(--rule)}
th{font-weight:600;white-space:nowrap;color:var(--soft)}
.number{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
.code{font:12.5px/1.45 ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;min-width:24ch;max-width:56ch;overflow-wrap:anywhere}
.short{white-space:nowrap}
.share{white-space:nowrap;font-variant-numeric:tabular-nums}
.bar{display:inline-block;width:90px;height:9px;margin-right:8px;background:var(--rail);border-radius:2px;overflow:hidden}
.bar i{display:block;height:100%;background:var(--bar)}
.mark{font-weight:600;color:var(--mark)}
footer{margin-top:44px;border-top:1px solid var(--rule);font-size:13px}
@media(min-width:820px){figure svg{max-width:100%}}
@media print{body{max-width:none;padding:0;font-size:11px}nav{display:none}figure,.wide{overflow:visible}figure svg{max-width:100%}figure,tr{break-inside:avoid}h2,h3{break-after:avoid}})";

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
  for (const PageTile& tile : tiles)
    head_ += std::string("<li") + (tile.alarming ? " class=\"alarm\"" : "") + "><b>" + Escaped(tile.value) +
             "</b><span>" + Escaped(tile.meaning) + "</span></li>";
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

HtmlPage& HtmlPage::Note(std::string_view text) {
  body_ += "<p class=\"note\">" + Lines(text) + "</p>\n";
  return *this;
}

HtmlPage& HtmlPage::Figure(std::string_view svg) {
  body_ += "<figure tabindex=\"0\">";
  body_ += svg;
  body_ += "</figure>\n";
  return *this;
}

HtmlPage& HtmlPage::Table(const std::vector<PageColumn>& columns, const std::vector<Row>& rows,
                          std::string_view caption) {
  body_ += "<div class=\"wide\" tabindex=\"0\"><table>";
  if (!caption.empty()) body_ += "<caption>" + Escaped(caption) + "</caption>";
  body_ += "<thead><tr>";
  for (const PageColumn& column : columns) {
    const bool is_right = column.kind == CellKind::kNumber;
    body_ += std::string("<th scope=\"col\"") + (is_right ? " class=\"number\"" : "") + ">" + Escaped(column.header) +
             "</th>";
  }
  body_ += "</tr></thead><tbody>\n";
  for (const Row& row : rows) {
    body_ += "<tr>";
    for (std::size_t i = 0; i < columns.size(); ++i) Cell(columns[i], row[i]);
    body_ += "</tr>\n";
  }
  body_ += "</tbody></table></div>\n";
  return *this;
}

void HtmlPage::Cell(const PageColumn& column, const Field& field) {
  if (!field || field->empty()) {
    body_ += "<td></td>";
    return;
  }
  switch (column.kind) {
    case CellKind::kText:
      body_ += "<td>" + Lines(*field) + "</td>";
      break;
    case CellKind::kShort:
      body_ += "<td class=\"short\">" + Escaped(*field) + "</td>";
      break;
    case CellKind::kCode:
      body_ += "<td class=\"code\">" + Lines(*field) + "</td>";
      break;
    case CellKind::kNumber:
      body_ += "<td class=\"number\">" + Escaped(*field) + "</td>";
      break;
    case CellKind::kShare: {
      const double share = std::clamp(std::strtod(std::string(*field).c_str(), nullptr), 0.0, 1.0);
      body_ += "<td class=\"share\"><span class=\"bar\"><i style=\"width:" + Shown(100 * share, 1) + "%\"></i></span>" +
               Escaped(*field) + "</td>";
      break;
    }
    case CellKind::kMark:
      body_ += "<td><span class=\"mark\">" + Escaped(*field) + "</span></td>";
      break;
  }
}

std::string HtmlPage::Finish(std::string_view footer) {
  EndSection();
  return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
         "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
         "<meta name=\"color-scheme\" content=\"light dark\">\n<title>" +
         title_ + "</title>\n<style>\n" + kChartStyle + "\n" + kPageStyle +
         "\n</style>\n</head>\n<body>\n<header>\n<h1>" + title_ + "</h1>\n" + head_ +
         "<nav aria-label=\"contents\"><ul>" + contents_ + "</ul></nav>\n</header>\n<main>\n" + body_ +
         "</main>\n<footer><p>" + Lines(footer) + "</p></footer>\n</body>\n</html>\n";
}

}  // namespace privacy_score
