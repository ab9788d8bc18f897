// Which model of L2 a trace that is read goes through, from the command line.
#pragma once

#include "experiments/sawtooth/inputs/keys.hpp"
#include "experiments/sawtooth/inputs/settings.hpp"
#include "experiments/sawtooth/results/result_row.hpp"
#include "sim/gpu.hpp"
#include "sim/request.hpp"

namespace sawtooth::experiments {

/// Keys of the command line that say it.
bool is_trace_model_key(std::string_view key);

class TraceModel {
 public:
  /// `given` are keys of the command line; ways and line are those of `gpu` where they are left
  /// out. Throws UsageError for a model that needs a schedule, for keys that it does not read, and
  /// for sets that L2 cannot have.
  TraceModel(const Settings& given, const sim::Gpu& gpu, int64_t l2_bytes);

  /// lru, sets or opt.
  std::string_view name() const { return keys_.l2->name; }
  /// Whether it counts at all capacities.
  bool has_curve() const { return keys_.l2->has_curve; }
  const sim::SetsParameters& sets() const { return request_.sets; }
  /// Share of the lines' runs that lru follows, and the seed that chooses them.
  uint64_t seed() const { return static_cast<uint64_t>(keys_.seed); }

  /// Puts the model into the cells of a row of results.csv.
  void describe(CsvRow& cells) const;

 private:
  Keys keys_;
  sim::Request request_;
};

}  // namespace sawtooth::experiments
