#include "cupti/inject/launch_filter.hpp"

#include <cstdlib>
#include <stdexcept>
#include <utility>

#include <cxxabi.h>

namespace sawtooth::inject {

std::string demangled(const char* symbol) {
  int status = 0;
  char* text = abi::__cxa_demangle(symbol, nullptr, nullptr, &status);
  std::string name = status == 0 ? text : symbol;
  std::free(text);
  return name;
}

LaunchFilter::LaunchFilter(PassRequest request) : request_(std::move(request)) {
  const int error = regcomp(&expression_, request_.kernel.c_str(), REG_EXTENDED | REG_NOSUB);
  if (error == 0) return;
  char reason[128];
  regerror(error, &expression_, reason, sizeof reason);
  throw std::invalid_argument("'" + request_.kernel + "' is no regular expression: " + reason);
}

LaunchFilter::~LaunchFilter() {
  regfree(&expression_);
}

bool LaunchFilter::matches(std::string_view symbol) {
  if (request_.kernel.empty()) return true;
  std::string key(symbol);
  const auto found = known_.find(key);
  if (found != known_.end()) return found->second;
  const bool match = regexec(&expression_, demangled(key.c_str()).c_str(), 0, nullptr, 0) == 0;
  known_.emplace(std::move(key), match);
  return match;
}

bool LaunchFilter::takes(std::string_view symbol, bool range_open) {
  ++launches_;
  if (!request_.nvtx.empty() && !range_open) return false;
  if (!matches(symbol)) return false;
  const int64_t number = matching_++;
  return number >= request_.skip &&
         (request_.count == 0 || number < request_.skip + request_.count);
}

}  // namespace sawtooth::inject
