/*
 * relationship_chart.cpp - see relationship_chart.hpp.
 */
#include "core/report/relationship_chart.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/joined.hpp"

namespace privacy_score {

namespace {

constexpr double kLineHeight = 16;
constexpr double kLetter = 7.2;  // width of a letter, on average and upward
constexpr double kPadding = 10;
constexpr double kColumnGap = 56;
constexpr double kRowGap = 14;
constexpr double kMargin = 16;
constexpr double kTopmost = 44;
constexpr double kWidest = 900;  // of the rows below the diagram
constexpr int kSweeps = 8;
constexpr std::size_t kLongestName = 28;

// A node of the diagram, or a place that an edge passes in a column between its ends.
struct Place {
  std::vector<std::string> lines;
  std::size_t column = 0;
  double x = 0;
  double y = 0;  // of the middle
  double width = 0;
  double height = 0;
};

// Names are cut where they are long; bytes that continue a character go with it.
std::string Cut(const std::string& name) {
  if (name.size() <= kLongestName) return name;
  std::size_t end = kLongestName - 3;
  while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xC0U) == 0x80) --end;
  return name.substr(0, end) + "...";
}

double WidthOf(const std::string& text) { return kLetter * static_cast<double>(text.size()); }

Place PlaceOf(const std::vector<std::string>& names) {
  Place place;
  for (const std::string& name : names) {
    place.lines.push_back(Cut(name));
    place.width = std::max(place.width, WidthOf(place.lines.back()) + 2 * kPadding);
  }
  place.height = kLineHeight * static_cast<double>(names.size()) + kPadding;
  return place;
}

class Layout {
 public:
  explicit Layout(const RelationshipDiagram& diagram);

  std::vector<Place> places;                     // first the connected nodes
  std::vector<std::size_t> alone;                // nodes of the diagram without edges
  std::vector<std::vector<std::size_t>> routes;  // places of each edge, from end to end
  double right = 0;
  double bottom = kTopmost;

 private:
  void Columns(const RelationshipDiagram& diagram);
  void Routes(const RelationshipDiagram& diagram);
  void Order();
  std::int64_t Crossings() const;
  void Sort(std::size_t column, bool by_left);
  void Coordinates();

  std::vector<std::size_t> place_of_;                   // by node
  std::vector<std::vector<std::size_t>> columns_;       // places, from above
  std::vector<std::vector<std::size_t>> left_, right_;  // neighbours of each place
};

Layout::Layout(const RelationshipDiagram& diagram) {
  Columns(diagram);
  Routes(diagram);
  Order();
  Coordinates();
}

// The column of a node: the longest way to it. Edges go from the determinant to what it determines, without a circle.
void Layout::Columns(const RelationshipDiagram& diagram) {
  std::vector<std::size_t> depth(diagram.nodes.size(), 0);
  std::vector<bool> connected(diagram.nodes.size(), false);
  for (const auto& [from, to] : diagram.edges) connected[from] = connected[to] = true;
  // With a tolerance there can be circles: then some edges go back.
  bool changed = true;
  for (std::size_t round = 0; changed && round < diagram.nodes.size(); ++round) {
    changed = false;
    for (const auto& [from, to] : diagram.edges) {
      if (depth[to] > depth[from]) continue;
      depth[to] = depth[from] + 1;
      changed = true;
    }
  }
  place_of_.assign(diagram.nodes.size(), 0);
  for (std::size_t node = 0; node < diagram.nodes.size(); ++node) {
    if (!connected[node]) {
      alone.push_back(node);
      continue;
    }
    place_of_[node] = places.size();
    places.push_back(PlaceOf(diagram.nodes[node]));
    places.back().column = depth[node];
  }
}

// An edge over several columns passes a place in each of them.
void Layout::Routes(const RelationshipDiagram& diagram) {
  for (const auto& [from, to] : diagram.edges) {
    std::vector<std::size_t> route = {place_of_[from]};
    for (std::size_t column = places[route[0]].column + 1; column < places[place_of_[to]].column; ++column) {
      Place place;
      place.column = column;
      route.push_back(places.size());
      places.push_back(place);
    }
    route.push_back(place_of_[to]);
    routes.push_back(std::move(route));
  }
  left_.resize(places.size());
  right_.resize(places.size());
  for (const auto& route : routes) {
    for (std::size_t i = 1; i < route.size(); ++i) {
      right_[route[i - 1]].push_back(route[i]);
      left_[route[i]].push_back(route[i - 1]);
    }
  }
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (columns_.size() <= places[i].column) columns_.resize(places[i].column + 1);
    columns_[places[i].column].push_back(i);
  }
}

// While places are sorted, y is the number within the column.
void Layout::Order() {
  const auto number = [this] {
    for (const auto& column : columns_)
      for (std::size_t i = 0; i < column.size(); ++i) places[column[i]].y = static_cast<double>(i);
  };
  number();
  auto best = columns_;
  std::int64_t fewest = Crossings();
  for (int sweep = 0; sweep < kSweeps && fewest > 0; ++sweep) {
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const bool by_left = sweep % 2 == 0;
      Sort(by_left ? i : columns_.size() - 1 - i, by_left);
    }
    const std::int64_t crossings = Crossings();
    if (crossings >= fewest) continue;
    fewest = crossings;
    best = columns_;
  }
  columns_ = std::move(best);
  number();
}

void Layout::Sort(std::size_t column, bool by_left) {
  std::vector<std::pair<double, std::size_t>> keyed;
  for (const std::size_t place : columns_[column]) {
    const auto& neighbours = by_left ? left_[place] : right_[place];
    double sum = 0;
    for (const std::size_t neighbour : neighbours) sum += places[neighbour].y;
    keyed.emplace_back(neighbours.empty() ? places[place].y : sum / static_cast<double>(neighbours.size()), place);
  }
  std::stable_sort(keyed.begin(), keyed.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (std::size_t i = 0; i < keyed.size(); ++i) {
    columns_[column][i] = keyed[i].second;
    places[keyed[i].second].y = static_cast<double>(i);
  }
}

std::int64_t Layout::Crossings() const {
  std::int64_t crossings = 0;
  for (std::size_t column = 0; column + 1 < columns_.size(); ++column) {
    std::vector<std::pair<double, double>> edges;
    for (const std::size_t place : columns_[column])
      for (const std::size_t neighbour : right_[place]) edges.emplace_back(places[place].y, places[neighbour].y);
    for (std::size_t a = 0; a < edges.size(); ++a)
      for (std::size_t b = a + 1; b < edges.size(); ++b)
        if ((edges[a].first - edges[b].first) * (edges[a].second - edges[b].second) < 0) ++crossings;
  }
  return crossings;
}

// Columns side by side, each in the middle of the height of the tallest.
void Layout::Coordinates() {
  std::vector<double> heights;
  double tallest = 0;
  for (const auto& column : columns_) {
    double height = 0;
    for (const std::size_t place : column) height += places[place].height + kRowGap;
    heights.push_back(height - kRowGap);
    tallest = std::max(tallest, height - kRowGap);
  }
  double x = kMargin;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    double width = 0;
    for (const std::size_t place : columns_[i]) width = std::max(width, places[place].width);
    double y = kTopmost + (tallest - heights[i]) / 2;
    for (const std::size_t place : columns_[i]) {
      places[place].x = x + (width - places[place].width) / 2;
      places[place].y = y + places[place].height / 2;
      y += places[place].height + kRowGap;
    }
    x += width + kColumnGap;
  }
  if (!columns_.empty()) {
    right = x - kColumnGap;
    bottom = kTopmost + tallest;
  }
}

void DrawPlace(Svg& svg, const Place& place) {
  svg.RoundedBox(place.x, place.y - place.height / 2, place.width, place.height, 6, "node");
  double y = place.y - place.height / 2 + kPadding / 2 + 12;
  for (const std::string& line : place.lines) {
    svg.Text(place.x + place.width / 2, y, line, "name", Svg::Anchor::kMiddle);
    y += kLineHeight;
  }
}

std::string RouteOf(const Layout& layout, const std::vector<std::size_t>& route) {
  const Place& first = layout.places[route.front()];
  double x = first.x + first.width;
  double y = first.y;
  std::string path = "M" + Coordinate(x) + " " + Coordinate(y);
  for (std::size_t i = 1; i < route.size(); ++i) {
    const Place& next = layout.places[route[i]];
    const double end = next.x - (i + 1 == route.size() ? 6 : 0);  // the tip is before the box
    const double middle = (x + end) / 2;
    path += "C" + Coordinate(middle) + " " + Coordinate(y) + " " + Coordinate(middle) + " " + Coordinate(next.y) + " " +
            Coordinate(end) + " " + Coordinate(next.y);
    x = next.x + next.width;
    y = next.y;
  }
  return path;
}

std::string TipAt(const Place& place) { return "M" + Coordinate(place.x) + " " + Coordinate(place.y) + "l-8 -4v8z"; }

std::string Summary(const std::string& relation, const RelationshipDiagram& diagram) {
  std::string text = "Attribute relationships of " + relation + ": ";
  if (diagram.edges.empty()) text += "no attribute determines another";
  for (std::size_t i = 0; i < diagram.edges.size(); ++i) {
    text += (i == 0 ? "" : "; ") + Joined(diagram.nodes[diagram.edges[i].first], " = ") + " determines " +
            Joined(diagram.nodes[diagram.edges[i].second], " = ");
  }
  return text + ".";
}

// Boxes in rows from `top` on; places them, and returns where the next thing can stand.
double FlowRows(std::vector<Place>& boxes, double top, double widest) {
  double x = kMargin;
  double y = top;
  double row = 0;
  for (Place& box : boxes) {
    if (x > kMargin && x + box.width > widest) {
      x = kMargin;
      y += row + kRowGap / 2;
      row = 0;
    }
    box.x = x;
    box.y = y + box.height / 2;
    row = std::max(row, box.height);
    x += box.width + kRowGap / 2;
  }
  return y + row;
}

}  // namespace

std::string RelationshipChart(const std::string& relation, const RelationshipDiagram& diagram, Placement placement) {
  const Layout layout(diagram);
  const std::string title = "What determines what in " + relation;
  const double widest = std::max(kWidest, layout.right + kMargin);
  double bottom = layout.bottom;
  double right = std::max(layout.right, kMargin + WidthOf(title) * 1.3);
  struct Block {
    const char* caption;
    std::vector<Place> boxes;
    double top = 0;
  };
  std::vector<Block> blocks(2);
  blocks[0].caption = "determine nothing and are determined by nothing:";
  for (const std::size_t node : layout.alone) blocks[0].boxes.push_back(PlaceOf(diagram.nodes[node]));
  blocks[1].caption = "always the same:";
  for (const std::string& name : diagram.constants) blocks[1].boxes.push_back(PlaceOf({name}));
  for (Block& block : blocks) {
    if (block.boxes.empty()) continue;
    block.top = bottom + 26;
    bottom = FlowRows(block.boxes, block.top + 10, widest - kMargin);
    right = std::max(right, kMargin + WidthOf(block.caption));
    for (const Place& box : block.boxes) right = std::max(right, box.x + box.width);
  }
  Svg svg(right + kMargin, bottom + kMargin, Summary(relation, diagram), placement);
  svg.Text(kMargin, 24, title, "title");
  std::string edges, tips;
  for (const auto& route : layout.routes) {
    edges += RouteOf(layout, route);
    tips += TipAt(layout.places[route.back()]);
  }
  if (!edges.empty()) svg.Path(edges, "edge").Path(tips, "tip");
  for (const Place& place : layout.places)
    if (!place.lines.empty()) DrawPlace(svg, place);
  for (const Block& block : blocks) {
    if (block.boxes.empty()) continue;
    svg.Text(kMargin, block.top, block.caption, "label");
    for (const Place& box : block.boxes) DrawPlace(svg, box);
  }
  return svg.Finish();
}

}  // namespace privacy_score
