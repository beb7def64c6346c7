/*
 * svg_chart.hpp - line charts as SVG: a few series over common places of the horizontal axis.
 */
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

namespace bucket_bench {

struct Series {
  std::string name;
  std::vector<double> values;  // one a place; below zero: not there
};

struct Chart {
  std::string title;
  std::string across;  // what the places are
  std::string up;      // what the values are
  std::vector<std::string> places;
  std::vector<Series> series;
  bool logarithmic = false;
};

inline void WriteChart(const Chart& chart, const std::string& path) {
  constexpr double kWidth = 640, kHeight = 420, kLeft = 80, kRight = 170, kTop = 40, kBottom = 60;
  const char* const colours[] = {"#0b5394", "#cc4125", "#38761d", "#b45f06", "#674ea7", "#000000"};
  double low = 1e300, high = 0;
  for (const Series& each : chart.series) {
    for (const double value : each.values) {
      if (value < 0 || (chart.logarithmic && value == 0)) continue;
      low = std::min(low, value);
      high = std::max(high, value);
    }
  }
  if (low > high) return;
  const double step = chart.logarithmic ? 1 : std::pow(10, std::floor(std::log10(high)));
  const double bottom = chart.logarithmic ? std::floor(std::log10(low)) : 0;
  const double ceiling =
      chart.logarithmic ? std::max(bottom + 1, std::ceil(std::log10(high))) : step * std::ceil(high / step * 1.02);
  const auto y_of = [&](double value) {
    const double at = chart.logarithmic ? std::log10(value) : value;
    return kHeight - kBottom - (at - bottom) / (ceiling - bottom) * (kHeight - kTop - kBottom);
  };
  const auto x_of = [&](std::size_t place) {
    const double across = kWidth - kLeft - kRight;
    return kLeft + across * (static_cast<double>(place) + 0.5) / static_cast<double>(chart.places.size());
  };
  std::FILE* file = std::fopen(path.c_str(), "w");
  if (file == nullptr) return;
  std::fprintf(file,
               "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%g\" height=\"%g\" viewBox=\"0 0 %g %g\" "
               "font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"%g\" height=\"%g\" fill=\"#ffffff\"/>\n",
               kWidth, kHeight, kWidth, kHeight, kWidth, kHeight);
  const auto text = [&](double x, double y, const char* anchor, const std::string& words, const char* more = "") {
    std::fprintf(file, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\"%s>%s</text>\n", x, y, anchor, more,
                 words.c_str());
  };
  text(kWidth / 2, 22, "middle", chart.title, " font-size=\"15\"");
  text((kLeft + kWidth - kRight) / 2, kHeight - 16, "middle", chart.across);
  const double middle = (kTop + kHeight - kBottom) / 2;
  char turn[64];
  std::snprintf(turn, sizeof turn, " transform=\"rotate(-90 20 %.1f)\"", middle);
  text(20, middle, "middle", chart.up, turn);
  for (double tick = bottom; tick <= ceiling * (1 + 1e-9) + 1e-12; tick += step) {
    const double value = chart.logarithmic ? std::pow(10, tick) : tick;
    char label[32];
    std::snprintf(label, sizeof label, "%g", value);
    std::fprintf(file, "<line x1=\"%g\" y1=\"%.1f\" x2=\"%g\" y2=\"%.1f\" stroke=\"#d0d0d0\"/>\n", kLeft, y_of(value),
                 kWidth - kRight, y_of(value));
    text(kLeft - 8, y_of(value) + 4, "end", label);
  }
  std::fprintf(file, "<path d=\"M%g %g V%g H%g\" fill=\"none\" stroke=\"#000000\"/>\n", kLeft, kTop, kHeight - kBottom,
               kWidth - kRight);
  for (std::size_t i = 0; i < chart.places.size(); ++i)
    text(x_of(i), kHeight - kBottom + 18, "middle", chart.places[i]);
  for (std::size_t s = 0; s < chart.series.size(); ++s) {
    const Series& each = chart.series[s];
    const char* colour = colours[s % 6];
    std::string path_text;
    char point[48];
    for (std::size_t i = 0; i < each.values.size(); ++i) {
      if (each.values[i] < 0 || (chart.logarithmic && each.values[i] == 0)) continue;
      std::snprintf(point, sizeof point, "%s%.1f %.1f ", path_text.empty() ? "M" : "L", x_of(i), y_of(each.values[i]));
      path_text += point;
      std::fprintf(file, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\" fill=\"%s\"/>\n", x_of(i), y_of(each.values[i]),
                   colour);
    }
    std::fprintf(file, "<path d=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\"%s/>\n", path_text.c_str(), colour,
                 s % 2 == 1 ? " stroke-dasharray=\"6 3\"" : "");
    const double y = kTop + 16 + 20 * static_cast<double>(s);
    std::fprintf(file, "<line x1=\"%g\" y1=\"%.1f\" x2=\"%g\" y2=\"%.1f\" stroke=\"%s\" stroke-width=\"2\"%s/>\n",
                 kWidth - kRight + 14, y - 4, kWidth - kRight + 42, y - 4, colour,
                 s % 2 == 1 ? " stroke-dasharray=\"6 3\"" : "");
    text(kWidth - kRight + 48, y, "start", each.name);
  }
  std::fprintf(file, "</svg>\n");
  std::fclose(file);
}

}  // namespace bucket_bench
