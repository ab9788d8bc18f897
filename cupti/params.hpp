// CUPTI's calling convention: one zeroed struct a call that carries its own size, which tells the
// library how new the caller's headers are.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

/// A zeroed CUPTI params struct of `type` with structSize set. The size is the one of the last
/// field in these headers, a macro of CUPTI's own for every struct.
#define SAWTOOTH_CUPTI_PARAMS(type) ::sawtooth::cupti::zeroed_params<type>(type##_STRUCT_SIZE)

namespace sawtooth::cupti {

template <class Params>
Params zeroed_params(size_t struct_size) {
  Params params{};
  params.structSize = struct_size;
  return params;
}

// CUptiResult values that mean different things by call (cupti_result.h).
inline constexpr int invalid_parameter = 1;
inline constexpr int invalid_metric_name = 17;

inline std::vector<const char*> c_strings(const std::vector<std::string>& texts) {
  std::vector<const char*> pointers;
  for (const std::string& text : texts) pointers.push_back(text.c_str());
  return pointers;
}

}  // namespace sawtooth::cupti
