// SPDX-License-Identifier: BSD-3-Clause
// The picture of all paths.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "tools/cluster/report.h"

namespace omx::tools {

namespace {

using Out = std::back_insert_iterator<std::string>;

constexpr double kPanel = 300, kGap = 24, kHead = 40, kLegend = 34;
constexpr std::size_t kNamesMost = 40;  // more hosts have no room for their names
constexpr const char* kUnmeasured = "#e4e4e4";
constexpr const char* kUnreached = "#202020";

std::string xml(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '<') {
      out += "&lt;";
    } else if (c == '&') {
      out += "&amp;";
    } else {
      out += c;
    }
  }
  return out;
}

// From pale blue (0: as it should be) to dark red (1).
std::string colour(double bad) {
  struct Stop {
    double at;
    int r, g, b;
  };
  constexpr Stop kStops[] = {{0, 222, 235, 247}, {0.4, 253, 208, 120}, {0.7, 240, 100, 50}, {1, 150, 0, 20}};
  const double at = std::clamp(bad, 0.0, 1.0);
  const Stop* to = kStops + 1;
  while (to->at < at) to++;
  const Stop* from = to - 1;
  const double share = (at - from->at) / (to->at - from->at);
  const auto mix = [share](int a, int b) { return static_cast<int>(std::lround(a + (b - a) * share)); };
  return fmt::format("#{:02x}{:02x}{:02x}", mix(from->r, to->r), mix(from->g, to->g), mix(from->b, to->b));
}

struct Panel {
  const char* title;
  const char* good;
  const char* bad;
  double (*badness)(const Path&, const LinkMiddle&);  // 0 to 1
};

// One frame of 10,000 shows, and one of 10 is the darkest.
double loss_badness(const Path& path, const LinkMiddle&) {
  const double lost = path.loss();
  return lost <= 0 ? 0 : std::clamp(1 + std::log10(lost * 10) / 4, 0.25, 1.0);
}
double latency_badness(const Path& path, const LinkMiddle& middle) {
  if (middle.latency.median <= 0 || path.half_round_trip_us <= 0) return 0;
  return std::log2(path.half_round_trip_us / middle.latency.median) / 2;
}
double bandwidth_badness(const Path& path, const LinkMiddle& middle) {
  if (middle.bandwidth.median <= 0 || path.gbps <= 0) return 0;
  return std::log2(middle.bandwidth.median / path.gbps) / 2;
}

constexpr Panel kPanels[] = {{"frames lost", "none", "10 % or more", loss_badness},
                             {"half round trip", "median or less", "4 times", latency_badness},
                             {"bandwidth", "median or more", "a quarter", bandwidth_badness}};

class Picture {
 public:
  explicit Picture(const Cluster& cluster) : cluster_(cluster) {
    const std::size_t hosts = cluster.hosts.size();
    cell_ = kPanel / static_cast<double>(hosts);
    std::size_t longest = 0;
    for (const Host& host : cluster.hosts) longest = std::max(longest, host.name.size());
    const double letters = static_cast<double>(std::min<std::size_t>(longest, 16));
    font_ = std::clamp(cell_ * 0.8, 4.0, 10.0);
    margin_ = hosts <= kNamesMost ? letters * font_ * 0.62 + 8 : 8;
  }

  std::string draw() {
    const double column = margin_ + kPanel + kGap, row = kHead + margin_ + kPanel + kLegend;
    fmt::format_to(
        out(),
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 "
        "{0:.0f} {1:.0f}\" font-family=\"sans-serif\">\n<rect width=\"100%\" height=\"100%\" "
        "fill=\"#ffffff\"/>\n",
        3 * column + kGap, static_cast<double>(cluster_.links.size()) * row + kGap);
    double y = 0;
    for (const std::string& link : cluster_.links) {
      double x = kGap;
      const LinkMiddle middle = link_middle(cluster_, link);
      for (const Panel& panel : kPanels) {
        panel_draw(panel, link, middle, x, y);
        x += column;
      }
      y += row;
    }
    text_ += "</svg>\n";
    return std::move(text_);
  }

 private:
  Out out() { return std::back_inserter(text_); }

  void label(double x, double y, double size, std::string_view text, std::string_view attributes = "") {
    fmt::format_to(out(), "<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"{:.1f}\" {}>{}</text>\n", x, y, size,
                   attributes, xml(text));
  }

  void panel_draw(const Panel& panel, const std::string& link, const LinkMiddle& middle, double x, double y) {
    label(x + margin_, y + 24, 14, fmt::format("{}: {}", link_text(link), panel.title));
    const double left = x + margin_, top = y + kHead + margin_;
    fmt::format_to(out(),
                   "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.0f}\" height=\"{:.0f}\" fill=\"{}\"/>\n", left,
                   top, kPanel, kPanel, kUnmeasured);
    if (cluster_.hosts.size() <= kNamesMost) names_draw(left, top);
    for (const Path& path : cluster_.paths)
      if (path.link == link && path.measured) cell_draw(panel, middle, path, left, top);
    legend_draw(panel, left, top + kPanel + 8);
  }

  void names_draw(double left, double top) {
    for (std::size_t i = 0; i < cluster_.hosts.size(); i++) {
      const std::string name = cluster_.hosts[i].name.substr(0, 16);
      const double middle = (static_cast<double>(i) + 0.5) * cell_ + font_ * 0.35;
      label(left - 4, top + middle, font_, name, "text-anchor=\"end\"");
      label(left + middle, top - 4, font_, name,
            fmt::format("transform=\"rotate(-90 {:.1f} {:.1f})\"", left + middle, top - 4));
    }
  }

  void cell_draw(const Panel& panel, const LinkMiddle& middle, const Path& path, double left, double top) {
    const std::string fill = path.reached ? colour(panel.badness(path, middle)) : kUnreached;
    const double gap = cell_ > 6 ? 0.5 : 0;
    fmt::format_to(
        out(),
        "<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" fill=\"{}\"><title>{} to {}: "
        "{} of {} lost, {:.1f} us, {:.2f} Gb/s</title></rect>\n",
        left + static_cast<double>(path.to) * cell_, top + static_cast<double>(path.from) * cell_,
        cell_ - gap, cell_ - gap, fill, xml(cluster_.hosts[path.from].name),
        xml(cluster_.hosts[path.to].name), path.lost(), path.sent, path.half_round_trip_us, path.gbps);
  }

  void legend_draw(const Panel& panel, double x, double y) {
    constexpr int kSteps = 8;
    const double wide = 8;
    label(x, y + 9, 9, panel.good);
    double at = x + 80;
    for (int i = 0; i <= kSteps; i++, at += wide)
      fmt::format_to(out(), "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{}\" height=\"10\" fill=\"{}\"/>\n", at,
                     y, wide, colour(static_cast<double>(i) / kSteps));
    label(at + 4, y + 9, 9, panel.bad);
    fmt::format_to(out(), "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"10\" height=\"10\" fill=\"{}\"/>\n",
                   x + 224, y, kUnreached);
    label(x + 238, y + 9, 9, "not reached");
  }

  const Cluster& cluster_;
  double cell_ = 0, font_ = 0, margin_ = 0;
  std::string text_;
};

}  // namespace

std::string cluster_heatmap(const Cluster& cluster) {
  return Picture(cluster).draw();
}

}  // namespace omx::tools
