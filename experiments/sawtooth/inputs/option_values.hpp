// Values as text, and what they mean. Every option has one canonical spelling (128K is 131072),
// so that two ways to write one point give the same row.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/sawtooth/inputs/option_schema.hpp"
#include "experiments/sawtooth/support/text.hpp"
#include "scheduler/mask.hpp"

namespace sawtooth::experiments {

/// Heads of a section as they are asked for.
struct Section {
  int64_t heads = 1;
  bool all = false;
  bool by_part = false;    // each part of L2 has whole heads
  int64_t auto_bytes = 0;  // above 0: as many as have their K/V in so many bytes
};

/// The canonical spelling; throws std::invalid_argument with what is allowed.
std::string canonical_value(const OptionSpec& option, std::string_view text);

/// The values of one part of an axis: itself, or those of a range BEGIN..END[:STEP] of a count, of
/// bytes or of seeds, END included where a step reaches it, each in its canonical spelling. Throws
/// std::invalid_argument with what is allowed.
std::vector<std::string> axis_values(const OptionSpec& option, std::string_view text);

/// What the option allows, as the end of an error message: "one of none, causal ...".
std::string allowed_values(const OptionSpec& option);
/// "N", "BYTES", "FILE", as help calls its value; empty for a toggle.
std::string_view value_name(const OptionSpec& option);

/// A mask by its words: of kind `listed` the canonical text says which (listed_mask.hpp).
struct NamedMask : Mask {
  std::string listed;
};

/// Throws std::invalid_argument.
NamedMask parse_mask(std::string_view text);
std::string value_text(const NamedMask& mask);

/// A whole number of heads from 1 on, all, or auto:BYTES; throws std::invalid_argument.
Section parse_section(std::string_view text);
std::string value_text(const Section& section);

inline constexpr std::string_view window_prefix = "window:";
inline constexpr std::string_view auto_prefix = "auto:";

/// The columns of results.csv that can be compared: counters, time_us and tflops.
std::vector<std::string_view> comparable_columns();

/// How large an error may be: one share for all counters, or one a counter.
class Tolerances {
 public:
  /// "5%", "0.05", or "dram_read_sectors=3%,time_us=5%"; throws std::invalid_argument.
  static Tolerances parse(std::string_view text);

  /// The largest error that passes, or nothing where this counter is not judged.
  std::optional<double> of(std::string_view counter) const;

 private:
  std::optional<double> all_;
  std::map<std::string, double, std::less<>> by_counter_;
};

}  // namespace sawtooth::experiments
