// sawtooth run: one configuration, predicted and, where a GPU is, measured; compared and kept
// together in runs/NAME with what repeats it, a page, and figures where Python has matplotlib.
#include <algorithm>
#include <array>
#include <filesystem>
#include <iostream>
#include <sstream>

#include "experiments/sawtooth/inputs/commands.hpp"
#include "experiments/sawtooth/inputs/sweep.hpp"
#include "experiments/sawtooth/support/files.hpp"
#include "experiments/sawtooth/support/provenance.hpp"
#include "experiments/sawtooth/support/text.hpp"

namespace sawtooth::experiments {
namespace {

namespace fs = std::filesystem;

// Wavefronts and miss curves of more points than this are no picture.
constexpr size_t most_pictured = 8;

constexpr auto own_files = std::to_array<std::string_view>(
    {"config.ini", "predicted.csv", "wavefront.csv", "lockstep.csv", "miss_curve.csv",
     "measured.csv", "wavefront_measured.csv", "results.csv", "provenance.ini", "compare.csv",
     "report.html"});

/// One of them; another name does not compile.
struct OwnFile {
  std::string_view name;
  consteval OwnFile(const char* listed) : name(*std::ranges::find(own_files, listed)) {}
  operator std::string() const { return std::string(name); }
};

/// Where tables of the configuration's own may lie beside them, under other names.
struct RunFolder {
  fs::path path;
  std::string operator[](OwnFile file) const { return (path / file.name).string(); }
};

void refuse_own_files(const Settings& outputs, const RunFolder& folder) {
  for (const auto& [key, assignment] : outputs) {
    if (find_option(key)->kind != OptionKind::path || key == "csv") continue;  // which run replaces
    const std::string& path = assignment.values.front();
    for (const std::string_view own : own_files)
      if (without_links(path) == without_links((folder.path / own).string()))
        throw UsageError(place_of(key, assignment.origin) + ": '" + path +
                         "' is a file that run itself writes; choose another name");
  }
}

/// When the file was written last; the least time where there is none.
fs::file_time_type written_at(const fs::path& path) {
  std::error_code none;
  const auto time = fs::last_write_time(path, none);
  return none ? fs::file_time_type::min() : time;
}

/// Both tables under one header; they have the same columns.
std::string joined_results(const RunFolder& folder, bool measured) {
  std::string text = read_text_file(folder["predicted.csv"]);
  if (measured) {
    const std::string rows = read_text_file(folder["measured.csv"]);
    text += rows.substr(rows.find('\n') + 1);
  }
  return text;
}

/// Misses at every capacity, by the one model that has them; lockstep.csv says which point a curve
/// is of.
void add_miss_curves(const std::string& configuration, const Settings& outputs,
                     const RunFolder& folder) {
  Arguments simulate{configuration,
                     "--timing",
                     "lockstep",
                     "--l2",
                     "lru",
                     "--quiet",
                     "--overwrite",
                     "--csv",
                     folder["lockstep.csv"],
                     "--miss-curve",
                     folder["miss_curve.csv"]};
  for (const char* key : {"by-tensor", "histogram", "timeline"})
    if (outputs.contains(key))  // these are of the prediction
      simulate.insert(simulate.end(), {std::string("--") + key, "/dev/null"});
  try {
    run_simulate(command_named("simulate"), simulate);
  } catch (const UsageError& error) {  // a point that this model cannot count
    std::cerr << "note: no miss curve: " << error.what() << "\n";
  }
}

}  // namespace

int run_run(const Command& command, const Arguments& arguments) {
  const ParsedCommandLine parsed = parse_command_line(command, arguments, 1);
  if (parsed.operands.empty()) throw UsageError("run: needs a configuration: sawtooth run CONFIG");
  const std::string& path = parsed.operands.front();
  const SweepArguments given = sweep_arguments(read_configuration(path));
  const Settings& outputs = given.outputs;
  const std::string place = "runs/" + name_of_files(given);
  const RunFolder folder{place};
  refuse_own_files(outputs, folder);
  const OwnFile config = "config.ini", results = "results.csv", provenance = "provenance.ini";
  std::vector<std::string> names{results, provenance};
  std::error_code missing;
  const bool is_kept = fs::equivalent(folder[config], path, missing);
  if (!is_kept) names.push_back(config);
  OutputFolder files(place, names);
  if (!is_kept) files.write(config, read_text_file(path));

  Arguments simulate{path, "--overwrite", "--csv", folder["predicted.csv"]};
  const PointList points(given.configuration, {});
  const bool is_ring = std::ranges::any_of(
      points.sweeps(), [](const Settings& sweep) { return sweep.contains("ring"); });  // has none
  const bool with_wavefront =
      points.size() <= most_pictured && !outputs.contains("wavefront") && !is_ring;
  if (with_wavefront) simulate.insert(simulate.end(), {"--wavefront", folder["wavefront.csv"]});
  const int predicted = run_simulate(command_named("simulate"), simulate);
  if (with_wavefront) add_miss_curves(path, outputs, folder);
  const std::string rows = folder["measured.csv"];
  const auto before = written_at(rows);
  // A table that the configuration names is of the prediction.
  Arguments measure{path, "--overwrite", "--csv", rows};
  if (with_wavefront || outputs.contains("wavefront"))
    measure.insert(measure.end(), {"--wavefront", folder["wavefront_measured.csv"]});
  const int measured = run_measure(command_named("measure"), measure);
  // Without a device, or where it failed, rows may be there of an earlier run.
  const bool is_new = written_at(rows) != before, has_measured = fs::exists(rows);
  files.write(results, joined_results(folder, is_new));
  std::ostringstream text;
  write_provenance(text, "run", program_provenance(arguments));
  files.write(provenance, text.str());
  std::cout << "written to " << place << "\n";
  int compared = exit_fine;
  if (has_measured) {
    if (!is_new) std::cout << "nothing was measured: " << rows << " has rows of an earlier run\n";
    compared = run_compare(command_named("compare"),
                           {folder["predicted.csv"], rows, "--csv", folder["compare.csv"]});
  } else {
    for (const OwnFile old : {OwnFile("compare.csv"), OwnFile("wavefront_measured.csv")})
      fs::remove(folder[old]);  // of an earlier run: they would be drawn again
    std::cout
        << "predicted alone: measured.csv and compare.csv are missing. Where a GPU is, run this "
           "again, or compare "
        << folder["predicted.csv"] << " with rows that were measured elsewhere\n";
  }
  if (!is_new && measured != exit_no_device) compared = measured;
  draw_run(place, folder["report.html"]);
  return compared == exit_fine ? predicted : compared;
}

}  // namespace sawtooth::experiments
