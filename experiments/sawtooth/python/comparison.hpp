// compare() of the Python package.
#pragma once

#include <string>

namespace sawtooth::experiments {

/// A table as CSV text, and what messages call it.
struct NamedCsv {
  std::string text;
  std::string name;
};

struct ComparisonTexts {
  std::string errors;  // CSV, a row a group, counter and point
  std::string report;  // what `sawtooth compare` prints
};

/// Throws UsageError for a broken table, an unknown counter, or tables of which no points join.
ComparisonTexts compare_texts(const NamedCsv& predicted, const NamedCsv& measured,
                              const std::string& counters);

}  // namespace sawtooth::experiments
