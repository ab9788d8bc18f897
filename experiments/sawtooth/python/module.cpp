// sawtooth._core: what the Python package (sawtooth/) builds on. Tables are lists of texts here.
#include <sstream>

#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "experiments/sawtooth/compare/compare_report.hpp"
#include "experiments/sawtooth/inputs/layers.hpp"
#include "experiments/sawtooth/inputs/profiles.hpp"
#include "experiments/sawtooth/python/simulation.hpp"
#include "experiments/sawtooth/results/columns.hpp"
#include "experiments/sawtooth/support/resources.hpp"
#include "experiments/sawtooth/support/text.hpp"

namespace nb = nanobind;
namespace ex = sawtooth::experiments;

namespace {

using Rows = std::vector<std::vector<std::string>>;

std::vector<std::string> column_names() {
  std::vector<std::string> names;
  for (const ex::ResultColumn& column : ex::result_columns) names.emplace_back(column.name);
  return names;
}

// key, default, description and values of the options of a command, and whether they are outputs
Rows option_rows(const std::string& command) {
  const ex::CommandSet reads = command == "search"  ? ex::command_search
                               : command == "trace" ? ex::command_trace
                                                    : ex::command_simulate;
  Rows rows;
  for (const ex::OptionSpec& option : ex::option_table())
    if ((option.commands & reads) != 0)
      rows.push_back({std::string(option.key), std::string(option.default_text),
                      std::string(option.description),
                      option.kind == ex::OptionKind::choice ? ex::join_list(option.allowed()) : "",
                      option.group == ex::OptionGroup::output ? "output" : ""});
  return rows;
}

// name, description, sms, l2_bytes
Rows gpu_rows() {
  Rows rows;
  for (const std::string& name : ex::resource_names("profiles/gpus")) {
    const auto gpu = ex::read_gpu_file(ex::resource_path("profiles/gpus", name, "gpu"));
    rows.push_back({name, gpu.description, std::to_string(gpu.profile.sms),
                    std::to_string(gpu.profile.l2_bytes)});
  }
  return rows;
}

// name, description, alias_of, limits
Rows system_rows() {
  Rows rows;
  for (const std::string& name : ex::resource_names("profiles/systems")) {
    const auto system = ex::read_system_file(ex::resource_path("profiles/systems", name, "system"));
    rows.push_back({name, system.description, system.alias_of, system.limits});
  }
  return rows;
}

std::vector<ex::Predicted> simulate(
    std::string configuration,
    std::vector<std::pair<std::string, std::vector<std::string>>> options,
    const std::vector<std::pair<std::string, std::shared_ptr<ex::PythonScan>>>& scans,
    std::vector<std::tuple<int64_t, int64_t, int64_t, int64_t>> order, size_t threads) {
  const ex::PythonSweep sweep{std::move(configuration),
                              std::move(options),
                              {scans.begin(), scans.end()},
                              std::move(order),
                              threads};
  return ex::simulate_sweep(sweep);
}

// The table of points and the report of `sawtooth compare`, of two tables as CSV with their names.
std::pair<std::string, std::string> compare(const std::string& predicted,
                                            const std::string& predicted_name,
                                            const std::string& measured,
                                            const std::string& measured_name,
                                            const std::string& counters) {
  const ex::Comparison comparison = ex::compare_tables(ex::parse_csv(predicted, predicted_name),
                                                       ex::parse_csv(measured, measured_name),
                                                       ex::counters_named(counters, "counters"));
  if (comparison.errors.empty())
    throw ex::UsageError("nothing to compare: no two points join and share a counter");
  std::ostringstream errors;
  ex::write_error_table(errors, comparison.errors);
  return {errors.str(), ex::report_text(comparison.errors, {})};
}

}  // namespace

NB_MODULE(_core, m) {
  nb::exception<ex::UsageError>(m, "UsageError", PyExc_ValueError);
  nb::class_<ex::PythonScan>(m, "Scan").def(
      nb::init<nb::callable, const std::vector<std::string>&>());
  nb::class_<ex::Predicted>(m, "Predicted")
      .def_ro("cells", &ex::Predicted::cells)
      .def("side_table", &ex::Predicted::side_table);
  m.attr("version") = SAWTOOTH_VERSION;
  m.def("columns", column_names);
  m.def("use_resources", ex::use_resources);
  m.def("options", option_rows);
  m.def("gpus", gpu_rows);
  m.def("systems", system_rows);
  m.def("simulate", simulate);
  m.def("compare", compare);
}
