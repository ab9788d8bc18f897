#include "experiments/sawtooth/inputs/profiles.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <stdexcept>

#include "experiments/sawtooth/inputs/models.hpp"
#include "experiments/sawtooth/inputs/option_schema.hpp"
#include "experiments/sawtooth/support/resources.hpp"
#include "experiments/sawtooth/support/text.hpp"
#include "sim/timed/placement.hpp"

namespace sawtooth::experiments {
namespace {

using sim::Gpu;
using sim::KernelCost;
using sim::SmLayout;
using Unit = ProfileUnit;
template <class Profile>
using Key = sim::ProfileKey<Profile>;

template <auto... path>
constexpr auto gpu = &sim::place_at<Gpu, path...>;

constexpr double kibi = 1024, mebi = 1024 * kibi, gibi = 1024 * mebi;

constexpr auto gpu_keys = std::to_array<Key<Gpu>>({
    {"sms", Unit::count, 1, 1024, gpu<&Gpu::sms>},
    {"l2-bytes", Unit::bytes, 64 * kibi, 64 * gibi, gpu<&Gpu::l2_bytes>},
    {"l2-halves", Unit::count, 1, 2, gpu<&Gpu::l2_halves>},
    {"l2-parts", Unit::count, 1, 64, gpu<&Gpu::l2_parts>},
    {"l2-part-run", Unit::count, 1, 1024, gpu<&Gpu::l2_part_run>},
    {"memory-cache-bytes", Unit::bytes, 64 * kibi, 64 * gibi, gpu<&Gpu::memory_cache_bytes>},
    {"l2-ways", Unit::count, 1, 256, gpu<&Gpu::l2_ways>},
    {"l2-dirty-ways", Unit::count, 1, 256, gpu<&Gpu::l2_dirty_ways>},
    {"l2-line-bytes", Unit::line, 32, 128, gpu<&Gpu::l2_line_bytes>},
    {"shared-memory-block-bytes", Unit::bytes, 1 * kibi, 64 * mebi,
     gpu<&Gpu::shared_memory_block_bytes>},
    {"l2-set-aside-eighths", Unit::count, 1, 8, gpu<&Gpu::l2_set_aside_eighths>},
    {"l2-reserved-share", Unit::real, 0, 0.5, gpu<&Gpu::l2_reserved_share>},
    {"l2-scattered-share", Unit::real, 0, 1, gpu<&Gpu::l2_scattered_share>},
    {"l2-running-share", Unit::real, 0.001, 1, gpu<&Gpu::l2_running_share>},
    {"far-first-waiting-share", Unit::real, 0, 1, gpu<&Gpu::far_first_waiting_share>},
    {"far-first-running-share", Unit::real, 0, 1, gpu<&Gpu::far_first_running_share>},
    {"coalescer-waiting-share", Unit::real, 0.001, 1, gpu<&Gpu::coalescer_waiting_share>},
    {"coalescer-running-share", Unit::real, 0.001, 1, gpu<&Gpu::coalescer_running_share>},
    {"coalescer-sms", Unit::count, 1, 64, gpu<&Gpu::coalescer_sms>},
    {"dram-gb-per-s", Unit::real, 1, 1e6, gpu<&Gpu::dram_gb_per_s>},
    {"dram-window-us", Unit::real, 0.1, 1e6, gpu<&Gpu::dram_window_us>},
    {"l2-gb-per-s", Unit::real, 1, 1e6, gpu<&Gpu::l2_gb_per_s>},
    {"tile-gb-per-s", Unit::real, 0.1, 1e5, gpu<&Gpu::tile_gb_per_s>},
    {"sm-clock-mhz", Unit::real, 10, 1e5, gpu<&Gpu::sm_clock_mhz>},
    {"bf16-tflops", Unit::real, 0.01, 1e6, gpu<&Gpu::bf16_tflops>},
    {"mma-share", Unit::real, 0.01, 1, gpu<&Gpu::mma_share>},
    {"latency-near-ns", Unit::real, 1, 1e5, gpu<&Gpu::latency_near_ns>},
    {"latency-far-ns", Unit::real, 1, 1e5, gpu<&Gpu::latency_far_ns>},
    {"latency-dram-ns", Unit::real, 1, 1e5, gpu<&Gpu::latency_dram_ns>},
    {"link-copy-gb-per-s", Unit::rates, 0.1, 1e5, gpu<&Gpu::link_copy>},
    {"link-nccl-gb-per-s", Unit::rates, 0.1, 1e5, gpu<&Gpu::link_nccl>},
    {"gpc-sms", Unit::count, 2, 256, gpu<&Gpu::layout, &SmLayout::gpc_sms>},
    {"gpc-half", Unit::count, 0, 1, gpu<&Gpu::layout, &SmLayout::gpc_half>},
    {"cta-order", Unit::runs, 0, 255, gpu<&Gpu::layout, &SmLayout::cta_order>},
    {"tpc-turns", Unit::turns, 0, 255, gpu<&Gpu::layout, &SmLayout::tpc_turns>},
    {"sm-spread", Unit::real, 0, 0.1, gpu<&Gpu::sm_spread>},
    {"launch-ns", Unit::real, 0, 1e6, gpu<&Gpu::launch_ns>},
    {"launch-dram-read-sectors", Unit::count, 0, 1e6, gpu<&Gpu::launch_dram_read_sectors>},
    {"launch-fabric-read-sectors", Unit::count, 0, 1e6, gpu<&Gpu::launch_fabric_read_sectors>},
    {"start-spread-ns", Unit::real, 0, 1e6, gpu<&Gpu::start_spread_ns>},
    {"start-uneven-share", Unit::real, 0, 1, gpu<&Gpu::start_uneven_share>},
    {"refill-ns", Unit::real, 0, 1e6, gpu<&Gpu::refill_ns>},
    {"ticket-hop-ns", Unit::real, 0, 1e5, gpu<&Gpu::ticket_hop_ns>},
    {"power-delay-ms", Unit::real, 0, 1e6, gpu<&Gpu::power_delay_ms>},
    {"power-fall-ms", Unit::real, 0, 1e6, gpu<&Gpu::power_fall_ms>},
});

template <class Profile, size_t count>
void store(const std::string& path, const Parameter& parameter,
           const std::array<Key<Profile>, count>& keys, Profile& profile) {
  const auto key = std::ranges::find(keys, parameter.key, &Key<Profile>::name);
  if (key == keys.end()) {
    const std::string removal = removal_of(parameter.key);
    fail_at(path, parameter.line,
            parameter.key + ": " +
                (removal.empty() ? "unknown; allowed: " + join_list(keys, ", ", &Key<Profile>::name)
                                 : removal));
  }
  try {
    read_profile_value(parameter.value, {key->unit, key->low, key->high}, key->place(profile));
  } catch (const std::invalid_argument& error) {
    fail_at(path, parameter.line, parameter.key + ": " + error.what());
  }
}

// A key of [judged] is the name of a model.
void check_model(const std::string& path, const Parameter& judged) {
  std::string names;
  for (const TimingModel& timing : timing_models) {
    for (const L2Model& l2 : l2_models) {
      const std::string name = std::string(timing.name).append("-").append(l2.name);
      if (name == judged.key) return;
      names += (names.empty() ? "" : ", ") + name;
    }
  }
  fail_at(path, judged.line, judged.key + ": unknown; allowed: " + names);
}

double parse_pace(const std::string& path, const Parameter& parameter,
                  const std::vector<std::string>& files) {
  if (std::ranges::find(files, parameter.key) == files.end())
    fail_at(path, parameter.line,
            parameter.key + ": no file of kernel-costs; allowed: " +
                (files.empty() ? "none" : join_list(files)));
  double pace = 1;
  try {
    read_profile_value(parameter.value, {Unit::real, 0.1, 10}, &pace);
  } catch (const std::invalid_argument& error) {
    fail_at(path, parameter.line, parameter.key + ": " + error.what());
  }
  return pace;
}

void put_width(const IntervalWidth& width, std::vector<IntervalWidth>& widths) {
  const auto known = std::ranges::find(widths, width.column, &IntervalWidth::column);
  if (known == widths.end())
    widths.push_back(width);
  else
    *known = width;
}

std::string family_of(const ProfileFile& file) {
  const std::string family = file.word("family");
  return family.empty() ? std::string(usual_family) : family;
}

bool holds(const KernelScope& scope, const ProfileFile& file, const KernelShape& kernel) {
  return scope.holds(kernel.head_dim, kernel.tiling, kernel.family == family_of(file));
}

}  // namespace

GpuFile read_gpu_file(const std::string& path) {
  const ProfileFile file = read_profile_file(path, "gpu");
  GpuFile gpu;
  gpu.description = file.word("description");
  for (std::string& name : split_list(file.word("kernel-costs")))
    if (!name.empty()) gpu.kernel_costs.push_back(std::move(name));
  gpu.parameters = file.sections.front().parameters;
  gpu.content = file.content;
  gpu.profile.name = stem_of(path);
  for (const ProfileSection& section : file.sections) {
    if (&section == &file.sections.front()) continue;
    const size_t dash = section.name.find('-');
    const std::string what = section.name.substr(0, dash);
    if (section.name == "judged") {
      gpu.judged = section.parameters;
      for (const Parameter& model : gpu.judged) check_model(path, model);
    } else if (what == "intervals") {
      std::vector<IntervalWidth>* widths = &gpu.intervals;
      if (dash != std::string::npos) {
        widths = &gpu.family_intervals[section.name.substr(dash + 1)];
        *widths = gpu.intervals;  // those of all families
      }
      for (const Parameter& parameter : section.parameters)
        put_width(parse_interval_width(path, parameter), *widths);
    } else if (section.name == "pace") {
      for (const Parameter& parameter : section.parameters)
        gpu.paces[parameter.key] = parse_pace(path, parameter, gpu.kernel_costs);
    } else {
      fail_at(path, section.line,
              "[" + section.name +
                  "]: unknown; allowed: gpu, pace, judged, intervals, intervals-FAMILY");
    }
  }
  for (const Parameter& parameter : gpu.parameters) store(path, parameter, gpu_keys, gpu.profile);
  if (gpu.description.empty()) throw UsageError(path + ": [gpu] has no description");
  if (gpu.profile.sms == 0) throw UsageError(path + ": sms is missing");
  if (gpu.profile.l2_bytes == 0) throw UsageError(path + ": l2-bytes is missing");
  check_gpu(gpu.profile, path);
  return gpu;
}

ProfileFile read_kernel_file(const std::string& path) {
  constexpr std::string_view kind = "kernel";
  ProfileFile file = read_profile_file(path, kind);
  if (const std::string base = file.word("base"); !base.empty())  // its errors name its own lines
    read_kernel_file((std::filesystem::path(path).parent_path() / (base + ".ini")).string());
  for (const ProfileSection& section : file.sections) {
    if (section.name != kind && !parse_kernel_scope(section.name))
      fail_at(
          path, section.line,
          "[" + section.name + "] is no kernel; allowed: every, d>64, d128-128x64 and the like");
    check_kernel_costs(path, section);
  }
  return file;
}

void check_kernel_costs(const std::string& path, const ProfileSection& section) {
  for (const Parameter& parameter : section.parameters) {
    KernelCost tried;
    store(path, parameter, sim::kernel_cost_keys, tried);
  }
}

bool has_costs_of(const ProfileFile& file, const KernelShape& kernel) {
  return std::ranges::any_of(file.sections, [&](const ProfileSection& section) {
    const auto scope = parse_kernel_scope(section.name);
    return scope && scope->tiling && holds(*scope, file, kernel);
  });
}

void set_named_kernel_cost(const ProfileFile& file, KernelShape kernel, KernelCost& cost) {
  kernel.family = family_of(file);
  std::string kernels;
  bool found = false;
  for (const ProfileSection& section : file.sections) {
    const auto scope = parse_kernel_scope(section.name);
    if (!scope) continue;
    kernels += (kernels.empty() ? "" : ", ") + section.name;
    found = found || holds(*scope, file, kernel);
  }
  if (!found)
    throw UsageError(file.path + " has no costs of " +
                     kernel_section(kernel.head_dim, kernel.tiling) + "; it has " +
                     (kernels.empty() ? "no section of a kernel" : kernels));
  set_kernel_cost(file, kernel, cost);
}

void set_kernel_cost(const ProfileFile& file, const KernelShape& kernel, KernelCost& cost) {
  for (const ProfileSection& section : file.sections) {
    const auto scope = parse_kernel_scope(section.name);  // none: of the file as a whole
    if (scope && !holds(*scope, file, kernel)) continue;
    for (const Parameter& parameter : section.parameters)
      store(file.path, parameter, sim::kernel_cost_keys, cost);
  }
}

double IntervalWidth::half_width_of_time(const std::vector<double>& launches_us,
                                         double time_us) const {
  const auto longer = std::ranges::upper_bound(duration_kind_begins_us, time_us);
  const auto kind = static_cast<size_t>(longer - duration_kind_begins_us.begin());
  return std::max(of_one_launch[kind], launches_us.size() < 2 ? 0 : of_several(launches_us));
}

double IntervalWidth::of_several(const std::vector<double>& launches) const {
  const auto count = static_cast<double>(launches.size());
  double mean = 0, squares = 0;
  for (const double value : launches) mean += std::log(value) / count;
  for (const double value : launches) squares += std::pow(std::log(value) - mean, 2);
  return factor * std::hypot(std::sqrt(squares / (count - 1)), floor);
}

IntervalWidth parse_interval_width(const std::string& path, const Parameter& parameter) {
  constexpr std::array<double, point_kinds + 2> most{10, 10, 10, 10, 10, 100};
  const std::string place = path + ":" + std::to_string(parameter.line) + ": " + parameter.key;
  if (std::ranges::find(interval_columns, parameter.key) == interval_columns.end())
    throw UsageError(place + ": unknown; allowed: " + join_list(interval_columns));
  std::array<double, point_kinds + 2> numbers{};
  const auto parts = split_list(parameter.value);
  const auto refuse = [&] {
    throw UsageError(
        place + ": '" + parameter.value +
        "' is not allowed; allowed: six numbers, five from 0 to 10 and one from 0 to 100");
  };
  if (parts.size() != numbers.size()) refuse();
  for (size_t i = 0; i < numbers.size(); ++i) {
    try {
      numbers[i] = parse_share(parts[i]);
    } catch (const std::invalid_argument&) {
      refuse();
    }
    if (!(numbers[i] <= most[i])) refuse();
  }
  IntervalWidth width{.column = parameter.key, .floor = numbers[4], .factor = numbers[5]};
  std::copy_n(numbers.begin(), point_kinds, width.of_one_launch.begin());
  return width;
}

// What values of a profile ask of each other.

namespace {

[[noreturn]] void fail_key(const std::string& path, const char* key, const std::string& what) {
  throw UsageError(path + ": " + key + ": " + what);
}

// Every SM once, and a half and a size for every GPC.
void check_layout(const sim::Gpu& gpu, const std::string& path) {
  const sim::SmLayout& layout = gpu.layout;
  if (layout.gpc_sms.empty() && layout.gpc_half.empty() && layout.cta_order.empty()) return;
  int64_t sms = 0;
  std::vector<std::vector<int>> visits;
  for (const int64_t of_gpc : layout.gpc_sms) {
    if (of_gpc % sim::sms_a_tpc != 0)
      fail_key(path, "gpc-sms",
               "'" + std::to_string(of_gpc) +
                   "' is not allowed; allowed: even numbers, a TPC has two SMs");
    sms += of_gpc;
    visits.emplace_back(static_cast<size_t>(of_gpc / sim::sms_a_tpc), 0);
  }
  if (sms != gpu.sms)
    fail_key(path, "gpc-sms",
             "has " + std::to_string(sms) + " SMs, sms " + std::to_string(gpu.sms));
  if (layout.gpc_half.size() != layout.gpc_sms.size())
    fail_key(path, "gpc-half", "needs a half for each GPC of gpc-sms");
  for (const sim::TpcRun& run : layout.cta_order) {
    if (run.gpc >= static_cast<int>(visits.size()))
      fail_key(path, "cta-order", "there is no GPC " + std::to_string(run.gpc));
    std::vector<int>& tpcs = visits[static_cast<size_t>(run.gpc)];
    const size_t end = run.tpcs > 0 ? static_cast<size_t>(run.first_tpc + run.tpcs) : tpcs.size();
    if (end > tpcs.size())
      fail_key(path, "cta-order",
               "GPC " + std::to_string(run.gpc) + " has " + std::to_string(tpcs.size()) + " TPCs");
    for (auto tpc = static_cast<size_t>(run.first_tpc); tpc < end; ++tpc) ++tpcs[tpc];
  }
  for (const std::vector<int>& tpcs : visits)
    for (const int count : tpcs)
      if (count < 1 || count != visits.front().front())
        fail_key(path, "cta-order", "needs each TPC once, or each one equally often");
}

}  // namespace

void check_gpu(const sim::Gpu& gpu, const std::string& path) {
  check_layout(gpu, path);
  for (const sim::LinkRates* rates : {&gpu.link_copy, &gpu.link_nccl})
    if (std::ranges::adjacent_find(*rates, std::ranges::greater_equal(), &sim::LinkRate::bytes) !=
        rates->end())
      fail_key(path, "link-copy-gb-per-s, link-nccl-gb-per-s", "sizes rise from one to the next");
  const double reserved = gpu.l2_reserved_share.value_or(0);
  const int64_t ways = gpu.l2_ways.value_or(1);
  if (reserved > 0 && (ways < 2 || reserved * double(ways) >= 1))
    fail_key(path, "l2-reserved-share",
             shortest(reserved) + " leaves sets of " + std::to_string(ways) +
                 " ways without one; allowed: 0, or below 1 / l2-ways with l2-ways from 2 on");
  if (gpu.l2_dirty_ways && *gpu.l2_dirty_ways > ways)
    fail_key(path, "l2-dirty-ways",
             std::to_string(*gpu.l2_dirty_ways) +
                 " is not allowed; allowed: up to l2-ways = " + std::to_string(ways));
  if (gpu.latency_near_ns && gpu.latency_far_ns && *gpu.latency_far_ns < *gpu.latency_near_ns)
    fail_key(path, "latency-far-ns",
             shortest(*gpu.latency_far_ns) + " is not allowed; allowed: from latency-near-ns = " +
                 shortest(*gpu.latency_near_ns) + " on");
}

}  // namespace sawtooth::experiments
