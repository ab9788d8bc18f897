#include <algorithm>
#include <sstream>

#include "experiments/sawtooth/import_ncu/ncu_report.hpp"
#include "experiments/sawtooth/inputs/sweep.hpp"
#include "experiments/sawtooth/results/result_row.hpp"
#include "experiments/sawtooth/support/text.hpp"
#include "sim/bounds/bounds.hpp"

namespace sawtooth::experiments {
namespace {

// Sections whose names have the same words.
struct Sections {
  std::string place;             // of the first
  std::string kernel, grid;      // empty: any
  size_t each = 0;               // launches of a point that follow each other; 0: not said
  std::vector<NcuLabel> labels;  // of the points, as far as there are launches
  size_t points = 0;

  bool select() const { return !kernel.empty() || !grid.empty() || each > 0; }
};

Sections sections_named(const std::string& name, const std::string& path) {
  Sections one{path + (name.empty() ? ": " : ": [" + name + "]: "), "", "", 0, {}, 0};
  std::istringstream words(name);
  for (std::string word; words >> word;) {
    const size_t end = word.find('=');
    if (end == std::string::npos) continue;
    const std::string key = word.substr(0, end), value = word.substr(end + 1);
    if (key == "kernel" || key == "grid")
      (key == "grid" ? one.grid : one.kernel) = value;
    else if (key != "each" || !(std::istringstream(value) >> one.each) || one.each == 0)
      throw UsageError(one.place + "'" + word +
                       "' selects no launches; allowed: kernel=REGEX, grid=AxBxC, each=N");
  }
  return one;
}

NcuLabel label_of(const Point& point, const std::string& experiment, const std::string& place) {
  if (point.keys.gpu.empty()) throw UsageError(place + "has no gpu: compare joins rows by it");
  NcuLabel label{measured_key_cells(point, experiment), 0, {}};
  const sim::Request& request = point.request;
  if (request.problem.pass != Pass::forward || point.sequences || point.ring || point.page_table ||
      point.tiles_before || request.cascade)
    return label;
  const int64_t items = item_count(request.problem, request.tiling, request.schedule),
                workers = request.schedule.workers;
  label.ctas = {items};
  if (request.schedule.launch != launch_id<GridLaunch>)
    label.ctas = {workers, std::min(workers, items)};
  if (label.key_cells[result_column("state")] == "cold")
    label.compulsory_read_sectors =
        sim::read_bounds(request.problem, request.tiling, request.schedule, request.l2_bytes)
            .compulsory;
  return label;
}

double ctas_of(const std::string& grid) {
  double ctas = 1;
  std::istringstream sides(grid);
  for (std::string side; std::getline(sides, side, 'x');) ctas *= std::atof(side.c_str());
  return ctas;
}

}  // namespace

std::vector<size_t> ncu_launches_of(const std::vector<NcuLaunch>& launches,
                                    const std::string& regex, const std::string& place) try {
  std::vector<size_t> indices;
  std::set<std::string> names;
  inject::LaunchFilter filter({.kernel = regex});
  for (size_t i = 0; i < launches.size(); ++i) {
    names.insert(launches[i].launch.name);
    if (filter.takes(launches[i].launch.name, true)) indices.push_back(i);
  }
  if (indices.empty() && !names.empty())
    throw UsageError(place + "'" + regex + "' matches no kernel; there are " + join_list(names));
  return indices;
} catch (const std::invalid_argument& error) {
  throw UsageError(place + error.what());
}

std::vector<NcuLabel> ncu_labels(const std::vector<NcuLaunch>& launches, const std::string& path,
                                 const std::string& experiment) {
  const Configuration configuration = read_configuration(path);
  Catalog catalog;
  std::vector<Sections> lists;
  for (const Sweep& sweep : configuration.sweeps) {
    const Sections own = sections_named(sweep.section, path);
    auto list = std::ranges::find_if(lists, [&](const Sections& one) {
      return std::tie(one.kernel, one.grid, one.each) == std::tie(own.kernel, own.grid, own.each);
    });
    if (list == lists.end()) list = lists.insert(list, own);
    const PointList points({path, {}, {sweep}}, {});
    list->points += points.size();
    for (size_t p = 0; p < points.size() && list->labels.size() <= launches.size(); ++p)
      list->labels.push_back(label_of(resolve(points[p], catalog), experiment, own.place));
  }
  std::vector<NcuLabel> labels(launches.size());
  std::ranges::stable_sort(lists, std::greater<>(), &Sections::select);
  for (const Sections& list : lists) {
    std::vector<size_t> taken;
    for (const size_t i : ncu_launches_of(launches, list.kernel, list.place))
      if (labels[i].key_cells.empty() &&
          (list.grid.empty() || list.grid == launches[i].launch.grid))
        taken.push_back(i);
    const size_t each = std::max(list.each, size_t{1});
    const bool is_once = list.each > 0 || list.points == 1 || taken.size() == list.points;
    if (taken.empty() || !is_once || taken.size() % (list.points * each) != 0)
      throw UsageError(list.place + "points: " + std::to_string(list.points) +
                       ", launches that match: " + std::to_string(taken.size()) +
                       "; kernel=REGEX, grid=AxBxC and each=N (launches of a point that follow "
                       "each other) in the name of a section select them");
    for (size_t k = 0; k < taken.size(); ++k) {
      const NcuLabel& label = labels[taken[k]] = list.labels[k / each % list.points];
      const inject::LaunchRecord& launch = launches[taken[k]].launch;
      if (!list.grid.empty() || launch.grid.empty() || label.ctas.empty() ||
          std::ranges::count(label.ctas, ctas_of(launch.grid)) > 0)
        continue;
      throw UsageError(list.place + "launch " + std::to_string(launch.index) + " has grid " +
                       launch.grid + ", its point " + std::to_string(label.ctas.front()) +
                       " CTAs; grid=" + launch.grid +
                       " in the name of its section takes it all the same");
    }
  }
  return labels;
}

}  // namespace sawtooth::experiments
