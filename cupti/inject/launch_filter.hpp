// Which launches of a process are counted: by kernel name and open NVTX range, then by number.
// Knows neither CUDA nor CUPTI.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include <regex.h>

#include "cupti/inject/pass_file.hpp"

namespace sawtooth::inject {

/// The name as it stands in the source, "void ns::kernel<int>(float*)"; `symbol` itself where it is
/// not mangled, as Triton's names are.
std::string demangled(const char* symbol);

/// Not thread-safe: launches are put into one order by the caller.
class LaunchFilter {
 public:
  /// Throws std::invalid_argument, with the reason, for what is no regular expression.
  explicit LaunchFilter(PassRequest request);
  ~LaunchFilter();
  LaunchFilter(const LaunchFilter&) = delete;
  LaunchFilter& operator=(const LaunchFilter&) = delete;

  /// To be asked once for every launch in order: whether this one is counted. `range_open` says
  /// whether the request's NVTX range is.
  bool takes(std::string_view symbol, bool range_open);

  /// Launches asked for so far.
  int64_t launches() const { return launches_; }
  const PassRequest& request() const { return request_; }

 private:
  bool matches(std::string_view symbol);

  PassRequest request_;
  regex_t expression_{};
  std::unordered_map<std::string, bool> known_;  // by symbol: demangling takes long
  int64_t launches_ = 0;
  int64_t matching_ = 0;
};

}  // namespace sawtooth::inject
