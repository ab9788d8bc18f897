#include "experiments/sawtooth/calibrate/items_command.hpp"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <stdexcept>

#include "experiments/sawtooth/calibrate/item_findings.hpp"
#include "experiments/sawtooth/inputs/command_line.hpp"
#include "experiments/sawtooth/support/exit_code.hpp"
#include "experiments/sawtooth/support/output_file.hpp"
#include "experiments/sawtooth/support/resources.hpp"
#include "experiments/sawtooth/support/usage_error.hpp"

namespace sawtooth::experiments {
namespace {

namespace fs = std::filesystem;

/// Each parameter in the place of the one of its key, or behind the others.
void put(ProfileSection& section, const std::vector<Parameter>& parameters) {
  for (const Parameter& parameter : parameters) {
    std::cout << '[' << section.name << "] " << parameter.key << " = "
              << parameter.value.substr(0, parameter.value.find(',')) << "; " << parameter.note
              << '\n';
    const auto known = std::ranges::find(section.parameters, parameter.key, &Parameter::key);
    if (known == section.parameters.end()) {
      section.parameters.push_back(parameter);
    } else {
      *known = parameter;
    }
  }
}

void put(ProfileFile& file, const std::vector<ProfileSection>& sections) {
  for (const ProfileSection& section : sections) {
    auto known = std::ranges::find(file.sections, section.name, &ProfileSection::name);
    if (known == file.sections.end()) known = file.sections.insert(known, {section.name, {}, 0});
    put(*known, section.parameters);
  }
}

/// The one family of all launches.
std::string family_of(const std::vector<RecordedLaunch>& launches) {
  for (const RecordedLaunch& launch : launches)
    if (launch.kernel.family != launches.front().kernel.family)
      throw std::invalid_argument("has launches of " + launches.front().kernel.family + " and of " +
                                  launch.kernel.family + "; give a family at a time");
  return launches.empty() ? std::string(usual_family) : launches.front().kernel.family;
}

void write(const fs::path& path, const ProfileFile& profile, const std::string& from) {
  OutputFile file(path.string());
  file.write(profile_text(profile, "Written by `sawtooth calibrate --items` from " + from));
  file.commit();
}

}  // namespace

int calibrate_items(const Settings& settings, const std::string& items_path) {
  const std::string rows_path = value_or(settings, "items", ""),
                    name = value_or(settings, "gpu", "");
  if (items_path.empty() || name.empty())
    throw UsageError(
        "calibrate --items: needs --gpu NAME and both files, --items ROWS.csv ITEMS.csv");
  const std::string gpu_path = resource_path("profiles/gpus", name, "--gpu");
  const GpuFile gpu = read_gpu_file(gpu_path);
  if (gpu.profile.layout.cta_order.empty())
    throw UsageError(gpu_path + ": has no cta-order, which says where the SMs of the records are");
  ProfileFile kernels{"",
                      {{"description", "kernels of kernels/mma on " + gpu.description, "", "", 0}},
                      {{"kernel", {}, 0}}};
  if (!gpu.kernel_costs.empty())
    kernels =
        read_kernel_file(resource_path("profiles/kernels", gpu.kernel_costs.front(), gpu_path));
  sim::KernelCost known;
  for (const ProfileFile& file :
       {read_kernel_file(resource_path("profiles/kernels", "mma", "")), kernels})
    set_kernel_cost(file, {.head_dim = 1, .tiling = {}, .family = {}}, known);
  ProfileFile profile = read_profile_file(gpu_path, "gpu");
  ProfileFile die{"", {{"description", gpu.description, "", "", 0}}, {{"die", {}, 0}}};
  const fs::path folder = output_folder(value_or(settings, "output", "runs/calibrate"));
  try {
    const std::vector<RecordedLaunch> launches = read_item_records(rows_path, items_path);
    const std::string family = family_of(launches);
    if (family != usual_family) {
      ProfileFile of_family{
          "",
          {{"description", "kernels/" + family + " on " + gpu.description, "", "", 0},
           {"family", family, "", "", 0}},
          {{"kernel", {}, 0}}};
      put(of_family, family_findings(launches, gpu.profile, known));
      write(folder / "kernel.ini", of_family, items_path);
      std::cout << "written to " << folder.string() << ": kernel.ini\n";
      return exit_fine;
    }
    const ItemFindings found = findings_of(launches, gpu.profile, known.item_end_ns);
    put(profile.sections.front(), found.gpu);
    put(kernels, found.kernels);
    put(die, {found.die});
    put(die, found.speeds);
  } catch (const std::invalid_argument& error) {
    throw UsageError(items_path + ": " + error.what());
  }
  write(folder / "gpu.ini", profile, items_path);
  write(folder / "kernel.ini", kernels, items_path);
  write(folder / "die.ini", die, items_path);
  std::cout << "written to " << folder.string() << ": gpu.ini, kernel.ini, die.ini\n";
  return exit_fine;
}

}  // namespace sawtooth::experiments
