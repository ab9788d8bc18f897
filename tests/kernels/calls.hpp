// What tests of calls share: memory, what is refused, and the need of a GPU.
#pragma once

#include <string>

#include <gtest/gtest.h>

#include "kernels/attention/attention.hpp"
#include "tests/kernels/device_attention.hpp"

namespace sawtooth::kernels {

/// 16-byte aligned memory that no check reads.
alignas(16) inline char somewhere[16];

inline void expect_refused(const Outcome& outcome, Status status, const std::string& words) {
  EXPECT_EQ(outcome.status, status) << outcome.message;
  EXPECT_NE(outcome.message.find(words), std::string::npos) << outcome.message;
}

class OnGpu : public testing::Test {
 protected:
  void SetUp() override {
    std::string reason;
    if (!device_available(reason)) GTEST_SKIP() << reason;
  }
};

}  // namespace sawtooth::kernels
