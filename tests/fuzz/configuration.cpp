#include <algorithm>
#include <string>

#include "experiments/sawtooth/inputs/point.hpp"
#include "experiments/sawtooth/inputs/sweep.hpp"
#include "experiments/sawtooth/support/text.hpp"
#include "tests/fuzz/input.hpp"
#include "tests/fuzz/targets.hpp"

namespace sawtooth::fuzz {
namespace {

using namespace experiments;

constexpr size_t most_points = 64;  // of an input: more of them find nothing new

// Other files than the known profiles and systems are not for a fuzzer to open.
bool opens_files(const Settings& settings) {
  for (const auto& [key, assignment] : settings) {
    const OptionSpec& option = *find_option(key);
    if (option.group == OptionGroup::output) continue;
    if (option.kind == OptionKind::path) return true;
    if (option.kind != OptionKind::name) continue;
    for (const std::string& value : assignment.values)
      if (value.find('/') != std::string::npos || value.ends_with(".ini")) return true;
  }
  return false;
}

// A ring has a point for each rank in each step.
bool is_large_ring(const std::string& key, const Assignment& assignment) {
  return key == "ring" && std::ranges::any_of(assignment.values, [](const std::string& ranks) {
           return ranks.size() > 1;
         });
}

bool is_small(const Configuration& configuration) {
  size_t points = 0;
  for (const Sweep& sweep : configuration.sweeps) {
    if (opens_files(sweep.settings)) return false;
    size_t product = 1;
    for (const auto& [key, assignment] : sweep.settings) {
      if (is_large_ring(key, assignment)) return false;
      product *= find_option(key)->is_axis() ? assignment.values.size() : 1;
      if (product > most_points) return false;
    }
    points += product;
    if (points > most_points) return false;
  }
  return true;
}

std::vector<Point> points_of(const Configuration& configuration, Catalog& catalog) {
  std::vector<Point> points;
  for (const Settings& settings : expand(configuration, {}))
    points.push_back(resolve(settings, catalog));
  return points;
}

bool same(const Point& one, const Point& other) {
  for (const OptionSpec& option : option_table())
    if (option.group != OptionGroup::output && one.text(option.key) != other.text(option.key))
      return false;
  return true;
}

void check(const std::string& text, Catalog& catalog) {
  const Configuration configuration = parse_configuration(text, "input");
  if (!is_small(configuration)) return;
  const std::vector<Point> points = points_of(configuration, catalog);
  const std::string resolved = resolved_configuration(configuration, {}, "fuzz", catalog);
  const std::vector<Point> again = points_of(parse_configuration(resolved, "resolved"), catalog);
  require(again.size() == points.size(), "the resolved form has as many points");
  for (size_t i = 0; i < points.size(); ++i)
    require(same(again[i], points[i]), "the resolved form means the same");
}

}  // namespace

void configuration(std::span<const char> bytes) {
  static Catalog catalog;  // reads each shipped file once
  const std::string text(bytes.data(), bytes.size());
  try {
    check(text, catalog);
  } catch (const UsageError&) {
  }
}

}  // namespace sawtooth::fuzz
