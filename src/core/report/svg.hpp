/*
 * svg.hpp - drawing: shapes, text and axes of a chart as SVG.
 *
 * Shapes have classes, not colours: a chart that stands alone brings a style sheet with it, one in a page takes the
 * page's, so that both follow the reader's choice of light or dark. The colours are of the set of Okabe and Ito, which
 * the colour-blind can tell apart; what means something also differs in shape.
 */
#pragma once

#include <string>
#include <string_view>

namespace privacy_score {

// Where a drawing will be: with its own style sheet, or in a page that has it (kChartStyle).
enum class Placement { kAlone, kInPage };

// Style sheet of the classes below, for light and dark.
extern const char* const kChartStyle;

class Svg {
 public:
  // `label` is what the drawing shows, for those who do not see it.
  Svg(double width, double height, std::string_view label, Placement placement);

  // Classes: `score`, `maximum`, `cumulative`, `point`, `area`, `grid`, `axis`, `node`, `edge`, `tip`, `hint` for
  // shapes; `title`, `label`, `tick`, `value`, `inside` (on a bar) for text. A hint is shown when one points at the
  // shape.
  Svg& Rectangle(double x, double y, double width, double height, const char* shape_class, std::string_view hint = {});
  Svg& RoundedBox(double x, double y, double width, double height, double radius, const char* shape_class);
  Svg& Line(double x1, double y1, double x2, double y2, const char* shape_class);
  Svg& Circle(double x, double y, double radius, const char* shape_class);
  Svg& Path(std::string_view commands, const char* shape_class);

  enum class Anchor { kStart, kMiddle, kEnd };
  Svg& Text(double x, double y, std::string_view text, const char* text_class, Anchor anchor = Anchor::kStart);
  // Text that reads upwards, for the axis on the left.
  Svg& TextUpward(double x, double y, std::string_view text, const char* text_class);

  // The drawing, ended.
  std::string Finish();

 private:
  std::string text_;
};

// A coordinate as it is written in a path: one decimal.
std::string Coordinate(double value);

// An axis from 0 whose ticks are 1, 2 or 5 times a power of ten.
struct AxisScale {
  double step = 1;
  double top = 1;  // a multiple of step, at least the greatest value
};
// At most `ticks` steps; a greatest value of 0, or one that is not finite, gives 0 to 1.
AxisScale ScaleTo(double greatest, int ticks);

// A part of a drawing with a horizontal range of its own and values upwards from 0.
struct Panel {
  double left;
  double right;
  double top;
  double bottom;
  AxisScale scale;
  double Height(double value) const { return (bottom - top) * value / scale.top; }
};
// Grid, ticks and title of the vertical axis, and the base line.
void DrawAxis(Svg& svg, const Panel& panel, std::string_view title);

}  // namespace privacy_score
