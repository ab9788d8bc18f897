#include "experiments/sawtooth/inputs/commands.hpp"
#include "experiments/sawtooth/plot/python.hpp"
#include "experiments/sawtooth/support/usage_error.hpp"

namespace sawtooth::experiments {

int run_plot(const Command&, const Arguments& arguments) {
  if (arguments.empty()) {
    throw UsageError("plot: needs a figure; `sawtooth plot --list` has them");
  }
  // What lists the figures needs the standard library alone.
  const bool draws = !arguments.front().starts_with('-');
  return run_plot_script("plot.py", draws ? "matplotlib" : "", arguments);
}

int run_report(const Command&, const Arguments& arguments) {
  return run_plot_script("report.py", "", arguments);
}

int run_parquet(const Command&, const Arguments& arguments) {
  return run_plot_script("parquet.py", "pyarrow", arguments);
}

}  // namespace sawtooth::experiments
