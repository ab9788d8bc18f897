#include "experiments/sawtooth/inputs/profiles.hpp"

#include <array>
#include <charconv>
#include <optional>
#include <span>
#include <stdexcept>
#include <variant>

#include "experiments/sawtooth/inputs/option_values.hpp"
#include "experiments/sawtooth/support/resources.hpp"
#include "experiments/sawtooth/support/usage_error.hpp"

namespace sawtooth::experiments {
namespace {

using sim::Die;
using sim::Gpu;
using sim::KernelCost;
using sim::PrefetchTimes;
using sim::SmLayout;

enum class Unit { count, bytes, positive, real, share, flag, half, slowness, runs, turns };

constexpr std::string_view allowed(Unit unit) {
  switch (unit) {
    case Unit::count:
      return "a whole number from 1 on";
    case Unit::bytes:
      return "bytes, such as 24 MiB";
    case Unit::positive:
      return "a number above 0";
    case Unit::real:
      return "a number";
    case Unit::share:
      return "a number from 0 to 1";
    case Unit::flag:
      return "on, off";
    case Unit::half:
      return "0, 1";
    case Unit::slowness:
      return "shares between -0.5 and 0.5, separated by commas";
    case Unit::runs:
      return "GPCs and, after a colon, TPCs of them, such as 0:4-7, separated by commas";
    case Unit::turns:
      return "for each size of a GPC the turns of its TPCs from 0 on, separated by commas, sizes "
             "by /";
  }
  return {};
}

using Place = std::variant<int64_t*, double*, bool*, std::optional<int64_t>*,
                           std::optional<double>*, std::vector<int64_t>*, std::vector<double>*,
                           std::vector<sim::TpcRun>*, std::vector<std::vector<int>>*>;

template <class Profile>
struct Key {
  std::string_view name;
  Unit unit;
  Place (*place)(Profile& profile);
};

template <class Profile, auto... path>
Place at(Profile& profile) {
  return &(profile.*....*path);
}

template <auto... path>
constexpr auto gpu = &at<Gpu, path...>;
template <auto... path>
constexpr auto die = &at<Die, path...>;
template <auto... path>
constexpr auto cost = &at<KernelCost, path...>;

constexpr auto gpu_keys = std::to_array<Key<Gpu>>({
    {"sms", Unit::count, gpu<&Gpu::sms>},
    {"l2-bytes", Unit::bytes, gpu<&Gpu::l2_bytes>},
    {"l2-halves", Unit::count, gpu<&Gpu::l2_halves>},
    {"l2-ways", Unit::count, gpu<&Gpu::l2_ways>},
    {"l2-line-bytes", Unit::bytes, gpu<&Gpu::l2_line_bytes>},
    {"shared-memory-block-bytes", Unit::bytes, gpu<&Gpu::shared_memory_block_bytes>},
    {"l2-reserved-share", Unit::share, gpu<&Gpu::l2_reserved_share>},
    {"l2-scattered-share", Unit::share, gpu<&Gpu::l2_scattered_share>},
    {"l2-running-share", Unit::share, gpu<&Gpu::l2_running_share>},
    {"far-first-waiting-share", Unit::share, gpu<&Gpu::far_first_waiting_share>},
    {"far-first-running-share", Unit::share, gpu<&Gpu::far_first_running_share>},
    {"coalescer-waiting-share", Unit::share, gpu<&Gpu::coalescer_waiting_share>},
    {"coalescer-running-share", Unit::share, gpu<&Gpu::coalescer_running_share>},
    {"coalescer-sms", Unit::count, gpu<&Gpu::coalescer_sms>},
    {"dram-gb-per-s", Unit::positive, gpu<&Gpu::dram_gb_per_s>},
    {"l2-gb-per-s", Unit::positive, gpu<&Gpu::l2_gb_per_s>},
    {"fabric-gb-per-s", Unit::positive, gpu<&Gpu::fabric_gb_per_s>},
    {"port-gb-per-s", Unit::positive, gpu<&Gpu::port_gb_per_s>},
    {"sm-clock-mhz", Unit::positive, gpu<&Gpu::sm_clock_mhz>},
    {"bf16-tflops", Unit::positive, gpu<&Gpu::bf16_tflops>},
    {"latency-near-ns", Unit::positive, gpu<&Gpu::latency_near_ns>},
    {"latency-far-ns", Unit::positive, gpu<&Gpu::latency_far_ns>},
    {"latency-dram-ns", Unit::positive, gpu<&Gpu::latency_dram_ns>},
    {"gpc-sms", Unit::count, gpu<&Gpu::layout, &SmLayout::gpc_sms>},
    {"gpc-half", Unit::half, gpu<&Gpu::layout, &SmLayout::gpc_half>},
    {"cta-order", Unit::runs, gpu<&Gpu::layout, &SmLayout::cta_order>},
    {"tpc-turns", Unit::turns, gpu<&Gpu::layout, &SmLayout::tpc_turns>},
    {"sm-spread", Unit::real, gpu<&Gpu::sm_spread>},
    {"launch-ns", Unit::real, gpu<&Gpu::launch_ns>},
    {"start-spread-ns", Unit::real, gpu<&Gpu::start_spread_ns>},
    {"start-uneven-share", Unit::share, gpu<&Gpu::start_uneven_share>},
    {"refill-ns", Unit::real, gpu<&Gpu::refill_ns>},
    {"ticket-hop-ns", Unit::real, gpu<&Gpu::ticket_hop_ns>},
});

constexpr auto die_keys = std::to_array<Key<Die>>({
    {"slowness", Unit::slowness, die<&Die::sm_slowness>},
    {"slowness-older", Unit::slowness, die<&Die::sm_slowness_older>},
    {"slowness-younger", Unit::slowness, die<&Die::sm_slowness_younger>},
    {"cta-half", Unit::half, die<&Die::cta_half>},
    {"sm-half", Unit::half, die<&Die::sm_half>},
    {"ticket-half", Unit::half, die<&Die::ticket_half>},
});

constexpr auto kernel_keys = std::to_array<Key<KernelCost>>({
    {"tensor-tflops", Unit::positive, cost<&KernelCost::tensor_tflops>},
    {"exp-tera-per-s", Unit::positive, cost<&KernelCost::exp_tera_per_s>},
    {"tensor-share", Unit::share, cost<&KernelCost::tensor_share>},
    {"exp-per-clock", Unit::real, cost<&KernelCost::exp_per_clock>},
    {"fixed-ns", Unit::real, cost<&KernelCost::fixed_ns>},
    {"exposed-ns", Unit::real, cost<&KernelCost::exposed_ns>},
    {"step-ns", Unit::positive, cost<&KernelCost::step_ns>},
    {"jitter", Unit::share, cost<&KernelCost::jitter>},
    {"jitter-shared", Unit::share, cost<&KernelCost::jitter_shared>},
    {"jitter-in-step", Unit::share, cost<&KernelCost::jitter_in_step>},
    {"jitter-by-age", Unit::share, cost<&KernelCost::jitter_by_age>},
    {"age-bias", Unit::real, cost<&KernelCost::age_bias>},
    {"age-bias-prefetch", Unit::real, cost<&KernelCost::age_bias_prefetch>},
    {"keep-step", Unit::flag, cost<&KernelCost::keep_step>},
    {"resident-ctas", Unit::count, cost<&KernelCost::resident_ctas>},
    {"tpc-spread", Unit::real, cost<&KernelCost::tpc_spread>},
    {"tpc-spread-prefetch", Unit::real, cost<&KernelCost::tpc_spread_prefetch>},
    {"prefetch-step-ns", Unit::real, cost<&KernelCost::prefetch, &PrefetchTimes::step_ns>},
    {"prefetch-lines-ns", Unit::real, cost<&KernelCost::prefetch, &PrefetchTimes::lines_ns>},
    {"prefetch-step-shared-ns", Unit::real,
     cost<&KernelCost::prefetch_shared, &PrefetchTimes::step_ns>},
    {"prefetch-lines-shared-ns", Unit::real,
     cost<&KernelCost::prefetch_shared, &PrefetchTimes::lines_ns>},
    {"prefetch-lines-bias", Unit::real, cost<&KernelCost::prefetch_lines_bias>},
    {"item-begin-ns", Unit::real, cost<&KernelCost::item_begin_ns>},
    {"item-end-ns", Unit::real, cost<&KernelCost::item_end_ns>},
    {"item-spread-ns", Unit::real, cost<&KernelCost::item_spread_ns>},
    {"stages", Unit::count, cost<&KernelCost::stages>},
    {"spill-bytes", Unit::bytes, cost<&KernelCost::spill_bytes>},
});

[[noreturn]] void refuse(std::string_view text) {
  throw std::invalid_argument("'" + std::string(text) + "'");
}

template <class Number>
Number number_of(std::string_view text) {
  Number number = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || stop != text.data() + text.size()) refuse(text);
  return number;
}

void parse(std::string_view text, Unit unit, int64_t& value) {
  if (unit == Unit::half && text != "0" && text != "1") refuse(text);
  value = unit == Unit::bytes ? parse_bytes(text) : parse_count(text);
  if (unit == Unit::count && value < 1) refuse(text);
}

void parse(std::string_view text, Unit unit, double& value) {
  constexpr double most_slowness = 0.5;
  value = number_of<double>(text);
  const bool good = unit == Unit::positive   ? value > 0
                    : unit == Unit::share    ? value >= 0 && value <= 1
                    : unit == Unit::slowness ? value > -most_slowness && value < most_slowness
                                             : true;
  if (!good) refuse(text);
}

void parse(std::string_view text, Unit, bool& value) {
  if (text != "on" && text != "off") refuse(text);
  value = text == "on";
}

void parse(std::string_view text, Unit, int& value) {
  value = number_of<int>(text);
  if (value < 0) refuse(text);
}

// A GPC, or a GPC and the first and the last of its TPCs.
void parse(std::string_view text, Unit, sim::TpcRun& run) {
  const size_t colon = text.find(':'), dash = text.find('-');
  run.gpc = number_of<int>(text.substr(0, colon));
  if (run.gpc < 0) refuse(text);
  if (colon == std::string_view::npos) return;
  if (dash == std::string_view::npos || dash < colon) refuse(text);
  run.first_tpc = number_of<int>(text.substr(colon + 1, dash - colon - 1));
  run.tpcs = number_of<int>(text.substr(dash + 1)) - run.first_tpc + 1;
  if (run.tpcs < 1) refuse(text);
}

template <class Value>
void parse(std::string_view text, Unit unit, std::optional<Value>& value) {
  parse(text, unit, value.emplace());
}

template <class Value>
void parse(std::string_view text, Unit unit, std::vector<Value>& values) {
  values.clear();
  for (const std::string& part : split_list(text)) {
    try {
      parse(part, unit, values.emplace_back());
    } catch (const std::logic_error&) {
      throw std::invalid_argument("number " + std::to_string(values.size()));
    }
  }
}

void parse(std::string_view text, Unit unit, std::vector<std::vector<int>>& lists) {
  lists.clear();
  while (true) {
    const size_t end = text.find('/');
    parse(text.substr(0, end), unit, lists.emplace_back());
    if (end == std::string_view::npos) return;
    text.remove_prefix(end + 1);
  }
}

[[noreturn]] void fail(const std::string& path, int line, const std::string& what) {
  throw UsageError(path + ":" + std::to_string(line) + ": " + what);
}

template <class Profile>
void store(const std::string& path, const Parameter& parameter, std::span<const Key<Profile>> keys,
           Profile& profile) {
  std::string names;
  for (const Key<Profile>& key : keys) {
    if (key.name != parameter.key) {
      names += (names.empty() ? "" : ", ") + std::string(key.name);
      continue;
    }
    try {
      std::visit([&](auto* value) { parse(parameter.value, key.unit, *value); },
                 key.place(profile));
    } catch (const std::logic_error& error) {
      const std::string what = error.what();
      fail(path, parameter.line,
           parameter.key + ": " +
               (what.starts_with("number ") ? what : "'" + parameter.value + "'") +
               " is not allowed; allowed: " + std::string(allowed(key.unit)));
    }
    return;
  }
  fail(path, parameter.line, parameter.key + ": unknown; allowed: " + names);
}

// Every SM once, and a half and a size for every GPC.
void check_layout(const Gpu& gpu, const std::string& path) {
  const SmLayout& layout = gpu.layout;
  if (layout.gpc_sms.empty() && layout.gpc_half.empty() && layout.cta_order.empty()) return;
  int64_t sms = 0;
  for (const int64_t of_gpc : layout.gpc_sms) sms += of_gpc;
  if (sms != gpu.sms)
    throw UsageError(path + ": gpc-sms: has " + std::to_string(sms) + " SMs, sms " +
                     std::to_string(gpu.sms));
  if (layout.gpc_half.size() != layout.gpc_sms.size())
    throw UsageError(path + ": gpc-half: needs a half for each GPC of gpc-sms");
  std::vector<std::vector<int>> visits;
  for (const int64_t of_gpc : layout.gpc_sms)
    visits.emplace_back(static_cast<size_t>(of_gpc / 2), 0);
  for (const sim::TpcRun& run : layout.cta_order) {
    if (run.gpc >= static_cast<int>(visits.size()))
      throw UsageError(path + ": cta-order: there is no GPC " + std::to_string(run.gpc));
    std::vector<int>& tpcs = visits[static_cast<size_t>(run.gpc)];
    const size_t end = run.tpcs > 0 ? static_cast<size_t>(run.first_tpc + run.tpcs) : tpcs.size();
    if (end > tpcs.size())
      throw UsageError(path + ": cta-order: GPC " + std::to_string(run.gpc) + " has " +
                       std::to_string(tpcs.size()) + " TPCs");
    for (auto tpc = static_cast<size_t>(run.first_tpc); tpc < end; ++tpc) ++tpcs[tpc];
  }
  for (const std::vector<int>& tpcs : visits)
    for (const int count : tpcs)
      if (count < 1 || count != visits.front().front())
        throw UsageError(path + ": cta-order: needs each TPC once, or each one equally often");
}

template <class Profile>
ProfileFile checked_file(const std::string& path, std::string_view kind,
                         std::span<const Key<Profile>> keys) {
  ProfileFile file = read_profile_file(path, kind);
  for (const ProfileSection& section : file.sections) {
    if (section.name != kind && !parse_kernel_scope(section.name))
      fail(path, section.line,
           "[" + section.name + "] is no kernel; allowed: every, d>64, d128-128x64 and the like");
    for (const Parameter& parameter : section.parameters) {
      Profile tried;
      store(path, parameter, keys, tried);
    }
  }
  return file;
}

template <class Profile>
void set(const ProfileFile& file, const KernelShape& kernel, std::span<const Key<Profile>> keys,
         Profile& profile) {
  for (const ProfileSection& section : file.sections) {
    const auto scope = parse_kernel_scope(section.name);  // none: of the die or file as a whole
    if (scope && !scope->holds(kernel.head_dim, kernel.tiling, kernel.own)) continue;
    for (const Parameter& parameter : section.parameters)
      store(file.path, parameter, keys, profile);
  }
}

}  // namespace

GpuFile read_gpu_file(const std::string& path) {
  const ProfileFile file = read_profile_file(path, "gpu");
  GpuFile gpu{
      file.word("description"), file.word("kernel-costs"), {}, file.sections.front().parameters};
  gpu.profile.name = stem_of(path);
  if (file.sections.size() > 1)
    fail(path, file.sections[1].line, "[" + file.sections[1].name + "]: [gpu] is all there is");
  for (const Parameter& parameter : gpu.parameters)
    store(path, parameter, std::span<const Key<Gpu>>(gpu_keys), gpu.profile);
  if (gpu.description.empty()) throw UsageError(path + ": [gpu] has no description");
  if (gpu.profile.sms == 0) throw UsageError(path + ": sms is missing");
  if (gpu.profile.l2_bytes == 0) throw UsageError(path + ": l2-bytes is missing");
  check_layout(gpu.profile, path);
  return gpu;
}

ProfileFile read_die_file(const std::string& path) {
  return checked_file(path, "die", std::span<const Key<Die>>(die_keys));
}

ProfileFile read_kernel_file(const std::string& path) {
  return checked_file(path, "kernel", std::span<const Key<KernelCost>>(kernel_keys));
}

void set_die(const ProfileFile& file, const KernelShape& kernel, Die& die) {
  set(file, kernel, std::span<const Key<Die>>(die_keys), die);
}

void set_kernel_cost(const ProfileFile& file, const KernelShape& kernel, KernelCost& cost) {
  set(file, kernel, std::span<const Key<KernelCost>>(kernel_keys), cost);
}

}  // namespace sawtooth::experiments
