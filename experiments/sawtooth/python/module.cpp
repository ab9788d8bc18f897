// sawtooth._core: what the Python package (sawtooth/) builds on: simulate(), from options as texts
// to predicted rows, with scans that are Python functions, and what is known. Tables are lists of
// texts here.
#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <sstream>
#include <stop_token>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "experiments/sawtooth/compare/compare_report.hpp"
#include "experiments/sawtooth/inputs/choice.hpp"
#include "experiments/sawtooth/inputs/layers.hpp"
#include "experiments/sawtooth/inputs/models.hpp"
#include "experiments/sawtooth/inputs/point.hpp"
#include "experiments/sawtooth/inputs/profiles.hpp"
#include "experiments/sawtooth/inputs/sweep.hpp"
#include "experiments/sawtooth/results/columns.hpp"
#include "experiments/sawtooth/results/predicted_point.hpp"
#include "experiments/sawtooth/results/result_row.hpp"
#include "experiments/sawtooth/results/side_tables.hpp"
#include "experiments/sawtooth/support/csv.hpp"
#include "experiments/sawtooth/support/resources.hpp"
#include "experiments/sawtooth/support/text.hpp"
#include "experiments/sawtooth/support/thread_crew.hpp"
#include "sim/prediction.hpp"
#include "sim/request.hpp"

namespace nb = nanobind;
namespace ex = sawtooth::experiments;

namespace sawtooth::experiments {
namespace {

struct Field {
  std::string_view name;
  int64_t (*value)(const ScanContext&);
};
constexpr auto fields_of_a_context = std::to_array<Field>({
    {"tiles", [](const ScanContext& context) { return context.tiles; }},
    {"item", [](const ScanContext& context) { return context.item; }},
    {"items_before", [](const ScanContext& context) { return context.items_before; }},
    {"q_tile", [](const ScanContext& context) { return context.own_tile; }},
    {"workers", [](const ScanContext& context) { return context.workers; }},
    {"attach_position", [](const ScanContext& context) { return context.attach_position; }},
    {"seed", [](const ScanContext& context) { return static_cast<int64_t>(context.seed); }},
});

std::vector<int32_t> checked(const std::vector<int64_t>& positions, int64_t tiles) {
  std::vector<bool> seen(static_cast<size_t>(tiles), false);
  std::vector<int32_t> result;
  for (const int64_t position : positions) {
    if (position < 0 || position >= tiles || seen[static_cast<size_t>(position)]) break;
    seen[static_cast<size_t>(position)] = true;
    result.push_back(static_cast<int32_t>(position));
  }
  if (result.size() == positions.size() && static_cast<int64_t>(result.size()) == tiles)
    return result;
  throw UsageError(
      "scan: the function visits " + std::to_string(positions.size()) + " positions for " +
      std::to_string(tiles) + " tiles, and step " + std::to_string(result.size()) + " is at " +
      (result.size() < positions.size() ? std::to_string(positions[result.size()]) : "none") +
      "; allowed: each of 0 ... tiles - 1 once");
}

}  // namespace

/// A scan that is a Python function, asked once for each set of values of what it looks at.
class PythonScan : public sim::OwnScan {
 public:
  /// `function` takes the values of `fields`, members of ScanContext by name, and returns the
  /// positions of all steps. Throws UsageError for a field that does not exist. Create and destroy
  /// with the GIL held.
  PythonScan(nb::callable function, const std::vector<std::string>& fields)
      : function_(std::move(function)) {
    for (const std::string& name : fields) {
      const auto field = std::ranges::find(fields_of_a_context, name, &Field::name);
      if (field == fields_of_a_context.end())
        throw UsageError("scan: the function asks for '" + name + "'; allowed: step, " +
                         join_list(fields_of_a_context, ", ", &Field::name));
      fields_.push_back(field->value);
    }
  }

  /// Takes the GIL where the answer is not known yet; throws UsageError for what is no permutation
  /// of [0, context.tiles).
  const int32_t* positions(const ScanContext& context) override {
    std::vector<int64_t> key{context.tiles};
    for (const auto& value : fields_) key.push_back(value(context));
    {
      const std::lock_guard lock(mutex_);
      const auto found = known_.find(key);
      if (found != known_.end()) return found->second.data();
    }
    std::vector<int64_t> asked;
    {
      const nb::gil_scoped_acquire gil;
      asked = nb::cast<std::vector<int64_t>>(
          function_(context.tiles, std::vector<int64_t>(key.begin() + 1, key.end())));
    }
    std::vector<int32_t> positions = checked(asked, context.tiles);
    const std::lock_guard lock(mutex_);
    return known_.try_emplace(std::move(key), std::move(positions)).first->second.data();
  }

 private:
  nb::callable function_;
  std::vector<int64_t (*)(const ScanContext&)> fields_;
  std::mutex mutex_;
  std::map<std::vector<int64_t>, std::vector<int32_t>> known_;  // tiles and fields -> positions
};

/// One row of results.csv with what stands behind it.
struct Predicted {
  CsvRow cells;  // in the order of result_columns
  CsvRow key_cells;
  sim::Prediction prediction;
  std::string no_curve;  // why_no_curve()

  /// The CSV that --by-tensor, --miss-curve or --histogram would write for this point alone;
  /// throws UsageError where the models count at one capacity.
  std::string side_table(const std::string& option) const {
    if (option != "by-tensor" && !no_curve.empty()) throw UsageError(option + ": " + no_curve);
    return experiments::side_table(option, key_cells, prediction);
  }
};

struct PythonSweep {
  std::string configuration;  // path of an INI, or empty
  std::vector<std::pair<std::string, std::vector<std::string>>> options;
  std::map<std::string, std::shared_ptr<PythonScan>> scans;  // by the text that stands for them
  std::vector<std::tuple<int64_t, int64_t, int64_t, int64_t>> order;  // empty: of the options
  size_t threads = 0;                                                 // 0: all cores
};

namespace {

Settings settings_of(const PythonSweep& sweep) {
  Settings settings;
  for (const auto& [key, texts] : sweep.options) {
    const OptionSpec* option = find_option(key);
    if (option != nullptr &&
        (option->group == OptionGroup::output || (option->commands & command_simulate) == 0))
      throw UsageError("--" + key + ": not an option of simulate() in Python");
    for (const std::string& text : texts) {
      if (key == "scan" && sweep.scans.contains(text))
        settings[key].values.push_back(text);
      else
        assign(settings, key, text, {});
    }
  }
  return settings;
}

void take_order(const PythonSweep& sweep, const Settings& settings, Point& point) {
  if (sweep.order.empty()) return;
  for (const char* key : {"section", "q-order", "head-order", "order-file"})
    if (settings.contains(key))
      throw UsageError("--" + std::string(key) +
                       ": has no effect with order; leave one of them out");
  std::vector<WorkCoordinates> list;
  for (const auto& [batch, head, q_tile, part] : sweep.order)
    list.push_back({batch, head, q_tile, part});
  const sim::Request& request = point.request;
  check_order(list, request.problem, request.tiling, request.schedule,
              [](size_t i) { return "order[" + std::to_string(i) + "]"; });
  set_order(point, std::move(list));
}

struct Job {
  Point point;
  CsvRow key_cells;
};

Job job_of(const PythonSweep& sweep, const Settings& settings, const std::string& own_scan,
           const std::string& experiment, Catalog& catalog) {
  Job job{resolve(settings, catalog), {}};
  if (job.point.keys.state != L2Content::cold)
    throw UsageError("--state: simulate starts from an empty L2; allowed: cold");
  take_order(sweep, settings, job.point);
  job.key_cells = key_cells(job.point, experiment, "predicted");
  if (!own_scan.empty()) {
    job.point.request.own_scan = sweep.scans.at(own_scan).get();
    job.key_cells[result_column("scan")] = own_scan;
  }
  return job;
}

// Takes the scans that are functions out of the points, where resolve() would not know them; what
// stood in each point's place, or nothing.
std::vector<std::string> own_scans(const PythonSweep& sweep, std::vector<Settings>& points) {
  std::vector<std::string> names(points.size());
  for (size_t i = 0; i < points.size(); ++i) {
    const auto scan = points[i].find("scan");
    if (scan == points[i].end() || !sweep.scans.contains(scan->second.values.front())) continue;
    names[i] = std::exchange(scan->second.values.front(), std::string(LinearScan::name));
  }
  return names;
}

Predicted predicted(const Job& job, const std::stop_token& stop, RingReplays& rings) {
  sim::Request request = job.point.request;
  request.stop = stop;
  try {
    PredictedResult made = predict(job.point, request, job.key_cells, &rings);
    CsvRow cells = predicted_row(job.key_cells, made.source(job.point));
    return {std::move(cells), job.key_cells, std::move(made.prediction),
            why_no_curve(*job.point.keys.l2, request.timing)};
  } catch (const std::invalid_argument& error) {  // what a model cannot do
    throw UsageError(error.what());
  }
}

/// Every point of the sweep, in the program's order. Throws UsageError for a mistake; ends within a
/// step of the simulation when Python has a signal to handle. Call with the GIL held.
std::vector<Predicted> simulate_sweep(const PythonSweep& sweep) {
  const Configuration configuration =
      sweep.configuration.empty() ? empty_configuration() : read_configuration(sweep.configuration);
  const std::string experiment =
      sweep.configuration.empty() ? "python" : stem_of(sweep.configuration);
  Catalog catalog;
  std::vector<Job> jobs;
  std::set<std::string> seen;  // sections of a configuration may share points
  auto points = expand(configuration, settings_of(sweep));
  const auto own = own_scans(sweep, points);
  std::vector<Predicted> result;
  for (size_t i = 0; i < points.size(); ++i) {
    Job job = job_of(sweep, points[i], own[i], experiment, catalog);
    if (seen.insert(csv_line(job.key_cells)).second) jobs.push_back(std::move(job));
  }
  RingReplays rings;
  std::stop_source stop;
  const size_t threads = sweep.threads > 0 ? sweep.threads : threads_of("");
  const nb::gil_scoped_release no_gil;
  run_in_order(
      jobs.size(), threads, [&](size_t i) { return predicted(jobs[i], stop.get_token(), rings); },
      [&](size_t, Predicted row) { result.push_back(std::move(row)); },
      [&] {
        const nb::gil_scoped_acquire gil;
        if (PyErr_CheckSignals() == 0) return;
        stop.request_stop();
        throw nb::python_error();
      });
  return result;
}

using Rows = std::vector<std::vector<std::string>>;

std::vector<std::string> column_names() {
  std::vector<std::string> names;
  for (const ResultColumn& column : result_columns) names.emplace_back(column.name);
  return names;
}

// key, default, description and values of the options of a command, and whether they are outputs
Rows option_rows(const std::string& command) {
  const CommandSet reads = command == "search"  ? command_search
                           : command == "trace" ? command_trace
                                                : command_simulate;
  Rows rows;
  for (const OptionSpec& option : option_table())
    if ((option.commands & reads) != 0)
      rows.push_back({std::string(option.key), std::string(option.default_text),
                      std::string(option.description),
                      option.kind == OptionKind::choice ? join_list(option.allowed()) : "",
                      option.group == OptionGroup::output ? "output" : ""});
  return rows;
}

// name, description, sms, l2_bytes
Rows gpu_rows() {
  Rows rows;
  for (const std::string& name : resource_names("profiles/gpus")) {
    const auto gpu = read_gpu_file(resource_path("profiles/gpus", name, "gpu"));
    rows.push_back({name, gpu.description, std::to_string(gpu.profile.sms),
                    std::to_string(gpu.profile.l2_bytes)});
  }
  return rows;
}

// name, description, alias_of, limits
Rows system_rows() {
  Rows rows;
  for (const std::string& name : resource_names("profiles/systems")) {
    const auto system = read_system_file(resource_path("profiles/systems", name, "system"));
    rows.push_back({name, system.description, system.alias_of, system.limits});
  }
  return rows;
}

std::vector<Predicted> simulate(
    std::string configuration,
    std::vector<std::pair<std::string, std::vector<std::string>>> options,
    const std::vector<std::pair<std::string, std::shared_ptr<PythonScan>>>& scans,
    std::vector<std::tuple<int64_t, int64_t, int64_t, int64_t>> order, size_t threads) {
  const PythonSweep sweep{std::move(configuration),
                          std::move(options),
                          {scans.begin(), scans.end()},
                          std::move(order),
                          threads};
  return simulate_sweep(sweep);
}

// The table of points and the report of `sawtooth compare`, of two tables as CSV with their names.
std::pair<std::string, std::string> compare(const std::string& predicted,
                                            const std::string& predicted_name,
                                            const std::string& measured,
                                            const std::string& measured_name,
                                            const std::string& counters) {
  const Comparison comparison =
      compare_tables(parse_csv(predicted, predicted_name), parse_csv(measured, measured_name),
                     counters_named(counters, "counters"));
  if (comparison.errors.empty())
    throw UsageError("nothing to compare: no two points join and share a counter");
  std::ostringstream errors;
  write_error_table(errors, comparison.errors);
  return {errors.str(), report_text(comparison.errors, {})};
}

}  // namespace
}  // namespace sawtooth::experiments

NB_MODULE(_core, m) {
  nb::exception<ex::UsageError>(m, "UsageError", PyExc_ValueError);
  nb::class_<ex::PythonScan>(m, "Scan").def(
      nb::init<nb::callable, const std::vector<std::string>&>());
  nb::class_<ex::Predicted>(m, "Predicted")
      .def_ro("cells", &ex::Predicted::cells)
      .def("side_table", &ex::Predicted::side_table);
  m.attr("version") = SAWTOOTH_VERSION;
  m.def("columns", ex::column_names);
  m.def("use_resources", ex::use_resources);
  m.def("options", ex::option_rows);
  m.def("gpus", ex::gpu_rows);
  m.def("systems", ex::system_rows);
  m.def("simulate", ex::simulate);
  m.def("compare", ex::compare);
}
