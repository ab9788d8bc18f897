#include "experiments/sawtooth/calibrate/fit_command.hpp"

#include <iostream>
#include <set>

#include "experiments/sawtooth/calibrate/items_command.hpp"
#include "experiments/sawtooth/inputs/command_line.hpp"
#include "experiments/sawtooth/inputs/profiles.hpp"
#include "experiments/sawtooth/support/exit_code.hpp"
#include "experiments/sawtooth/support/output_file.hpp"
#include "experiments/sawtooth/support/resources.hpp"
#include "experiments/sawtooth/support/usage_error.hpp"

namespace sawtooth::experiments {
namespace {

namespace fs = std::filesystem;

void say(std::ostream& out, const char* what, const StreamJudgement& judgement) {
  out << what << ": " << judgement.within << " of " << judgement.points
      << " second passes within tolerance; worst " << judgement.worst << " ("
      << judgement.worst_excess << " tolerances)\n";
}

int calibrate_from(const Settings& settings) {
  const std::string path = value_or(settings, "from", "");
  const std::string name = value_or(settings, "gpu", "");
  if (name.empty())
    throw UsageError("calibrate --from: --gpu is missing (its L2 and SMs are used)");
  const sim::Gpu gpu = read_gpu_file(resource_path("profiles/gpus", name, "gpu")).profile;
  if (gpu.l2_halves.value_or(0) != 2) {
    throw UsageError("calibrate --from: gpu " + gpu.name +
                     " is not known to have two halves; nothing is to be fitted");
  }
  fs::path folder;
  try {
    const std::vector<StreamRow> rows = read_stream_csv(path);
    folder = output_folder(value_or(settings, "output", "runs/calibrate"));
    fit_and_write(folder, rows, gpu.l2_bytes, gpu.sms,
                  static_cast<int>(gpu.l2_ways.value_or(assumed_ways)), path, std::cout);
  } catch (const std::invalid_argument& error) {
    throw UsageError(path + ": " + error.what());
  }
  std::cout << "written to " << folder.string() << "; draw with: sawtooth plot calibration " << path
            << ' ' << (folder / "model_counters.csv").string() << " -o "
            << (folder / "streams").string() << '\n';
  return exit_fine;
}

}  // namespace

StreamFit fit_and_write(const fs::path& folder, const std::vector<StreamRow>& rows,
                        int64_t l2_bytes, int64_t sms, int ways, const std::string& from,
                        std::ostream& out) {
  const std::set<int64_t> fitted_mib = fitted_sizes_mib(rows);
  std::vector<StreamRow> half;
  for (const StreamRow& row : rows) {
    if (fitted_mib.contains(row.point.mib)) half.push_back(row);
  }
  const StreamFit held_out = fit_streams(half, l2_bytes, sms, ways);
  say(out, "fitted to every second size, judged on the others",
      judge_streams(held_out, rows, l2_bytes,
                    [&](const StreamPoint& point) { return !fitted_mib.contains(point.mib); }));
  const StreamFit fit = fit_streams(rows, l2_bytes, sms, ways);
  say(out, "fitted to all sizes and judged on them",
      judge_streams(fit, rows, l2_bytes, [](const StreamPoint&) { return true; }));

  const std::vector<Figure> figures = fit_figures(fit);
  out << figures_text(figures);
  write_output((folder / "fit.csv").string(), figures_csv(figures));
  write_output((folder / "halves.ini").string(), fit_profile_ini(fit, from));
  write_output((folder / "model_counters.csv").string(), stream_csv(model_rows(fit, rows)));
  return fit;
}

std::optional<int> calibrate_recorded(const ParsedCommandLine& parsed) {
  const Settings& settings = parsed.settings;
  const std::string operand = parsed.operands.empty() ? "" : parsed.operands.front();
  if (settings.contains("items")) return calibrate_items(settings, operand);
  if (!operand.empty())
    throw UsageError("'" + operand + "' is one operand too many; only --items takes a second file");
  if (!value_or(settings, "from", "").empty()) return calibrate_from(settings);
  return std::nullopt;
}

}  // namespace sawtooth::experiments
