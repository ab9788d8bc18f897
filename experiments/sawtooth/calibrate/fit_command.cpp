#include <iostream>
#include <set>

#include "experiments/sawtooth/calibrate/fit_streams.hpp"
#include "experiments/sawtooth/calibrate/launch_times.hpp"
#include "experiments/sawtooth/inputs/commands.hpp"
#include "experiments/sawtooth/inputs/profiles.hpp"
#include "experiments/sawtooth/support/files.hpp"
#include "experiments/sawtooth/support/resources.hpp"
#include "experiments/sawtooth/support/text.hpp"

namespace sawtooth::experiments {
namespace {

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
  if (gpu.l2_halves.value_or(0) != 2)
    throw UsageError("calibrate --from: gpu " + gpu.name +
                     " is not known to have two halves; nothing is to be fitted");
  const std::string output = value_or(settings, "output", "runs/calibrate");
  try {
    const std::vector<StreamRow> rows = read_stream_csv(path);
    OutputFolder folder(output, fit_files);
    fit_and_write(folder, rows, gpu.l2_bytes, gpu.sms,
                  static_cast<int>(gpu.l2_ways.value_or(assumed_ways)), path, std::cout);
  } catch (const std::invalid_argument& error) {
    throw UsageError(path + ": " + error.what());
  }
  std::cout << "written to " << output << "; draw with: sawtooth plot calibration " << path << ' '
            << output << "/model_counters.csv -o " << output << "/streams\n";
  return exit_fine;
}

const std::string& family_of(const std::vector<LaunchTimes>& launches, const std::string& path) {
  if (launches.empty()) throw UsageError(path + ": has no launch");
  const std::string& family = launches.front().kernel.family;
  for (const LaunchTimes& launch : launches)
    if (launch.kernel.family != family)
      throw UsageError(path + ": has launches of " + family + " and of " + launch.kernel.family +
                       "; give a family at a time");
  return family;
}

std::vector<LaunchTimes> times_of(const std::vector<RecordedLaunch>& records, const sim::Gpu& gpu) {
  std::vector<LaunchTimes> launches;
  for (const RecordedLaunch& record : records) launches.push_back(launch_times(record, gpu));
  return launches;
}

/// Writes kernel.ini into the output folder: what items of launches of one family take on the GPU
/// that is named, the file of its kernel costs being where the constants are from. --items names
/// launches.csv, or rows of `measure`, with their records as `items_path`; of these it writes
/// launches.csv too.
int calibrate_items(const Settings& settings, const std::string& items_path) {
  const std::string rows_path = value_or(settings, "items", ""),
                    name = value_or(settings, "gpu", "");
  if (name.empty())
    throw UsageError(
        "calibrate --items: needs --gpu NAME, and --items LAUNCHES.csv or --items ROWS.csv "
        "ITEMS.csv");
  const std::string gpu_path = resource_path("profiles/gpus", name, "--gpu");
  const GpuFile gpu = read_gpu_file(gpu_path);
  if (gpu.profile.layout.cta_order.empty())
    throw UsageError(gpu_path + ": has no cta-order, which says where the SMs of the records are");
  sim::KernelCost known;
  std::vector<std::string> files{"mma"};
  if (!gpu.kernel_costs.empty()) files.push_back(gpu.kernel_costs.front());
  for (const std::string& file : files)
    set_kernel_cost(read_kernel_file(resource_path("profiles/kernels", file, gpu_path)),
                    {.head_dim = 1, .tiling = {}, .family = {}}, known);

  const std::vector<LaunchTimes> launches =
      items_path.empty() ? read_launch_times(rows_path)
                         : times_of(read_item_records(rows_path, items_path), gpu.profile);
  const std::string& path = items_path.empty() ? rows_path : items_path;
  const std::string& family = family_of(launches, path);
  const std::string output = value_or(settings, "output", "runs/calibrate");
  std::vector<std::string> names{"kernel.ini"};
  if (!items_path.empty()) names.push_back("launches.csv");
  OutputFolder folder(output, names);
  ProfileFile costs{
      "",
      {{"description", "kernels of family " + family + " on " + gpu.description, "", "", 0},
       {"family", family, "", "", 0}},
      {{"kernel", {}, 0}}};
  try {
    for (ProfileSection& found : item_costs(launches, gpu.profile, known))
      costs.sections.push_back(std::move(found));
  } catch (const std::invalid_argument& error) {
    throw UsageError(path + ": " + error.what());
  }
  if (!items_path.empty()) folder.write("launches.csv", launch_times_csv(launches));
  folder.write("kernel.ini",
               profile_text(costs, "Written by `sawtooth calibrate --items` from " + path));
  for (const ProfileSection& section : costs.sections)
    for (const Parameter& p : section.parameters)
      std::cout << '[' << section.name << "] " << p.key << " = " << p.value << "; " << p.note
                << '\n';
  std::cout << "written to " << output << ": " << join_list(names) << '\n';
  return exit_fine;
}

}  // namespace

StreamFit fit_and_write(OutputFolder& folder, const std::vector<StreamRow>& rows, int64_t l2_bytes,
                        int64_t sms, int ways, const std::string& from, std::ostream& out) {
  const std::set<int64_t> fitted_mib = fitted_sizes_mib(rows);
  std::vector<StreamRow> half;
  for (const StreamRow& row : rows)
    if (fitted_mib.contains(row.point.mib)) half.push_back(row);
  const StreamFit held_out = fit_streams(half, l2_bytes, sms, ways);
  say(out, "fitted to every second size, judged on the others",
      judge_streams(held_out, rows, l2_bytes,
                    [&](const StreamPoint& point) { return !fitted_mib.contains(point.mib); }));
  const StreamFit fit = fit_streams(rows, l2_bytes, sms, ways);
  say(out, "fitted to all sizes and judged on them",
      judge_streams(fit, rows, l2_bytes, [](const StreamPoint&) { return true; }));

  const std::vector<Figure> figures = fit_figures(fit);
  out << figures_text(figures);
  folder.write("fit.csv", figures_csv(figures));
  folder.write("halves.ini", fit_profile_ini(fit, from));
  folder.write("model_counters.csv", stream_csv(model_rows(fit, rows)));
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

#if !defined(SAWTOOTH_HAVE_KERNELS)
int run_calibrate(const Command& command, const Arguments& arguments) {
  const ParsedCommandLine parsed = parse_command_line(command, arguments, 1);
  if (const auto done = calibrate_recorded(parsed)) return *done;
  return report_not_built(command.name);
}
#endif

}  // namespace sawtooth::experiments
