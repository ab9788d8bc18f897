#include <algorithm>
#include <map>
#include <set>

#include "experiments/sawtooth/inputs/choice.hpp"
#include "experiments/sawtooth/results/result_row.hpp"
#include "experiments/sawtooth/search/staged_search.hpp"
#include "scheduler/memory_units.hpp"

namespace sawtooth::experiments {
namespace {

const Origin by_default{"default", 0};

bool is_of_schedule(const OptionSpec& option) {
  return option.group == OptionGroup::schedule || option.key == "kernel" || option.key == "hints";
}

bool declares_space(const Settings& settings) {
  return std::ranges::any_of(settings, [](const auto& setting) {
    return setting.second.values.size() > 1 && is_of_schedule(*find_option(setting.first));
  });
}

// All policies of a kind but some.
template <class Policies>
std::vector<std::string> names_of(std::initializer_list<std::string_view> left_out = {}) {
  std::vector<std::string> names;
  for (const PolicyInfo& policy : Policies::info())
    if (std::ranges::find(left_out, policy.name) == left_out.end()) names.emplace_back(policy.name);
  return names;
}

// Sections of more heads than there are come to the same as all, and are kept once.
std::vector<std::string> section_values() {
  constexpr int64_t most_heads = 64;
  std::vector<std::string> values;
  for (int64_t heads = 1; heads <= most_heads; heads *= 2) values.push_back(std::to_string(heads));
  values.emplace_back("all");
  return values;
}

void add_usual_axes(Settings& settings, const Settings& given) {
  const auto add = [&](const char* key, std::vector<std::string> values) {
    if (!given.contains(key)) settings[key] = {std::move(values), by_default};
  };
  add("launch", names_of<Launches>({BalancedLaunch::name}));  // not every kernel runs it
  // A null test, and one whose items wait for a word, of which the model has no time.
  add("scan", names_of<Scans>({RandomScan::name, AttachScan::name}));
  if (given.contains("order-file")) return;
  add("q-order", names_of<QOrders>());
  add("section", section_values());
}

// The settings with each kernel, tile and number of CTAs that runs them, where these are left open
// and there are some; else the settings themselves.
std::vector<Settings> with_kernels(const Settings& settings, Catalog& catalog) {
  for (const char* key : {"tiles", "tile-q", "tile-kv", "ctas-per-sm", "workers", "system",
                          "kernel-costs", "order-file"})
    if (settings.contains(key)) return {settings};
  if (!settings.contains("gpu")) return {settings};
  const Point point = resolve_or_refuse(settings, catalog);
  if (!point.refusal.empty()) return {settings};
  std::vector<Settings> all;
  for (const auto& [row, ctas_per_sm] :
       kernels_to_search(value_or(settings, "kernel", ""), point.request.problem,
                         catalog.gpu(settings.at("gpu")))) {
    Settings& one = all.emplace_back(settings);
    const auto set = [&](const char* key, std::string value) {
      one[key] = {{std::move(value)}, by_default};
    };
    set("kernel", std::string(row->family));
    set("tile-q", std::to_string(row->tiling.q_rows));
    set("tile-kv", std::to_string(row->tiling.kv_rows));
    set("ctas-per-sm", std::to_string(ctas_per_sm));
  }
  return all.empty() ? std::vector{settings} : all;
}

// The keys that are not of the schedule, as the point has them.
std::string shape_key(const Point& point) {
  std::string text;
  for (const OptionSpec& option : option_table()) {
    if (option.field.print == nullptr || is_of_schedule(option)) continue;
    text += point.text(option.key) + "\n";
  }
  return text;
}

// The keys in which shapes differ, with their values; both lengths as one where they are equal.
void name_shapes(std::vector<Shape>& shapes) {
  for (const OptionSpec& option : option_table()) {
    if (option.field.print == nullptr || is_of_schedule(option)) continue;
    const auto text_of = [&](const Shape& shape) {
      return shape.candidates.front().point.text(option.key);
    };
    const std::string first = text_of(shapes.front());
    if (std::ranges::all_of(shapes, [&](const Shape& shape) { return text_of(shape) == first; }))
      continue;
    for (Shape& shape : shapes) {
      const Problem& problem = shape.candidates.front().point.request.problem;
      const bool square = problem.seq_q == problem.seq_kv;
      if (option.key == "seq-kv" && square) continue;
      const std::string_view key = option.key == "seq-q" && square ? "seq" : option.key;
      shape.name.append(shape.name.empty() ? "" : " ").append(key).append(" ");
      shape.name.append(text_of(shape));
    }
  }
}

Settings usual_settings(const Candidate& like) {
  Settings settings = like.settings;
  const bool masked = like.point.keys.mask.kind != MaskKind::none;
  for (const char* key : {"order-file", "head-order", "prefetch", "kv-split", "hints", "loop"})
    settings.erase(key);
  const auto set = [&](const char* key, std::string_view value) {
    settings[key] = {{std::string(value)}, by_default};
  };
  set("launch", GridLaunch::name);
  set("scan", LinearScan::name);
  set("section", "1");
  set("q-order", masked ? DescendingQ::name : AscendingQ::name);
  return settings;
}

void add_usual(Shape& shape, const std::string& experiment, Catalog& catalog) {
  Candidate usual = candidate_of(usual_settings(shape.candidates.front()), experiment, catalog);
  const std::string key = row_key(usual.key_cells);
  const auto same = std::ranges::find_if(shape.candidates, [&](const Candidate& candidate) {
    return row_key(candidate.key_cells) == key;
  });
  if (same != shape.candidates.end()) {
    shape.usual_index = static_cast<size_t>(same - shape.candidates.begin());
  } else if (usual.point.refusal.empty()) {
    shape.usual_outside = std::move(usual);
  }
}

void set_screened(Settings& settings, const std::string& key, const std::string& value) {
  settings[key] = {{value}, {"screening", 0}};
}

// A length of whole tiles stays one; others are of no use to round, and kernels with other tiles
// have the same then.
int64_t shorter(int64_t rows, int64_t divisor, int64_t tile) {
  const int64_t left = max_of(tile, rows / divisor);
  return rows % tile == 0 ? left / tile * tile : left;
}

}  // namespace

Candidate candidate_of(Settings settings, const std::string& experiment, Catalog& catalog) {
  Candidate candidate{std::move(settings), {}, {}};
  candidate.point = resolve_or_refuse(candidate.settings, catalog);
  candidate.key_cells = key_cells(candidate.point, experiment, "predicted");
  return candidate;
}

std::vector<Shape> search_space(Configuration configuration, const Settings& command_line,
                                const std::string& experiment, Catalog& catalog) {
  bool declared = false;
  for (Sweep& sweep : configuration.sweeps) {
    Settings merged = sweep.settings;
    overlay(merged, command_line);
    declared = declared || declares_space(merged);
  }
  for (Sweep& sweep : configuration.sweeps) {
    Settings given = sweep.settings;
    overlay(given, command_line);
    if (!declared) add_usual_axes(sweep.settings, given);
    // Only a model of time tells launches apart.
    if (!given.contains("timing")) sweep.settings["timing"] = {{"timed"}, by_default};
  }
  std::vector<Shape> shapes;
  std::map<std::string, size_t> known;
  std::set<std::string> seen;
  const auto add = [&](Settings settings) {
    const bool named = settings.at("timing").origin.file != by_default.file;
    Candidate candidate = candidate_of(std::move(settings), experiment, catalog);
    candidate.point.timing_chosen = !named;  // without a judgement its range is over all models
    if (!seen.insert(row_key(candidate.key_cells)).second) return;
    const auto [at, is_new] = known.emplace(shape_key(candidate.point), shapes.size());
    if (is_new) shapes.emplace_back();
    shapes[at->second].candidates.push_back(std::move(candidate));
  };
  for (const Settings& settings : expand(configuration, command_line)) {
    if (declared)
      add(settings);
    else
      for (Settings& one : with_kernels(settings, catalog)) add(std::move(one));
  }
  name_shapes(shapes);
  for (Shape& shape : shapes) add_usual(shape, experiment, catalog);
  return shapes;
}

std::string visits_key(const Candidate& candidate) {
  CsvRow cells = candidate.key_cells;
  const Problem& problem = candidate.point.request.problem;
  const Schedule& schedule = candidate.point.request.schedule;
  if (schedule.launch != launch_id<DynamicLaunch> && schedule.scan == scan_id<SawtoothWaveScan>)
    cells[result_column("scan")] = SawtoothScan::name;
  const bool alike = problem.mask.kind == MaskKind::none &&
                     problem.seq_q % candidate.point.request.tiling.q_rows == 0;
  if (alike && schedule.order.list == nullptr && schedule.scan != scan_id<SawtoothItemScan>)
    cells[result_column("q_order")] = AscendingQ::name;
  if (problem.batch == 1 || problem.heads == 1) cells[result_column("head_order")].clear();
  return row_key(cells);
}

double steps_of(const Candidate& candidate) {
  const sim::Request& request = candidate.point.request;
  return static_cast<double>(request.problem.batch * request.problem.heads) *
         static_cast<double>(visited_kv_tiles(request.problem, request.tiling));
}

int64_t shortening(const Candidate& candidate) {
  constexpr double enough_steps = 1 << 18;
  constexpr int64_t least_waves = 2, least_kv_tiles = 16;
  const sim::Request& request = candidate.point.request;
  double steps = steps_of(candidate);
  int64_t items = item_count(request.problem, request.tiling, request.schedule);
  int64_t tiles = kv_tiles(request.problem, request.tiling);
  int64_t divisor = 1;
  while (steps > enough_steps && items / 2 >= least_waves * request.schedule.workers &&
         tiles / 2 >= least_kv_tiles && q_tiles(request.problem, request.tiling) >= 2 * divisor) {
    divisor *= 2;
    steps /= 4;
    items /= 2;
    tiles /= 2;
  }
  return divisor;
}

Candidate shortened(const Candidate& candidate, int64_t divisor, const std::string& experiment,
                    Catalog& catalog) {
  const sim::Request& request = candidate.point.request;
  const Problem& problem = request.problem;
  Settings settings = candidate.settings;
  settings.erase("seq");
  set_screened(settings, "seq-q",
               std::to_string(shorter(problem.seq_q, divisor, request.tiling.q_rows)));
  set_screened(settings, "seq-kv",
               std::to_string(shorter(problem.seq_kv, divisor, request.tiling.kv_rows)));
  set_screened(settings, "tile-q", std::to_string(request.tiling.q_rows));
  set_screened(settings, "tile-kv", std::to_string(request.tiling.kv_rows));
  if (problem.mask.kind == MaskKind::window)
    set_screened(
        settings, "mask",
        std::string("window:").append(std::to_string(max_of(1, problem.mask.window / divisor))));
  // Two halves of whole lines.
  constexpr int64_t unit = 2 * line_bytes;
  set_screened(settings, "l2-bytes",
               std::to_string(max_of(unit, request.l2_bytes / divisor / unit * unit)));
  // In heads: auto:BYTES would change with the length.
  if (settings.contains("section"))
    set_screened(settings, "section", candidate.point.text("section"));
  return candidate_of(std::move(settings), experiment, catalog);
}

}  // namespace sawtooth::experiments
