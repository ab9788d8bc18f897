#include "experiments/sawtooth/inputs/profiles.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <optional>
#include <span>
#include <stdexcept>
#include <variant>

#include "experiments/sawtooth/inputs/models.hpp"
#include "experiments/sawtooth/inputs/option_values.hpp"
#include "experiments/sawtooth/support/resources.hpp"
#include "experiments/sawtooth/support/text.hpp"
#include "experiments/sawtooth/support/usage_error.hpp"
#include "sim/timed/placement.hpp"

namespace sawtooth::experiments {
namespace {

using sim::Die;
using sim::Gpu;
using sim::KernelCost;
using sim::PrefetchTimes;
using sim::SmLayout;

enum class Unit { count, bytes, real, flag, line, runs, turns, rates };

using Place =
    std::variant<int64_t*, double*, bool*, std::optional<int64_t>*, std::optional<double>*,
                 std::vector<int64_t>*, std::vector<double>*, std::vector<sim::TpcRun>*,
                 std::vector<std::vector<int>>*, sim::LinkRates*>;

template <class Profile>
struct Key {
  std::string_view name;
  Unit unit;
  // The least and the most of a number: a factor of some ten beyond what GPUs have had, or what
  // the models can take.
  double low;
  double high;
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

constexpr double kibi = 1024, mebi = 1024 * kibi, gibi = 1024 * mebi;

constexpr auto gpu_keys = std::to_array<Key<Gpu>>({
    {"sms", Unit::count, 1, 1024, gpu<&Gpu::sms>},
    {"l2-bytes", Unit::bytes, 64 * kibi, 64 * gibi, gpu<&Gpu::l2_bytes>},
    {"l2-halves", Unit::count, 1, 2, gpu<&Gpu::l2_halves>},
    {"l2-ways", Unit::count, 1, 256, gpu<&Gpu::l2_ways>},
    {"l2-dirty-ways", Unit::count, 1, 256, gpu<&Gpu::l2_dirty_ways>},
    {"l2-line-bytes", Unit::line, 32, 128, gpu<&Gpu::l2_line_bytes>},
    {"shared-memory-block-bytes", Unit::bytes, 1 * kibi, 64 * mebi,
     gpu<&Gpu::shared_memory_block_bytes>},
    {"l2-reserved-share", Unit::real, 0, 0.5, gpu<&Gpu::l2_reserved_share>},
    {"l2-scattered-share", Unit::real, 0, 1, gpu<&Gpu::l2_scattered_share>},
    {"l2-running-share", Unit::real, 0.001, 1, gpu<&Gpu::l2_running_share>},
    {"far-first-waiting-share", Unit::real, 0, 1, gpu<&Gpu::far_first_waiting_share>},
    {"far-first-running-share", Unit::real, 0, 1, gpu<&Gpu::far_first_running_share>},
    {"coalescer-waiting-share", Unit::real, 0.001, 1, gpu<&Gpu::coalescer_waiting_share>},
    {"coalescer-running-share", Unit::real, 0.001, 1, gpu<&Gpu::coalescer_running_share>},
    {"coalescer-sms", Unit::count, 1, 64, gpu<&Gpu::coalescer_sms>},
    {"dram-gb-per-s", Unit::real, 1, 1e6, gpu<&Gpu::dram_gb_per_s>},
    {"l2-gb-per-s", Unit::real, 1, 1e6, gpu<&Gpu::l2_gb_per_s>},
    {"fabric-gb-per-s", Unit::real, 1, 1e6, gpu<&Gpu::fabric_gb_per_s>},
    {"port-gb-per-s", Unit::real, 0.1, 1e5, gpu<&Gpu::port_gb_per_s>},
    {"tile-gb-per-s", Unit::real, 0.1, 1e5, gpu<&Gpu::tile_gb_per_s>},
    {"sm-clock-mhz", Unit::real, 10, 1e5, gpu<&Gpu::sm_clock_mhz>},
    {"bf16-tflops", Unit::real, 0.01, 1e6, gpu<&Gpu::bf16_tflops>},
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
    {"start-spread-ns", Unit::real, 0, 1e6, gpu<&Gpu::start_spread_ns>},
    {"start-uneven-share", Unit::real, 0, 1, gpu<&Gpu::start_uneven_share>},
    {"refill-ns", Unit::real, 0, 1e6, gpu<&Gpu::refill_ns>},
    {"ticket-hop-ns", Unit::real, 0, 1e5, gpu<&Gpu::ticket_hop_ns>},
    {"power-delay-ms", Unit::real, 0, 1e6, gpu<&Gpu::power_delay_ms>},
    {"power-fall-ms", Unit::real, 0, 1e6, gpu<&Gpu::power_fall_ms>},
});

constexpr auto die_keys = std::to_array<Key<Die>>({
    {"slowness", Unit::real, -0.5, 0.5, die<&Die::sm_slowness>},
    {"slowness-older", Unit::real, -0.5, 0.5, die<&Die::sm_slowness_older>},
    {"slowness-younger", Unit::real, -0.5, 0.5, die<&Die::sm_slowness_younger>},
    {"cta-half", Unit::count, 0, 1, die<&Die::cta_half>},
    {"sm-half", Unit::count, 0, 1, die<&Die::sm_half>},
    {"ticket-half", Unit::count, 0, 1, die<&Die::ticket_half>},
});

constexpr auto kernel_keys = std::to_array<Key<KernelCost>>({
    {"tensor-tflops", Unit::real, 0.01, 1e6, cost<&KernelCost::tensor_tflops>},
    {"exp-tera-per-s", Unit::real, 0.001, 1e5, cost<&KernelCost::exp_tera_per_s>},
    {"tensor-share", Unit::real, 0, 1, cost<&KernelCost::tensor_share>},
    {"exp-per-clock", Unit::real, 0, 1024, cost<&KernelCost::exp_per_clock>},
    {"fixed-ns", Unit::real, 0, 1e6, cost<&KernelCost::fixed_ns>},
    {"exposed-ns", Unit::real, 0, 1e6, cost<&KernelCost::exposed_ns>},
    {"step-ns", Unit::real, 1, 1e9, cost<&KernelCost::step_ns>},
    {"jitter", Unit::real, 0, 0.2, cost<&KernelCost::jitter>},
    {"jitter-shared", Unit::real, 0, 0.2, cost<&KernelCost::jitter_shared>},
    {"jitter-in-step", Unit::real, 0, 0.2, cost<&KernelCost::jitter_in_step>},
    {"jitter-by-age", Unit::real, 0, 1, cost<&KernelCost::jitter_by_age>},
    {"age-bias", Unit::real, -0.9, 0.9, cost<&KernelCost::age_bias>},
    {"age-bias-prefetch", Unit::real, -0.9, 0.9, cost<&KernelCost::age_bias_prefetch>},
    {"keep-step", Unit::flag, 0, 1, cost<&KernelCost::keep_step>},
    {"resident-ctas", Unit::count, 1, 32, cost<&KernelCost::resident_ctas>},
    {"tpc-spread", Unit::real, -0.2, 0.2, cost<&KernelCost::tpc_spread>},
    {"tpc-spread-prefetch", Unit::real, -0.2, 0.2, cost<&KernelCost::tpc_spread_prefetch>},
    {"prefetch-step-ns", Unit::real, -1000, 1e5,
     cost<&KernelCost::prefetch, &PrefetchTimes::step_ns>},
    {"prefetch-lines-ns", Unit::real, -1000, 1e5,
     cost<&KernelCost::prefetch, &PrefetchTimes::lines_ns>},
    {"prefetch-step-shared-ns", Unit::real, -1000, 1e5,
     cost<&KernelCost::prefetch_shared, &PrefetchTimes::step_ns>},
    {"prefetch-lines-shared-ns", Unit::real, -1000, 1e5,
     cost<&KernelCost::prefetch_shared, &PrefetchTimes::lines_ns>},
    {"prefetch-lines-bias", Unit::real, -0.4, 0.4, cost<&KernelCost::prefetch_lines_bias>},
    {"item-begin-ns", Unit::real, 0, 1e6, cost<&KernelCost::item_begin_ns>},
    {"item-end-ns", Unit::real, 0, 1e6, cost<&KernelCost::item_end_ns>},
    {"item-spread-ns", Unit::real, -1e6, 1e6, cost<&KernelCost::item_spread_ns>},
    {"stages", Unit::count, 1, 8, cost<&KernelCost::stages>},
    {"lead-k-steps", Unit::real, 0, 7, cost<&KernelCost::lead_k_steps>},
    {"lead-v-steps", Unit::real, 0, 7, cost<&KernelCost::lead_v_steps>},
    {"waits-a-tile", Unit::real, 1, 64, cost<&KernelCost::waits_a_tile>},
    {"exposure-error", Unit::real, 0, 10, cost<&KernelCost::exposure_error>},
    {"power-slowness", Unit::real, 0, 4, cost<&KernelCost::power_slowness>},
    {"spill-bytes", Unit::bytes, 1, 1 * gibi, cost<&KernelCost::spill_bytes>},
});

[[noreturn]] void refuse(std::string_view text) {
  throw std::invalid_argument("'" + std::string(text) + "'");
}

/// What a key allows, without its place.
struct Bounds {
  Unit unit;
  double low;
  double high;

  std::string text(bool is_list) const {
    const std::string range = " from " + shortest(low) + " to " + shortest(high);
    switch (unit) {
      case Unit::count:
        return (is_list ? "whole numbers" : "a whole number") + range +
               (is_list ? ", separated by commas" : "");
      case Unit::bytes:
        return "bytes" + range + ", such as 24MiB";
      case Unit::real:
        return (is_list ? "numbers" : "a number") + range +
               (is_list ? ", separated by commas" : "");
      case Unit::flag:
        return "on, off";
      case Unit::line:
        return "32, 64, 128";
      case Unit::runs:
        return "GPCs and, after a colon, TPCs of them, such as 0:4-7, separated by commas";
      case Unit::rates:
        return "numbers" + range +
               " behind the bytes of a message and a colon, such as 8MiB:164, in rising order, "
               "separated by commas";
      case Unit::turns:
        return "for each size of a GPC the turns of its TPCs, each from 0 on once, separated by "
               "commas, sizes by /";
    }
    return {};
  }

  template <class Number>
  Number checked(Number value, std::string_view text) const {
    if (!(double(value) >= low && double(value) <= high)) refuse(text);
    return value;
  }
};

template <class Number>
Number number_of(std::string_view text) {
  Number number = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || stop != text.data() + text.size()) refuse(text);
  return number;
}

void parse(std::string_view text, const Bounds& bounds, int64_t& value) {
  if (bounds.unit == Unit::count && text.size() > 1 && text.front() == '0') refuse(text);
  value = bounds.checked(bounds.unit == Unit::bytes ? parse_bytes(text) : parse_count(text), text);
  if (bounds.unit == Unit::line && !std::has_single_bit(static_cast<uint64_t>(value))) refuse(text);
}

void parse(std::string_view text, const Bounds& bounds, double& value) {
  value = bounds.checked(number_of<double>(text), text);
}

void parse(std::string_view text, const Bounds&, bool& value) {
  if (text != "on" && text != "off") refuse(text);
  value = text == "on";
}

void parse(std::string_view text, const Bounds& bounds, int& value) {
  value = bounds.checked(number_of<int>(text), text);
}

// A GPC, or a GPC and the first and the last of its TPCs.
void parse(std::string_view text, const Bounds& bounds, sim::TpcRun& run) {
  const size_t colon = text.find(':'), dash = text.find('-');
  parse(text.substr(0, colon), bounds, run.gpc);
  if (colon == std::string_view::npos) return;
  if (dash == std::string_view::npos || dash < colon) refuse(text);
  int last_tpc = 0;
  parse(text.substr(colon + 1, dash - colon - 1), bounds, run.first_tpc);
  parse(text.substr(dash + 1), bounds, last_tpc);
  run.tpcs = last_tpc - run.first_tpc + 1;
  if (run.tpcs < 1) refuse(text);
}

void parse(std::string_view text, const Bounds& bounds, sim::LinkRate& rate) {
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos) refuse(text);
  rate.bytes = parse_bytes(text.substr(0, colon));
  if (rate.bytes < 1) refuse(text);
  parse(text.substr(colon + 1), bounds, rate.gb_per_s);
}

template <class Value>
void parse(std::string_view text, const Bounds& bounds, std::optional<Value>& value) {
  parse(text, bounds, value.emplace());
}

template <class Value>
void parse(std::string_view text, const Bounds& bounds, std::vector<Value>& values) {
  values.clear();
  for (const std::string& part : split_list(text)) {
    try {
      parse(part, bounds, values.emplace_back());
    } catch (const std::logic_error&) {
      throw std::invalid_argument("number " + std::to_string(values.size()));
    }
  }
}

void parse(std::string_view text, const Bounds& bounds, std::vector<std::vector<int>>& lists) {
  lists.clear();
  while (true) {
    const size_t end = text.find('/');
    parse(text.substr(0, end), bounds, lists.emplace_back());
    std::vector<int> turns = lists.back();
    std::sort(turns.begin(), turns.end());
    for (size_t turn = 0; turn < turns.size(); ++turn)
      if (turns[turn] != static_cast<int>(turn)) refuse(text);
    if (end == std::string_view::npos) return;
    text.remove_prefix(end + 1);
  }
}

template <class Value>
constexpr bool is_list(const std::vector<Value>*) {
  return true;
}
template <class Value>
constexpr bool is_list(const Value*) {
  return false;
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
    const Bounds bounds{key.unit, key.low, key.high};
    const Place place = key.place(profile);
    try {
      std::visit([&](auto* value) { parse(parameter.value, bounds, *value); }, place);
    } catch (const std::logic_error& error) {
      const std::string what = error.what();
      fail_at(path, parameter.line,
              parameter.key + ": " +
                  (what.starts_with("number ") ? what : "'" + parameter.value + "'") +
                  " is not allowed; allowed: " +
                  bounds.text(std::visit([](auto* value) { return is_list(value); }, place)));
    }
    return;
  }
  fail_at(path, parameter.line, parameter.key + ": unknown; allowed: " + names);
}

// Every SM once, and a half and a size for every GPC.
void check_layout(const Gpu& gpu, const std::string& path) {
  const SmLayout& layout = gpu.layout;
  if (layout.gpc_sms.empty() && layout.gpc_half.empty() && layout.cta_order.empty()) return;
  int64_t sms = 0;
  for (const int64_t of_gpc : layout.gpc_sms) {
    if (of_gpc % sim::sms_a_tpc != 0)
      throw UsageError(path + ": gpc-sms: '" + std::to_string(of_gpc) +
                       "' is not allowed; allowed: even numbers, a TPC has two SMs");
    sms += of_gpc;
  }
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

// What two keys forbid each other.
void check_pairs(const Gpu& gpu, const std::string& path) {
  for (const sim::LinkRates* rates : {&gpu.link_copy, &gpu.link_nccl})
    for (size_t i = 1; i < rates->size(); ++i)
      if ((*rates)[i].bytes <= (*rates)[i - 1].bytes)
        throw UsageError(path +
                         ": link-copy-gb-per-s, link-nccl-gb-per-s: sizes rise from one to "
                         "the next");
  const double reserved = gpu.l2_reserved_share.value_or(0);
  const int64_t ways = gpu.l2_ways.value_or(1);
  if (reserved > 0 && (ways < 2 || reserved * double(ways) >= 1))
    throw UsageError(path + ": l2-reserved-share: " + shortest(reserved) + " leaves sets of " +
                     std::to_string(ways) + " ways without one; allowed: 0, or below 1 / l2-ways " +
                     "with l2-ways from 2 on");
  if (gpu.l2_dirty_ways && *gpu.l2_dirty_ways > ways)
    throw UsageError(path + ": l2-dirty-ways: " + std::to_string(*gpu.l2_dirty_ways) +
                     " is not allowed; allowed: up to l2-ways = " + std::to_string(ways));
  if (gpu.latency_near_ns && gpu.latency_far_ns && *gpu.latency_far_ns < *gpu.latency_near_ns)
    throw UsageError(path + ": latency-far-ns: " + shortest(*gpu.latency_far_ns) +
                     " is not allowed; allowed: from latency-near-ns = " +
                     shortest(*gpu.latency_near_ns) + " on");
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

template <class Profile>
ProfileFile checked_file(const std::string& path, std::string_view kind,
                         std::span<const Key<Profile>> keys) {
  ProfileFile file = read_profile_file(path, kind);
  for (const ProfileSection& section : file.sections) {
    if (section.name != kind && !parse_kernel_scope(section.name))
      fail_at(
          path, section.line,
          "[" + section.name + "] is no kernel; allowed: every, d>64, d128-128x64 and the like");
    for (const Parameter& parameter : section.parameters) {
      Profile tried;
      store(path, parameter, keys, tried);
    }
  }
  return file;
}

std::string family_of(const ProfileFile& file) {
  const std::string family = file.word("family");
  return family.empty() ? std::string(usual_family) : family;
}

bool holds(const KernelScope& scope, const ProfileFile& file, const KernelShape& kernel) {
  return scope.holds(kernel.head_dim, kernel.tiling, kernel.family == family_of(file));
}

template <class Profile>
void set(const ProfileFile& file, const KernelShape& kernel, std::span<const Key<Profile>> keys,
         Profile& profile) {
  for (const ProfileSection& section : file.sections) {
    const auto scope = parse_kernel_scope(section.name);  // none: of the die or file as a whole
    if (scope && !holds(*scope, file, kernel)) continue;
    for (const Parameter& parameter : section.parameters)
      store(file.path, parameter, keys, profile);
  }
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
    JudgedModels& models =
        dash == std::string::npos ? gpu : gpu.families[section.name.substr(dash + 1)];
    if (what == "judged") {
      models.judged = section.parameters;
      for (const Parameter& model : models.judged) check_model(path, model);
    } else if (what == "intervals") {
      for (const Parameter& parameter : section.parameters)
        models.intervals.push_back(parse_interval_width(path, parameter));
    } else {
      fail_at(path, section.line,
              "[" + section.name +
                  "]: unknown; allowed: gpu, judged, intervals, judged-FAMILY, intervals-FAMILY");
    }
  }
  for (const Parameter& parameter : gpu.parameters)
    store(path, parameter, std::span<const Key<Gpu>>(gpu_keys), gpu.profile);
  if (gpu.description.empty()) throw UsageError(path + ": [gpu] has no description");
  if (gpu.profile.sms == 0) throw UsageError(path + ": sms is missing");
  if (gpu.profile.l2_bytes == 0) throw UsageError(path + ": l2-bytes is missing");
  check_layout(gpu.profile, path);
  check_pairs(gpu.profile, path);
  return gpu;
}

ProfileFile read_die_file(const std::string& path) {
  return checked_file(path, "die", std::span<const Key<Die>>(die_keys));
}

ProfileFile read_kernel_file(const std::string& path) {
  return checked_file(path, "kernel", std::span<const Key<KernelCost>>(kernel_keys));
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

void set_die(const ProfileFile& file, const KernelShape& kernel, Die& die) {
  set(file, kernel, std::span<const Key<Die>>(die_keys), die);
}

void set_kernel_cost(const ProfileFile& file, const KernelShape& kernel, KernelCost& cost) {
  set(file, kernel, std::span<const Key<KernelCost>>(kernel_keys), cost);
}

}  // namespace sawtooth::experiments
