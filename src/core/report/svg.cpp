/*
 * svg.cpp - see svg.hpp.
 */
#include "core/report/svg.hpp"

#include <algorithm>
#include <cmath>

#include "core/report/markup.hpp"

namespace privacy_score {

// Colours stand in each rule, not in variables, which not every program that draws SVG knows.
const char* const kChartStyle =
    ".ps{font-family:system-ui,-apple-system,'Segoe UI',Roboto,'Noto Sans','DejaVu Sans',Arial,sans-serif}"
    ".ps text{fill:#1f2328;font-size:12px}.ps .title{font-size:14px;font-weight:600}.ps .value{font-size:11px}.ps "
    ".inside{fill:#fff}"
    ".ps .tick,.ps .label{fill:#59636e}.ps .paper{fill:#fff}"
    ".ps .score{fill:#c04b00}.ps .maximum{fill:#c3ccd5}.ps .grid{stroke:#d1d9e0}.ps .axis{stroke:#59636e}"
    ".ps .cumulative{fill:none;stroke:#0063a8;stroke-width:2}.ps .point{fill:#0063a8}.ps .area{fill:#dbe8f2}"
    ".ps .node{fill:#f3f6f9;stroke:#59636e}.ps .edge{fill:none;stroke:#59636e;stroke-width:1.3}.ps .tip{fill:#59636e}"
    ".ps .hint{fill:transparent}"
    "@media(prefers-color-scheme:dark){"
    ".ps text{fill:#e6edf3}.ps .tick,.ps .label{fill:#9aa5b1}.ps .paper{fill:#14181d}.ps .inside{fill:#14181d}"
    ".ps .score{fill:#f0883e}.ps .maximum{fill:#434c57}.ps .grid{stroke:#343b44}.ps .axis{stroke:#9aa5b1}"
    ".ps .cumulative{stroke:#5cb2f2}.ps .point{fill:#5cb2f2}.ps .area{fill:#1d2f3f}"
    ".ps .node{fill:#20262d;stroke:#9aa5b1}.ps .edge{stroke:#9aa5b1}.ps .tip{fill:#9aa5b1}}";

Svg::Svg(double width, double height, std::string_view label, Placement placement) {
  const std::string size = Coordinate(width) + " " + Coordinate(height);
  text_ = "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"ps\" viewBox=\"0 0 " + size + "\" width=\"" +
          Coordinate(width) + "\" height=\"" + Coordinate(height) + "\" role=\"img\" aria-label=\"" + Escaped(label) +
          "\">";
  if (placement == Placement::kAlone) {
    text_ += "<style>";
    text_ += kChartStyle;
    text_ += "</style><rect class=\"paper\" width=\"100%\" height=\"100%\"/>";
  }
}

Svg& Svg::Rectangle(double x, double y, double width, double height, const char* shape_class, std::string_view hint) {
  text_ += "<rect class=\"" + std::string(shape_class) + "\" x=\"" + Coordinate(x) + "\" y=\"" + Coordinate(y) +
           "\" width=\"" + Coordinate(width) + "\" height=\"" + Coordinate(height) + "\"";
  text_ += hint.empty() ? "/>" : "><title>" + Escaped(hint) + "</title></rect>";
  return *this;
}

Svg& Svg::RoundedBox(double x, double y, double width, double height, double radius, const char* shape_class) {
  text_ += "<rect class=\"" + std::string(shape_class) + "\" x=\"" + Coordinate(x) + "\" y=\"" + Coordinate(y) +
           "\" width=\"" + Coordinate(width) + "\" height=\"" + Coordinate(height) + "\" rx=\"" + Coordinate(radius) +
           "\"/>";
  return *this;
}

Svg& Svg::Line(double x1, double y1, double x2, double y2, const char* shape_class) {
  return Path("M" + Coordinate(x1) + " " + Coordinate(y1) + "L" + Coordinate(x2) + " " + Coordinate(y2), shape_class);
}

Svg& Svg::Circle(double x, double y, double radius, const char* shape_class) {
  text_ += "<circle class=\"" + std::string(shape_class) + "\" cx=\"" + Coordinate(x) + "\" cy=\"" + Coordinate(y) +
           "\" r=\"" + Coordinate(radius) + "\"/>";
  return *this;
}

Svg& Svg::Path(std::string_view commands, const char* shape_class) {
  text_ += "<path class=\"" + std::string(shape_class) + "\" d=\"" + std::string(commands) + "\"/>";
  return *this;
}

Svg& Svg::Text(double x, double y, std::string_view text, const char* text_class, Anchor anchor) {
  text_ += "<text class=\"" + std::string(text_class) + "\" x=\"" + Coordinate(x) + "\" y=\"" + Coordinate(y) + "\"";
  if (anchor != Anchor::kStart) text_ += anchor == Anchor::kMiddle ? " text-anchor=\"middle\"" : " text-anchor=\"end\"";
  text_ += ">" + Escaped(text) + "</text>";
  return *this;
}

Svg& Svg::TextUpward(double x, double y, std::string_view text, const char* text_class) {
  text_ += "<text class=\"" + std::string(text_class) + "\" transform=\"translate(" + Coordinate(x) + " " +
           Coordinate(y) + ")rotate(-90)\" text-anchor=\"middle\">" + Escaped(text) + "</text>";
  return *this;
}

std::string Svg::Finish() {
  text_ += "</svg>";
  return std::move(text_);
}

std::string Coordinate(double value) { return Shown(value, 1); }

AxisScale ScaleTo(double greatest, int ticks) {
  if (!std::isfinite(greatest) || greatest <= 0) return {1, 1};
  const double wanted = greatest / ticks;
  const double power = std::pow(10.0, std::floor(std::log10(wanted)));
  for (const double factor : {1.0, 2.0, 5.0, 10.0}) {
    const double step = factor * power;
    // The margin keeps 0.3 / 0.1 from taking four steps.
    const double steps = std::max(1.0, std::ceil(greatest / step - 1e-9));
    if (steps <= ticks) return {step, step * steps};
  }
  return {greatest, greatest};
}

void DrawAxis(Svg& svg, const Panel& panel, std::string_view title) {
  const auto steps = std::lround(panel.scale.top / panel.scale.step);
  for (long i = 0; i <= steps; ++i) {
    const double value = panel.scale.step * static_cast<double>(i);
    const double y = panel.bottom - panel.Height(value);
    svg.Line(panel.left, y, panel.right, y, i == 0 ? "axis" : "grid");
    svg.Text(panel.left - 6, y + 4, ShownShort(value), "tick", Svg::Anchor::kEnd);
  }
  svg.TextUpward(panel.left - 42, (panel.top + panel.bottom) / 2, title, "label");
}

}  // namespace privacy_score
