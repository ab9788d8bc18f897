#include "experiments/sawtooth/inputs/gpu_file.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <stdexcept>
#include <variant>

#include "experiments/sawtooth/inputs/kernel_shape.hpp"
#include "experiments/sawtooth/inputs/option_values.hpp"
#include "experiments/sawtooth/support/ini.hpp"
#include "experiments/sawtooth/support/resources.hpp"
#include "experiments/sawtooth/support/usage_error.hpp"

namespace sawtooth::experiments {
namespace {

using sim::GpuProfile;

enum class Unit { count, bytes, number, share, real };

struct ParameterSpec {
  std::string_view key;
  Unit unit;
  std::variant<int64_t GpuProfile::*, std::optional<int64_t> GpuProfile::*,
               std::optional<double> GpuProfile::*>
      field;
};

constexpr auto table = std::to_array<ParameterSpec>({
    {"sms", Unit::count, &GpuProfile::sms},
    {"l2-bytes", Unit::bytes, &GpuProfile::l2_bytes},
    {"l2-halves", Unit::count, &GpuProfile::l2_halves},
    {"l2-slices", Unit::count, &GpuProfile::l2_slices},
    {"l2-ways", Unit::count, &GpuProfile::l2_ways},
    {"l2-line-bytes", Unit::bytes, &GpuProfile::l2_line_bytes},
    {"l2-shared-kept-bytes", Unit::bytes, &GpuProfile::l2_shared_kept_bytes},
    {"l2-private-kept-bytes", Unit::bytes, &GpuProfile::l2_private_kept_bytes},
    {"l2-reserved-share", Unit::share, &GpuProfile::l2_reserved_share},
    {"l2-scattered-share", Unit::share, &GpuProfile::l2_scattered_share},
    {"far-first-waiting-share", Unit::share, &GpuProfile::far_first_waiting_share},
    {"far-first-running-share", Unit::share, &GpuProfile::far_first_running_share},
    {"coalescer-waiting-share", Unit::share, &GpuProfile::coalescer_waiting_share},
    {"coalescer-running-share", Unit::share, &GpuProfile::coalescer_running_share},
    {"dram-gb-per-s", Unit::number, &GpuProfile::dram_gb_per_s},
    {"l2-gb-per-s", Unit::number, &GpuProfile::l2_gb_per_s},
    {"fabric-gb-per-s", Unit::number, &GpuProfile::fabric_gb_per_s},
    {"sm-clock-mhz", Unit::number, &GpuProfile::sm_clock_mhz},
    {"bf16-tflops", Unit::number, &GpuProfile::bf16_tflops},
    {"latency-near-ns", Unit::number, &GpuProfile::latency_near_ns},
    {"latency-far-ns", Unit::number, &GpuProfile::latency_far_ns},
    {"latency-dram-ns", Unit::number, &GpuProfile::latency_dram_ns},
    {"coalescer-sms", Unit::count, &GpuProfile::coalescer_sms},
    {"port-gb-per-s", Unit::number, &GpuProfile::port_gb_per_s},
    {"step-tensor-tflops", Unit::number, &GpuProfile::step_tensor_tflops},
    {"step-exp-tera-per-s", Unit::number, &GpuProfile::step_exp_tera_per_s},
    {"step-fixed-ns", Unit::number, &GpuProfile::step_fixed_ns},
    {"step-exposed-ns", Unit::number, &GpuProfile::step_exposed_ns},
    {"step-jitter", Unit::number, &GpuProfile::step_jitter},
    {"step-jitter-shared", Unit::number, &GpuProfile::step_jitter_shared},
    {"step-jitter-shared-wide", Unit::number, &GpuProfile::step_jitter_shared_wide},
    {"step-jitter-in-step", Unit::number, &GpuProfile::step_jitter_in_step},
    {"item-begin-ns", Unit::number, &GpuProfile::item_begin_ns},
    {"item-end-ns", Unit::number, &GpuProfile::item_end_ns},
    {"item-spread-ns", Unit::number, &GpuProfile::item_spread_ns},
    {"prefetch-step-ns", Unit::real, &GpuProfile::prefetch_step_ns},
    {"prefetch-lines-ns", Unit::real, &GpuProfile::prefetch_lines_ns},
    {"prefetch-step-shared-ns", Unit::real, &GpuProfile::prefetch_step_shared_ns},
    {"prefetch-lines-shared-ns", Unit::real, &GpuProfile::prefetch_lines_shared_ns},
    {"prefetch-lines-bias", Unit::real, &GpuProfile::prefetch_lines_bias},
    {"sm-spread", Unit::number, &GpuProfile::sm_spread},
    {"tpc-spread", Unit::real, &GpuProfile::tpc_spread},
    {"tpc-spread-prefetch", Unit::real, &GpuProfile::tpc_spread_prefetch},
    {"age-bias", Unit::number, &GpuProfile::age_bias},
    {"age-bias-wide", Unit::number, &GpuProfile::age_bias_wide},
    {"age-bias-prefetch", Unit::number, &GpuProfile::age_bias_prefetch},
    {"launch-ns", Unit::number, &GpuProfile::launch_ns},
    {"start-spread-ns", Unit::number, &GpuProfile::start_spread_ns},
    {"ticket-hop-ns", Unit::number, &GpuProfile::ticket_hop_ns},
    {"refill-ns", Unit::number, &GpuProfile::refill_ns},
    {"shared-memory-block-bytes", Unit::bytes, &GpuProfile::shared_memory_block_bytes},
    {"registers-per-sm", Unit::count, &GpuProfile::registers_per_sm},
    {"threads-per-sm", Unit::count, &GpuProfile::threads_per_sm},
});
constexpr auto sources =
    std::to_array<std::string_view>({"datasheet", "measured", "published", "assumed"});
constexpr std::string_view head_section = "gpu";
constexpr auto head_keys =
    std::to_array<std::string_view>({"description", "chip", "compute-capability"});

std::string at(const std::string& path, int line) {
  return path + ":" + std::to_string(line) + ": ";
}

template <class List>
std::string joined(const List& words) {
  std::string text;
  for (const auto& word : words) text += (text.empty() ? "" : ", ") + std::string(word);
  return text;
}

template <class List>
bool contains(const List& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

double parse_number(std::string_view text) {
  double number = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || stop != text.data() + text.size()) {
    throw std::invalid_argument("no number");
  }
  return number;
}

double parse_positive(std::string_view text) {
  const double number = parse_number(text);
  if (!(number > 0)) throw std::invalid_argument("no positive number");
  return number;
}

double parse_share(std::string_view text) {
  const double number = parse_number(text);
  if (!(number >= 0 && number <= 1)) throw std::invalid_argument("no share");
  return number;
}

int64_t parse_positive_count(std::string_view text) {
  const int64_t count = parse_count(text);
  if (count < 1) throw std::invalid_argument("no positive count");
  return count;
}

void store(GpuProfile& profile, const ParameterSpec& spec, std::string_view text) {
  const auto whole = [&] {
    return spec.unit == Unit::bytes ? parse_bytes(text) : parse_positive_count(text);
  };
  if (const auto* required = std::get_if<int64_t GpuProfile::*>(&spec.field)) {
    profile.** required = whole();
  } else if (const auto* count = std::get_if<std::optional<int64_t> GpuProfile::*>(&spec.field)) {
    profile.** count = whole();
  } else {
    profile.*std::get<std::optional<double> GpuProfile::*>(spec.field) =
        spec.unit == Unit::share  ? parse_share(text)
        : spec.unit == Unit::real ? parse_number(text)
                                  : parse_positive(text);
  }
}

// The three keys of a parameter's section, each exactly once.
GpuParameter parameter_of(const IniSection& section, const std::string& path) {
  GpuParameter parameter{section.name, "", "", ""};
  for (const IniEntry& entry : section.entries) {
    std::string* field = entry.key == "value"    ? &parameter.value
                         : entry.key == "source" ? &parameter.source
                         : entry.key == "note"   ? &parameter.note
                                                 : nullptr;
    if (field == nullptr) {
      throw UsageError(at(path, entry.line) + entry.key +
                       ": unknown; allowed: value, source, note");
    }
    if (!field->empty()) throw UsageError(at(path, entry.line) + entry.key + ": given twice");
    if (entry.key == "source" && !contains(sources, entry.value)) {
      throw UsageError(at(path, entry.line) + "source: '" + entry.value +
                       "' is not allowed; allowed: " + joined(sources));
    }
    *field = entry.value;
  }
  for (const auto& [key, value] :
       {std::pair{"value", &parameter.value}, std::pair{"source", &parameter.source},
        std::pair{"note", &parameter.note}}) {
    if (value->empty()) {
      throw UsageError(at(path, section.line) + "[" + section.name + "] has no " + key);
    }
  }
  return parameter;
}

void read_head(GpuFile& gpu, const IniSection& section, const std::string& path) {
  for (const IniEntry& entry : section.entries) {
    if (!contains(head_keys, entry.key)) {
      throw UsageError(at(path, entry.line) + entry.key +
                       ": unknown; allowed: " + joined(head_keys));
    }
    if (entry.key == "description") gpu.description = entry.value;
  }
}

/// Null: no parameter.
const ParameterSpec* spec_of(std::string_view key) {
  const auto spec = std::find_if(table.begin(), table.end(),
                                 [&](const ParameterSpec& p) { return p.key == key; });
  return spec == table.end() ? nullptr : &*spec;
}

void read_parameter(GpuFile& gpu, const IniSection& section, const std::string& path) {
  const SectionName name = split_section_name(section.name);
  const ParameterSpec* spec = spec_of(name.key);
  if (spec == nullptr) {
    throw UsageError(at(path, section.line) + "[" + section.name +
                     "]: unknown parameter; allowed: " + joined(gpu_parameter_keys()));
  }
  if (!name.kernel.empty() && !parse_kernel_shape(name.kernel)) {
    throw UsageError(at(path, section.line) + "[" + section.name + "]: '" +
                     std::string(name.kernel) + "' is no kernel; allowed: such as d128-128x64");
  }
  const GpuParameter parameter = parameter_of(section, path);
  for (const GpuParameter& earlier : gpu.parameters) {
    if (earlier.key == parameter.key) {
      throw UsageError(at(path, section.line) + "[" + section.name + "]: given twice");
    }
  }
  try {
    GpuProfile of_kernel;
    store(name.kernel.empty() ? gpu.profile : of_kernel, *spec, parameter.value);
  } catch (const std::logic_error&) {
    const std::string_view allowed = spec->unit == Unit::bytes   ? "bytes, such as 24 MiB"
                                     : spec->unit == Unit::count ? "a whole number from 1 on"
                                     : spec->unit == Unit::share ? "a number from 0 to 1"
                                     : spec->unit == Unit::real  ? "a number"
                                                                 : "a number above 0";
    throw UsageError(at(path, section.line) + "[" + section.name + "] value: '" + parameter.value +
                     "' is not allowed; allowed: " + std::string(allowed));
  }
  gpu.parameters.push_back(parameter);
}

}  // namespace

std::vector<std::string_view> gpu_parameter_keys() {
  std::vector<std::string_view> keys;
  for (const ParameterSpec& spec : table) keys.push_back(spec.key);
  return keys;
}

void set_kernel_parameters(const GpuFile& gpu, int64_t head_dim, const Tiling& tiling,
                           GpuProfile& profile) {
  for (const GpuParameter& parameter : gpu.parameters) {
    const SectionName name = split_section_name(parameter.key);
    const auto shape = parse_kernel_shape(name.kernel);
    if (shape && shape->is_of(head_dim, tiling))
      store(profile, *spec_of(name.key), parameter.value);
  }
}

GpuFile read_gpu_file(const std::string& path) {
  const IniFile file = read_ini(path);
  GpuFile gpu;
  gpu.profile.name = stem_of(path);
  for (const IniSection& section : file.sections) {
    if (section.name.empty()) {
      if (section.entries.empty()) continue;
      throw UsageError(at(path, section.entries.front().line) + section.entries.front().key +
                       ": stands before the first section; each parameter is a section");
    }
    if (section.name == head_section) {
      read_head(gpu, section, path);
    } else {
      read_parameter(gpu, section, path);
    }
  }
  if (gpu.description.empty()) throw UsageError(path + ": [gpu] has no description");
  if (gpu.profile.sms == 0) throw UsageError(path + ": section [sms] is missing");
  if (gpu.profile.l2_bytes == 0) throw UsageError(path + ": section [l2-bytes] is missing");
  return gpu;
}

}  // namespace sawtooth::experiments
