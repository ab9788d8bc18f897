// What can keep hardware counters from a program, as a typed status with one message a kind.
//
// Codes are CUPTI's (cupti_result.h); they are kept as numbers because headers before CUDA 12.8
// lack the newer enumerators while the library may return them.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string_view>

namespace sawtooth::cupti {

enum class Status : uint8_t {
  ok,
  not_built,       // compiled without CUPTI's headers
  no_cupti,        // libcupti was not found
  no_nvperf_host,  // libnvperf_host, which libcupti needs, was not found
  no_driver,       // libcuda was not found, or there is no GPU
  insufficient_privilege,
  counters_busy,    // another profiler holds the counters
  nested_profiler,  // this process already runs under a profiler
  virtualized,
  confidential_computing,
  mig,
  wsl,
  unsupported_device,  // the GPU or its configuration has no counters for CUPTI
  chip_unknown,        // CUPTI is older than the chip
  no_metric_table,     // no mapping of L2 counters to metric names for this chip
  unknown_metric,
  metric_not_schedulable,
  ranges_dropped,
  failed,  // any other error of CUPTI
};

/// Name for the `status` column, e.g. "insufficient-privilege"; `ok` is "ok".
std::string_view status_name(Status status);

/// What is wrong and how to mend it, one sentence each; empty for `ok`.
std::string_view status_help(Status status);

/// The status that stands for CUPTI's error `code` (a CUptiResult); `failed` for codes that say
/// nothing a user could act on.
Status status_of(int code);

/// Thrown by everything in this folder. what() is "<context>: <status_help> (CUPTI error <code>)".
class CounterError : public std::runtime_error {
 public:
  /// `code` is CUPTI's error, 0 when the error is not CUPTI's.
  CounterError(Status status, std::string_view context, int code = 0);

  Status status() const { return status_; }
  int code() const { return code_; }

 private:
  Status status_;
  int code_;
};

/// Throws CounterError when `code` is not 0 (CUPTI_SUCCESS); `call` names the function.
void check(int code, std::string_view call);

}  // namespace sawtooth::cupti
