#include "sim/halves/set_classes.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <string>

namespace sawtooth::sim {
namespace {

void require(bool good, const char* name, double value, const char* allowed) {
  if (good) return;
  throw std::invalid_argument(std::string("halves: ") + name + " = " + std::to_string(value) +
                              ", allowed: " + allowed);
}

}  // namespace

void check(const HalvesParameters& p) {
  require(p.halves == 1 || p.halves == 2, "halves", p.halves, "1 or 2");
  require(p.capacity_lines > 0, "capacity_lines", double(p.capacity_lines), "1 or more");
  require(p.private_share > 0 && p.private_share <= 1, "private_share", p.private_share,
          "above 0, up to 1");
  require(p.edge_low > 0 && p.edge_low <= 1, "edge_low", p.edge_low, "above 0, up to 1");
  require(p.edge_high >= 1, "edge_high", p.edge_high, "1 or more");
  require((p.edge_low + p.edge_high) / 2 <= 1, "edge_high", p.edge_high, "up to 2 - edge_low");
  require(p.ways == 0 || p.ways >= 4, "ways", p.ways, "0 (off) or 4 and more");
  require(p.far_first_waiting >= 0 && p.far_first_waiting <= 1, "far_first_waiting",
          p.far_first_waiting, "0 to 1");
  require(p.far_first_running >= 0 && p.far_first_running <= 1, "far_first_running",
          p.far_first_running, "0 to 1");
}

namespace {

// Equally likely values with the mean 0 and the variance 1 of a normal distribution: the means of
// its quartiles and octiles, scaled.
constexpr std::array<double, 4> quartiles{-1.38, 0.352, -0.352, 1.38};
constexpr std::array<double, 8> octiles{-1.70, 0.163, -0.507, 0.91, -0.163, 1.70, -0.91, 0.507};

// A set that holds W lines of one half sees W / 0.75 lines when each is read from one half: half of
// them have their home here, and half of the others are read from here. The share of either
// kind is binomial, with this standard deviation relative to its mean.
double relative_spread(int ways) {
  return ways == 0 ? 0.0 : 1 / std::sqrt(ways / 0.75);
}

}  // namespace

std::vector<SetClass> set_classes(const HalvesParameters& p) {
  check(p);
  const auto units = [](double lines) { return std::llround(lines * weight_units); };
  if (p.ways == 0 && p.private_share == 1 && p.edge_low == 1 && p.edge_high == 1) {
    return {{units(0.5), {units(1), units(1), units(1), units(1)}}};
  }
  const double middle = (p.edge_low + p.edge_high) / 2;
  // Share of lines at the upper edge that brings the mean to 1.
  const double at_top = p.edge_high > middle ? (1 - middle) / (p.edge_high - middle) : 0.0;
  std::vector<SetClass> classes;
  for (size_t i = 0; i < size_t{set_class_count}; ++i) {
    const double quantile = (double(i) + 0.5) / set_class_count;
    const double rise = std::min(1.0, quantile / std::max(1 - at_top, 1e-9));
    const double edge = p.edge_low + (p.edge_high - p.edge_low) * rise;
    const double home = relative_spread(p.ways) * quartiles[i % 4];
    const double reader = relative_spread(p.ways) * octiles[i / 4 % 8];
    classes.push_back({units(0.5 * (1 + home)),
                       {units(1), units((1 + reader) / p.private_share),
                        units((1 - reader) / p.private_share), units(1 / edge)}});
  }
  return classes;
}

}  // namespace sawtooth::sim
