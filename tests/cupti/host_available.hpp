// Tests of CUPTI's host API need its libraries, though no GPU; without them they are skipped with
// the library's own reason.
#pragma once

#include <string>

#include <gtest/gtest.h>

#include "cupti/metric_host.hpp"
#include "cupti/status.hpp"

// g++ says __SANITIZE_ADDRESS__, clang __has_feature(address_sanitizer).
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SAWTOOTH_ADDRESS_SANITIZER 1
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define SAWTOOTH_ADDRESS_SANITIZER 1
#endif

namespace sawtooth::cupti {

/// Empty when this build may open CUPTI's libraries at all, else the reason.
inline std::string why_not_under_sanitizer() {
#if defined(SAWTOOTH_ADDRESS_SANITIZER)
  return "libcupti opens libnvperf_host with RTLD_DEEPBIND, which the address sanitizer forbids";
#else
  return "";
#endif
}

/// Empty when the host API can be used, else the reason.
inline std::string why_no_host_api() {
  const std::string sanitizer = why_not_under_sanitizer();
  if (!sanitizer.empty()) return sanitizer;
  try {
    known_chips();
    return "";
  } catch (const CounterError& error) {
    return error.what();
  }
}

class HostApiTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string reason = why_no_host_api();
    if (!reason.empty()) GTEST_SKIP() << reason;
  }
};

}  // namespace sawtooth::cupti
