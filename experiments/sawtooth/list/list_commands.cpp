// sawtooth gpus, systems, schedules: what is known, one line each, from the tables themselves.
#include "experiments/sawtooth/list/list_commands.hpp"

#include <iomanip>
#include <iostream>
#include <sstream>

#include "experiments/sawtooth/inputs/command_line.hpp"
#include "experiments/sawtooth/inputs/models.hpp"
#include "experiments/sawtooth/inputs/profiles.hpp"
#include "experiments/sawtooth/inputs/sets_options.hpp"
#include "experiments/sawtooth/inputs/system_file.hpp"
#include "experiments/sawtooth/support/exit_code.hpp"
#include "experiments/sawtooth/support/resources.hpp"
#if defined(SAWTOOTH_HAVE_KERNELS)
#include "kernels/attention/variants.hpp"
#endif

namespace sawtooth::experiments {
namespace {

constexpr int name_width = 22;

void print_line(std::string_view name, std::string_view text) {
  std::cout << "  " << std::left << std::setw(name_width) << name << " " << text << "\n";
}

template <class Table>
void print_table(std::string_view title, const Table& table) {
  std::cout << title << "\n";
  for (const auto& entry : table) print_line(entry.name, entry.description);
}

// The attention kernels of this build: what `measure`, `bench` and the library can launch.
void print_kernels() {
#if defined(SAWTOOTH_HAVE_KERNELS)
  for (const kernels::KernelVariant& variant : kernels::kernel_variants()) {
    std::ostringstream name, text;
    name << variant.family << " D=" << variant.head_dim << " " << variant.tiling.q_rows << "x"
         << variant.tiling.kv_rows;
    text << (variant.dtype == ElementType::bf16 ? "bf16" : "fp16") << ", " << variant.threads()
         << " threads, " << variant.stages << " stages, " << variant.shared_bytes
         << " bytes of shared memory, " << variant.ctas_per_sm << " CTAs an SM by registers";
    print_line(name.str(), text.str());
  }
#else
  std::cout << "  none: this build has no CUDA compiler\n";
#endif
}

}  // namespace

int run_gpus(const Command& command, const Arguments& arguments) {
  parse_command_line(command, arguments, 0);
  constexpr double mebi = 1024.0 * 1024.0;
  for (const std::string& name : resource_names("profiles/gpus")) {
    const GpuFile gpu = read_gpu_file(resource_path("profiles/gpus", name, "gpu"));
    int assumed = 0;
    for (const Parameter& parameter : gpu.parameters) assumed += parameter.source == "assumed";
    std::cout << "  " << std::left << std::setw(name_width) << name << " " << std::right
              << std::setw(3) << gpu.profile.sms << " SMs  " << std::setw(5)
              << static_cast<double>(gpu.profile.l2_bytes) / mebi << " MiB L2  " << gpu.description
              << " (" << gpu.parameters.size() << " parameters, " << assumed << " assumed)\n";
  }
  return exit_fine;
}

int run_systems(const Command& command, const Arguments& arguments) {
  parse_command_line(command, arguments, 0);
  for (const std::string& name : resource_names("profiles/systems")) {
    const SystemFile system = read_system_file(resource_path("profiles/systems", name, "system"));
    std::string line = system.description;
    if (!system.alias_of.empty()) line += " (alias of " + system.alias_of + ")";
    if (!system.limits.empty()) line += "; not modelled or not known: " + system.limits;
    print_line(name, line);
  }
  return exit_fine;
}

int run_schedules(const Command& command, const Arguments& arguments) {
  const ParsedCommandLine parsed = parse_command_line(command, arguments, 0);
  if (is_on(parsed.settings, "kernels")) {
    print_kernels();
    return exit_fine;
  }
  print_table("q-order", QOrders::info());
  print_table("launch", Launches::info());
  print_table("scan", Scans::info());
  print_table("timing", timing_models);
  print_table("l2", l2_models);
  print_table("l2-hash", l2_hashes);
  print_table("l2-policy", l2_policies);
  return exit_fine;
}

}  // namespace sawtooth::experiments
