// The best schedules of a search and the usual one on a GPU, against what was predicted.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "experiments/sawtooth/search/search_table.hpp"

namespace sawtooth::experiments {

/// Runs all points of the configuration at `configuration` and writes results.csv rows: their
/// times, interleaved, to `times`, their counters to `counters`. Returns an exit code of the
/// program.
using Measurer = std::function<int(const std::string& configuration, const std::string& times,
                                   const std::string& counters)>;

struct Proof {
  MeasuredByCandidate measured;
  double regret = 0;   // measured time of the predicted best over the best measured time, less 1
  std::string report;  // lines for people
  int exit_code = 0;   // of the measurer
};

/// Measures the `most` best of a shape and the usual schedule; files are called `stem`.*.
Proof prove(const SearchedShape& searched, size_t most, const std::string& stem,
            const Measurer& measurer);

}  // namespace sawtooth::experiments
