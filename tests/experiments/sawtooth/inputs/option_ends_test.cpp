// Every number that a point takes, at both ends of what is allowed: one beyond is refused, and what
// is allowed predicts counts that hold whatever the point is, or says what cannot be run. With
// sanitizers no sum on the way overflows.
#include <cmath>

#include <gmock/gmock.h>

#include "experiments/sawtooth/inputs/models.hpp"
#include "experiments/sawtooth/inputs/point.hpp"
#include "experiments/sawtooth/support/text.hpp"
#include "scheduler/memory_units.hpp"

namespace sawtooth::experiments {
namespace {

using testing::HasSubstr;

bool is_number(const OptionSpec& option) {
  return option.group != OptionGroup::output &&
         (option.kind == OptionKind::count || option.kind == OptionKind::bytes);
}

std::string refusal_of(const OptionSpec& option, int64_t value) {
  try {
    canonical_value(option, std::to_string(value));
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

TEST(OptionEnds, OneBeyondIsRefused) {
  size_t numbers = 0;
  for (const OptionSpec& option : option_table()) {
    if (!is_number(option)) continue;
    SCOPED_TRACE(option.key);
    ++numbers;
    EXPECT_EQ(refusal_of(option, option.low), "");
    EXPECT_EQ(refusal_of(option, option.high), "");
    EXPECT_THAT(refusal_of(option, option.high + 1), HasSubstr("is not allowed; allowed: "));
    EXPECT_THAT(refusal_of(option, option.low - 1), HasSubstr("is not allowed; allowed: "));
  }
  EXPECT_GE(numbers, 20u);
}

void expect_counts(const Point& point) {
  const sim::Prediction prediction = predict(point.request, point.gpu, *point.keys.l2);
  const sim::Counters& all = prediction.total;
  for (const sim::CounterColumn& column : sim::counter_columns)
    EXPECT_GE((all.*column.member).value_or(0), 0) << column.name;
  // Each row of Q, K and V comes from memory once at least.
  const Problem& problem = point.request.problem;
  const int64_t bytes = problem.heads * problem.seq_q * problem.row_bytes() +
                        problem.kv_heads * problem.kv_head_bytes();
  EXPECT_EQ(all.cold_read_sectors, problem.batch * bytes / sector_bytes);
  EXPECT_GE(all.sm_read_sectors, all.cold_read_sectors);
  EXPECT_GE(all.dram_read_sectors, all.cold_read_sectors);
  const double us = prediction.time_us.value_or(1);
  EXPECT_TRUE(std::isfinite(us) && us > 0);
}

// A point with tiles, heads and workers that are more than one, under a model of L2 and of time.
void try_end(const std::string& key, const std::string& value, const std::string& timing,
             const std::string& l2) {
  SCOPED_TRACE(testing::Message() << key << " = " << value << ", " << timing << ", " << l2);
  static Catalog catalog;
  Settings given;
  for (const auto& [name, text] : {std::pair<std::string, std::string>{"gpu", "h200"},
                                   {"seq-q", "96"},
                                   {"seq-kv", "160"},
                                   {"mask", "causal"},
                                   {"tile-q", "64"},
                                   {"tile-kv", "64"},
                                   {"workers", "3"},
                                   {"timing", timing},
                                   {"l2", l2},
                                   {key, value}}) {
    const bool replaced = key == "seq" && name.starts_with("seq-");
    if (!replaced) assign(given, name, text, {});
  }
  try {
    expect_counts(resolve(given, catalog));
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), testing::StartsWith("--"));  // the option
  } catch (const std::invalid_argument& error) {           // what a model cannot do
    EXPECT_THAT(error.what(), HasSubstr("allowed"));
  }
}

TEST(OptionEnds, BothArePredictedOrNameWhatIsAllowed) {
  for (const OptionSpec& option : option_table()) {
    if (!is_number(option)) continue;
    const bool heads =
        option.key == "batch" || option.key == "heads" || option.key == "kv-heads";  // 2^20 of them
    for (const int64_t end : {option.low, option.high}) {
      const std::string value = std::to_string(end);
      try_end(std::string(option.key), value, "lockstep", "lru");
      if (heads) continue;
      for (const char* l2 : {"sets", "opt", "halves"})
        try_end(std::string(option.key), value, "lockstep", l2);
      try_end(std::string(option.key), value, "timed", "halves");
    }
  }
}

TEST(OptionEnds, WindowsSharesSeedsAndSectionsToo) {
  for (const auto& [key, value] : {std::pair<std::string, std::string>{"mask", "window:1"},
                                   {"mask", "window:1024G"},
                                   {"age-bias", "1"},
                                   {"age-bias", "1e-9"},
                                   {"seed", "0"},
                                   {"seed", "9223372036854775807"},
                                   {"section", "1"},
                                   {"section", "9223372036854775807"},
                                   {"section", "auto:1"},
                                   {"section", "auto:1024GiB"}}) {
    try_end(key, value, "lockstep", "lru");
    try_end(key, value, "timed", "halves");
  }
}

}  // namespace
}  // namespace sawtooth::experiments
