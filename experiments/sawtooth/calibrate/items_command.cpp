#include "experiments/sawtooth/calibrate/items_command.hpp"

#include <filesystem>
#include <iostream>
#include <stdexcept>

#include "experiments/sawtooth/calibrate/item_costs.hpp"
#include "experiments/sawtooth/calibrate/item_records.hpp"
#include "experiments/sawtooth/inputs/command_line.hpp"
#include "experiments/sawtooth/support/exit_code.hpp"
#include "experiments/sawtooth/support/output_file.hpp"
#include "experiments/sawtooth/support/resources.hpp"
#include "experiments/sawtooth/support/usage_error.hpp"

namespace sawtooth::experiments {
namespace {

namespace fs = std::filesystem;

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

}  // namespace

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
  const fs::path folder = output_folder(value_or(settings, "output", "runs/calibrate"));
  if (!items_path.empty())
    write_output((folder / "launches.csv").string(), launch_times_csv(launches));
  write_output((folder / "kernel.ini").string(),
               profile_text(costs, "Written by `sawtooth calibrate --items` from " + path));
  for (const ProfileSection& section : costs.sections)
    for (const Parameter& p : section.parameters)
      std::cout << '[' << section.name << "] " << p.key << " = " << p.value << "; " << p.note
                << '\n';
  std::cout << "written to " << folder.string() << ": kernel.ini"
            << (items_path.empty() ? "" : ", launches.csv") << '\n';
  return exit_fine;
}

}  // namespace sawtooth::experiments
