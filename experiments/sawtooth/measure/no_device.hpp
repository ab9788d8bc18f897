// How commands end where a GPU or its counters are missing: one line, and exit code 3.
#pragma once

#include <iostream>

#include "cupti/status.hpp"
#include "experiments/sawtooth/support/usage_error.hpp"
#include "kernels/common/cuda_check.hpp"

namespace sawtooth::experiments {

inline int report_no_device(const cupti::CounterError& error) {
  std::cerr << "sawtooth: " << error.what() << '\n';
  return exit_no_device;
}

/// To be called where `error` was caught: an error of a GPU that is there is thrown on.
inline int report_no_device(const kernels::CudaError& error) {
  if (!error.no_device()) throw;
  std::cerr << "sawtooth: " << cupti::status_help(cupti::Status::no_driver) << " (" << error.what()
            << ")\n";
  return exit_no_device;
}

}  // namespace sawtooth::experiments
