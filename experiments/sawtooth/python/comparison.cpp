#include "experiments/sawtooth/python/comparison.hpp"

#include <sstream>

#include "experiments/sawtooth/compare/compare.hpp"
#include "experiments/sawtooth/compare/compare_report.hpp"
#include "experiments/sawtooth/support/usage_error.hpp"

namespace sawtooth::experiments {

ComparisonTexts compare_texts(const NamedCsv& predicted, const NamedCsv& measured,
                              const std::string& counters) {
  const Comparison comparison =
      compare_tables(parse_csv(predicted.text, predicted.name),
                     parse_csv(measured.text, measured.name), counters_named(counters, "counters"));
  if (comparison.errors.empty())
    throw UsageError("nothing to compare: no two points join and share a counter");
  std::ostringstream errors;
  write_error_table(errors, {&comparison.errors});
  return {errors.str(), report_text(comparison.errors, {}, Tolerances())};
}

}  // namespace sawtooth::experiments
