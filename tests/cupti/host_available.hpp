// Tests of CUPTI's host API need its libraries, though no GPU; without them they are skipped with
// the library's own reason.
#pragma once

#include <string>

#include <gtest/gtest.h>

#include "cupti/metric_host.hpp"
#include "cupti/status.hpp"

namespace sawtooth::cupti {

/// Empty when the host API can be used, else the reason.
inline std::string why_no_host_api() {
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
