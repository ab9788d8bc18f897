// sawtooth trace: writes the trace of one point, reads traces, converts them, and predicts from
// them what simulate predicts from the schedule.
#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <stdexcept>

#include "experiments/sawtooth/inputs/choice.hpp"
#include "experiments/sawtooth/inputs/commands.hpp"
#include "experiments/sawtooth/inputs/keys.hpp"
#include "experiments/sawtooth/inputs/models.hpp"
#include "experiments/sawtooth/inputs/option_values.hpp"
#include "experiments/sawtooth/inputs/sweep.hpp"
#include "experiments/sawtooth/results/result_log.hpp"
#include "experiments/sawtooth/results/result_row.hpp"
#include "experiments/sawtooth/results/side_tables.hpp"
#include "experiments/sawtooth/support/files.hpp"
#include "experiments/sawtooth/support/resources.hpp"
#include "experiments/sawtooth/support/text.hpp"
#include "sim/gpu.hpp"
#include "sim/request.hpp"
#include "sim/trace/analyse.hpp"
#include "sim/trace/readers.hpp"

namespace sawtooth::experiments {
namespace {

// Hints are here because they are priorities of tensors, which rows of a trace may name.
constexpr auto model_keys =
    std::to_array<std::string_view>({"l2", "l2-ways", "l2-line-bytes", "l2-hash", "l2-hash-matrix",
                                     "l2-policy", "l2-set-aside", "hints", "seed"});
constexpr auto replayed = std::to_array<std::string_view>({"lru", "sets", "opt"});

/// Keys of the command line that say which model of L2 a trace goes through.
bool is_trace_model_key(std::string_view key) {
  return std::ranges::find(model_keys, key) != model_keys.end();
}

class TraceModel {
 public:
  /// `given` are keys of the command line; ways and line are those of `gpu` where they are left
  /// out. Throws UsageError for a model that needs a schedule, for keys that it does not read, and
  /// for sets that L2 cannot have.
  TraceModel(const Settings& given, const sim::Gpu& gpu, int64_t l2_bytes) {
    const auto fail = [&](const std::string& key, const std::string& what) {
      const auto written = given.find(key);
      throw UsageError(place_of(key, written == given.end() ? Origin() : written->second.origin) +
                       ": " + what);
    };
    for (const std::string_view key : model_keys) {
      const OptionSpec& option = *find_option(key);
      const std::string unsaid(key == "l2" ? std::string_view("lru") : option.default_text);
      const std::string text = value_or(given, std::string(key), unsaid);
      if (!text.empty()) option.field.read(canonical_value(option, text), keys_);
    }
    if (keys_.l2 == nullptr || std::ranges::find(replayed, keys_.l2->name) == replayed.end())
      fail("l2",
           value_or(given, "l2", "") + " needs a schedule; allowed with --read: lru, sets, opt");
    for (const auto& [key, assignment] : given)
      if (name() != "sets" && key != "l2" && is_trace_model_key(key))
        fail(key, "has no effect without l2 = sets");
    request_.l2_bytes = l2_bytes;
    SetsKeys::resolve(fail, gpu, keys_, request_);
  }

  /// lru, sets or opt.
  const L2Model& l2() const { return *keys_.l2; }
  std::string_view name() const { return keys_.l2->name; }
  const sim::SetsParameters& sets() const { return request_.sets; }

  /// Puts the model into the cells of a row of results.csv.
  void describe(CsvRow& cells) const {
    for (size_t i = 0; i < key_column_count; ++i) {
      const std::string key = key_of_column(result_columns[i].name);
      if (!is_trace_model_key(key)) continue;
      // A seed that nothing reads stays what the trace says.
      if (key == "seed" && request_.sets.policy != sim::SetPolicy::random) continue;
      cells[i] = find_option(key)->field.print(keys_);
    }
  }

 private:
  Keys keys_;
  sim::Request request_;
};

// What --read leaves to be said: all else stands in the trace.
bool stands_beside_read(std::string_view key) {
  return key == "gpu" || key == "l2-bytes" || key == "workers" || is_trace_model_key(key);
}
// Tables that are made of a prediction.
constexpr const char* predicted_tables[] = {"csv", "by-tensor", "miss-curve", "histogram"};

sim::TraceFormat format_of(const Settings& outputs) {
  const std::string name = value_or(outputs, "format", "binary");
  return name == "csv"   ? sim::TraceFormat::csv
         : name == "din" ? sim::TraceFormat::din
                         : sim::TraceFormat::binary;
}

sim::TraceLimits limits_of(const Settings& outputs) {
  const std::string atoms = value_or(outputs, "most-atoms", "");
  return atoms.empty() ? sim::TraceLimits() : sim::TraceLimits{uint32_t(std::stoul(atoms))};
}

/// Calls `produce(writer)` with the writer that --write, --format and --unit ask for.
template <class Produce>
void write_trace(const Settings& outputs, const std::string& description, Produce produce) {
  OutputFile file(value_or(outputs, "write", ""));
  const auto writer = sim::trace_writer(format_of(outputs), file.stream(), description);
  sim::LineSplitter splitter(*writer, limits_of(outputs));
  const bool by_lines = value_or(outputs, "unit", "visits") == "lines";
  produce(by_lines ? static_cast<sim::TraceWriter&>(splitter) : *writer);
  file.commit();
}

// The key cells of results.csv, so that a prediction from the trace is the row of its point.
std::string description_of(const CsvRow& key_cells) {
  std::string text;
  for (size_t i = 0; i < key_column_count; ++i) {
    if (key_cells[i].empty()) continue;
    text.append(result_columns[i].name).append(" = ").append(one_line(key_cells[i])).append("\n");
  }
  return text;
}

CsvRow described_cells(const std::string& description) {
  CsvRow cells(key_column_count);
  std::istringstream lines(description);
  for (std::string line; std::getline(lines, line);) {
    const size_t equals = line.find(" = ");
    if (equals == std::string::npos) continue;
    for (size_t i = 0; i < key_column_count; ++i)
      if (result_columns[i].name == line.substr(0, equals)) cells[i] = line.substr(equals + 3);
  }
  return cells;
}

int write_point(const SweepArguments& given) {
  const Settings& outputs = given.outputs;
  if (!outputs.contains("write"))
    throw UsageError("--write: not given; name the trace to write, or one to --read");
  for (const char* key : predicted_tables)
    if (outputs.contains(key))
      throw UsageError(place_of(key, outputs.at(key).origin) + ": needs --read, or use simulate");
  auto points = expand(given.configuration, given.command_line);
  if (points.size() != 1)
    throw UsageError("trace: a trace is of one point, the sweep has " +
                     std::to_string(points.size()) + "; give every key one value");
  Catalog catalog;
  take_lockstep_lru(points.front(), catalog);
  const Point point = resolve(points.front(), catalog);
  if (point.request.timing == sim::Timing::timed)
    throw UsageError("timing: traces are written in lockstep; allowed: lockstep, lockstep-wave");
  if (point.keys.l2->name != "lru")
    throw UsageError("l2: a trace is written without a model of L2; give l2 to --read");
  const CsvRow cells = key_cells(point, given.experiment, "predicted");
  write_trace(outputs, description_of(cells),
              [&](sim::TraceWriter& writer) { sim::write_schedule(point.request, writer); });
  return exit_fine;
}

class ReadTrace {
 public:
  ReadTrace(const Settings& command_line, const Settings& outputs)
      : path_(outputs.at("read").values.front()), outputs_(outputs), limits_(limits_of(outputs)) {
    for (const auto& [key, assignment] : command_line) {
      if (find_option(key)->group != OptionGroup::output && !stands_beside_read(key))
        throw UsageError(place_of(key, assignment.origin) +
                         ": has no effect with --read; the trace says it");
      if (find_option(key)->group != OptionGroup::output) given_[key] = assignment;
    }
  }

  int run() {
    // Opened first of all, so that a bad trace leaves no file behind. Asked before that, since
    // opening a pipe waits for the other end.
    std::error_code ignored;
    if (std::filesystem::exists(path_, ignored) &&
        !std::filesystem::is_regular_file(path_, ignored))
      throw UsageError(path_ +
                       ": is no regular file; the beginning of a trace is read more than once, so "
                       "save it to a file first");
    stream_ = open_input(path_);
    if (stream_.peek() == std::ifstream::traits_type::eof())
      throw UsageError(path_ + ": cannot be read, or is empty");
    const auto reader = open();
    if (!outputs_.contains("write")) {
      analyse(*reader);
      return exit_fine;
    }
    const bool analyses = std::ranges::any_of(
        predicted_tables, [&](const char* key) { return outputs_.contains(key); });
    write_trace(outputs_, reader->description(), [&](sim::TraceWriter& writer) {
      sim::CopyingReader copying(*reader, writer);
      analyses ? analyse(copying) : sim::copy_trace(*reader, writer);
    });
    return exit_fine;
  }

 private:
  // At its beginning; readers that were opened before end here.
  std::unique_ptr<sim::TraceReader> open() {
    stream_.clear();
    stream_.seekg(0);
    const auto workers = static_cast<uint32_t>(std::stoul(value_or(given_, "workers", "0")));
    return sim::open_trace(stream_, path_, limits_, workers);
  }

  void analyse(sim::TraceReader& reader) {
    CsvRow cells = described_cells(reader.description());
    const sim::Gpu gpu = complete(cells);
    const int64_t l2_bytes = parse_l2_bytes(cells[result_column("l2_bytes")]);
    const TraceModel model(given_, gpu, l2_bytes);
    refuse_idle_curves(outputs_, model.l2(), sim::Timing::lockstep);
    model.describe(cells);
    SideTables sides(outputs_);
    ResultLog log(value_or(outputs_, "csv", "-"), old_rows(outputs_));
    const Pass pass = cells[result_column("pass")] == "backward" ? Pass::backward : Pass::forward;
    const sim::Prediction prediction = predict(reader, model, l2_bytes, pass);
    log.start();
    const CsvRow row = predicted_row(cells, prediction.total);
    log.append(row);
    sides.write(sides.rows(cells, prediction));
    log.finish();
    sides.commit();
  }

  sim::Prediction predict(sim::TraceReader& reader, const TraceModel& model, int64_t l2_bytes,
                          Pass pass) {
    const bool backward = pass == Pass::backward;
    if (model.name() == "lru") return sim::analyse_trace(reader, l2_bytes, limits_, pass);
    if (model.name() == "opt") {
      if (backward)
        throw UsageError("l2: opt does not model a backward pass; allowed with it: lru, sets");
      return sim::replay_by_optimum(reader, l2_bytes);
    }
    sim::Prediction prediction = sim::replay_on_sets(
        reader, [this] { return open(); }, l2_bytes, model.sets(), limits_);
    if (backward) sim::know_reductions(prediction);
    return prediction;
  }

  // What the command line says, over what the trace says, over what its name says.
  // Returns what is known of the GPU, as far as the model asks.
  sim::Gpu complete(CsvRow& cells) const {
    sim::Gpu gpu;
    std::string& gpu_cell = cells[result_column("gpu")];
    Catalog catalog;
    if (given_.contains("gpu")) {
      gpu = catalog.gpu(given_.at("gpu")).profile;
      gpu_cell = gpu.name;
      cells[result_column("l2_bytes")] = std::to_string(gpu.l2_bytes);
    } else if (value_or(given_, "l2", "lru") == "sets" && !gpu_cell.empty()) {
      gpu = catalog.gpu(Assignment{{gpu_cell}, {path_, 0}}).profile;
    }
    const std::string l2_bytes = value_or(given_, "l2-bytes", "");
    if (!l2_bytes.empty()) cells[result_column("l2_bytes")] = l2_bytes;
    if (cells[result_column("l2_bytes")].empty())
      throw UsageError("--l2-bytes: not given, and " + path_ +
                       " does not say it; give --l2-bytes or --gpu");
    std::string& experiment = cells[result_column("experiment")];
    experiment = value_or(outputs_, "experiment", experiment.empty() ? stem_of(path_) : experiment);
    cells[result_column("source")] = "predicted";
    std::string& pass = cells[result_column("pass")];
    if (pass.empty()) pass = "forward";
    cells[result_column("version")] = program_version;
    return gpu;
  }

  int64_t parse_l2_bytes(const std::string& text) const {
    try {
      return std::stoll(canonical_value(*find_option("l2-bytes"), text));
    } catch (const std::invalid_argument& error) {
      throw UsageError(path_ + ": l2_bytes of its description: " + error.what());
    }
  }

  std::string path_;
  const Settings& outputs_;
  Settings given_;
  sim::TraceLimits limits_;
  std::ifstream stream_;
};

}  // namespace

int run_trace(const Command& command, const Arguments& arguments) {
  const SweepArguments given = parse_sweep_arguments(command, arguments);
  const std::string path = value_or(given.outputs, "read", "");
  if (!path.empty() && !given.configuration.path.empty())
    throw UsageError(given.configuration.path + ": has no effect with --read; the trace says it");
  try {
    return path.empty() ? write_point(given) : ReadTrace(given.command_line, given.outputs).run();
  } catch (const sim::TraceError& error) {
    const std::string what = error.what();
    throw UsageError(path.empty() || what.starts_with(path) ? what : path + ": " + what);
  }
}

}  // namespace sawtooth::experiments
