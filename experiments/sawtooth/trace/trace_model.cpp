#include "experiments/sawtooth/trace/trace_model.hpp"

#include <algorithm>
#include <array>

#include "experiments/sawtooth/inputs/models.hpp"
#include "experiments/sawtooth/inputs/option_values.hpp"
#include "experiments/sawtooth/support/usage_error.hpp"

namespace sawtooth::experiments {
namespace {

// Hints are here because they are priorities of tensors, which rows of a trace may name.
constexpr auto model_keys =
    std::to_array<std::string_view>({"l2", "l2-ways", "l2-line-bytes", "l2-hash", "l2-hash-matrix",
                                     "l2-policy", "l2-set-aside", "hints", "seed"});
constexpr auto replayed = std::to_array<std::string_view>({"lru", "sets", "opt"});

}  // namespace

bool is_trace_model_key(std::string_view key) {
  return std::ranges::find(model_keys, key) != model_keys.end();
}

TraceModel::TraceModel(const Settings& given, const sim::Gpu& gpu, int64_t l2_bytes) {
  const auto fail = [&](const std::string& key, const std::string& what) {
    const auto written = given.find(key);
    throw UsageError(place_of(key, written == given.end() ? Origin() : written->second.origin) +
                     ": " + what);
  };
  for (const std::string_view key : model_keys) {
    const OptionSpec& option = *find_option(key);
    const std::string unsaid(key == "l2" ? std::string_view("lru") : option.default_text);
    const std::string text = value_or(given, std::string(key), unsaid);
    if (!text.empty()) option.field.read(canonical_value(option, text), keys_);
  }
  if (keys_.l2 == nullptr || std::ranges::find(replayed, keys_.l2->name) == replayed.end())
    fail("l2",
         value_or(given, "l2", "") + " needs a schedule; allowed with --read: lru, sets, opt");
  for (const auto& [key, assignment] : given) {
    if (name() != "sets" && key != "l2" && is_trace_model_key(key))
      fail(key, "has no effect without l2 = sets");
  }
  request_.l2_bytes = l2_bytes;
  SetsKeys::resolve(fail, gpu, keys_, request_);
}

void TraceModel::describe(CsvRow& cells) const {
  for (size_t i = 0; i < key_column_count; ++i) {
    std::string key(result_columns[i].name);
    std::ranges::replace(key, '_', '-');
    if (!is_trace_model_key(key)) continue;
    // A seed that nothing reads stays what the trace says.
    if (key == "seed" && request_.sets.policy != sim::SetPolicy::random) continue;
    cells[i] = find_option(key)->field.print(keys_);
  }
}

}  // namespace sawtooth::experiments
