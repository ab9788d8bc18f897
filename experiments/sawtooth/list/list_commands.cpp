// sawtooth gpus, systems, schedules: what is known, one line each, from the tables themselves.
#include <algorithm>
#include <iomanip>
#include <iostream>
#include <sstream>

#include "experiments/sawtooth/inputs/commands.hpp"
#include "experiments/sawtooth/inputs/layers.hpp"
#include "experiments/sawtooth/inputs/models.hpp"
#include "experiments/sawtooth/inputs/profiles.hpp"
#include "experiments/sawtooth/support/resources.hpp"
#include "experiments/sawtooth/support/terminal.hpp"
#include "experiments/sawtooth/support/text.hpp"
#if defined(SAWTOOTH_HAVE_KERNELS)
#include "kernels/attention/variant_list.hpp"
#include "kernels/attention/variants.hpp"
#endif

namespace sawtooth::experiments {
namespace {

constexpr int name_width = 22;

// Wrapped for people; a pipe gets a line each.
std::string lines_of(std::string_view text, size_t indent) {
  const std::string line = one_line(text);
  return is_terminal(Output::standard) ? wrapped(line, line_width(), indent) : line;
}

void print_line(std::string_view name, std::string_view text) {
  const size_t indent = std::max<size_t>(name_width, name.size()) + 3;
  std::cout << "  " << std::left << std::setw(name_width) << name << " " << lines_of(text, indent)
            << "\n";
}

/// Tables of names with what they mean: all of them, or those entries that are called `wanted`.
class Listing {
 public:
  explicit Listing(std::string wanted) : wanted_(std::move(wanted)) {}

  template <class Table>
  void add(std::string_view key, const Table& table) {
    if (wanted_.empty()) std::cout << key << "\n";
    for (const auto& entry : table) {
      names_.push_back(entry.name);
      if (wanted_.empty()) print_line(entry.name, entry.description);
      if (wanted_ != entry.name) continue;
      found_ = true;
      std::cout << entry.name << ": " << entry.description << "\n  --" << key << " " << entry.name
                << "\n";
    }
  }
  void check() const {
    if (wanted_.empty() || found_) return;
    throw UsageError("schedules: '" + wanted_ + "' is not known; allowed: a name of `sawtooth " +
                     "schedules`" + did_you_mean(wanted_, names_));
  }

 private:
  std::string wanted_;
  std::vector<std::string_view> names_;
  bool found_ = false;
};

void print_gpu(const std::string& path) {
  const GpuFile gpu = read_gpu_file(path);
  std::cout << lines_of(gpu.description + " (" + path + ")", 0) << "\n";
  const auto print = [](const Parameter& parameter) {
    const std::string gap = parameter.note.empty() ? "" : ": ";
    std::cout << "  " << std::left << std::setw(name_width + 2) << parameter.key << " "
              << lines_of(parameter.value, name_width + 5) << "\n    "
              << lines_of(parameter.source + gap + parameter.note, 4) << "\n";
  };
  for (const Parameter& parameter : gpu.parameters) print(parameter);
  if (gpu.judged.empty()) return;
  std::cout << "Models that were judged on it, the default first:\n";
  for (const Parameter& parameter : gpu.judged) print(parameter);
  const auto print_widths = [&](const std::string& title, const std::vector<IntervalWidth>& all) {
    std::cout << lines_of(title, 0) << "\n";
    for (const IntervalWidth& width : all) {
      std::cout << "  " << std::left << std::setw(name_width + 2) << width.column << " ";
      for (const double h : width.of_one_launch) std::cout << shortest(h) << ", ";
      std::cout << shortest(width.floor) << ", " << shortest(width.factor) << "\n";
    }
  };
  print_widths(
      "Intervals of the default: h of one launch, where L2 holds what is read again, in step, "
      "apart and drifting; floor and factor of several:",
      gpu.intervals);
  for (const auto& [family, widths] : gpu.family_intervals)
    print_widths("With kernels " + family + ":", widths);
}

// The attention kernels of this build: what `measure`, `bench` and the library can launch.
void print_kernels() {
#if defined(SAWTOOTH_HAVE_KERNELS)
  for (const kernels::KernelVariant& variant : kernels::kernel_variants()) {
    std::ostringstream name, text;
    name << variant.family << " D=" << variant.head_dims().text() << " " << variant.tiling.q_rows
         << "x" << variant.tiling.kv_rows;
    text << kernels::name_of(variant.dtype) << ", " << variant.threads() << " threads, "
         << variant.stages << " stages, " << variant.shared_bytes << " bytes of shared memory, "
         << variant.ctas_per_sm << " CTAs an SM by registers";
    print_line(name.str(), text.str());
  }
#else
  std::cout << "  none: this build has no CUDA compiler\n";
#endif
}

}  // namespace

int run_gpus(const Command& command, const Arguments& arguments) {
  const ParsedCommandLine parsed = parse_command_line(command, arguments, 1);
  std::vector<std::string> names = resource_names("profiles/gpus");
  if (!parsed.operands.empty()) {
    const std::string& asked = parsed.operands.front();
    names = family_named(asked, views_of(names));  // of several, a line each
    if (names.size() < 2) {
      print_gpu(resource_path("profiles/gpus", asked, "gpus"));
      return exit_fine;
    }
  }
  constexpr double mebi = 1024.0 * 1024.0;
  for (const std::string& name : names) {
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
  const ParsedCommandLine parsed = parse_command_line(command, arguments, 1);
  if (!parsed.operands.empty()) {
    const std::string path = resource_path("profiles/systems", parsed.operands.front(), "systems");
    std::cout << "# " << one_line(path) << "\n";
    std::istringstream lines(read_text_file(path, TextLimit::settings));
    for (std::string line; std::getline(lines, line);) std::cout << one_line(line) << "\n";
    return exit_fine;
  }
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
  const ParsedCommandLine parsed = parse_command_line(command, arguments, 1);
  if (is_on(parsed.settings, "kernels")) {
    print_kernels();
    return exit_fine;
  }
  Listing listing(parsed.operands.empty() ? "" : lowered(parsed.operands.front()));
  listing.add("q-order", QOrders::info());
  listing.add("sequence-order", SequenceOrders::info());
  listing.add("launch", Launches::info());
  listing.add("scan", Scans::info());
  listing.add("timing", timing_models);
  listing.add("l2", l2_models);
  listing.add("l2-hash", l2_hashes);
  listing.add("l2-policy", l2_policies);
  listing.check();
  return exit_fine;
}

}  // namespace sawtooth::experiments
