#include "kernels/ladder/ladder.hpp"

#include <random>
#include <stdexcept>

#include <gtest/gtest.h>

namespace sawtooth::kernels::ladder {
namespace {

Problem seed_shape() {
  Problem problem;
  problem.batch = 2;
  problem.heads = problem.kv_heads = 8;
  problem.seq_q = problem.seq_kv = 1024;
  problem.head_dim = head_dim;
  problem.dtype = ElementType::fp16;
  return problem;
}

TEST(LadderRefusal, TakesTheShapeOfTheSeedAtEveryLevel) {
  for (int level = 1; level <= int(levels().size()); ++level)
    EXPECT_EQ(refusal(level, seed_shape()), "");
}

TEST(LadderRefusal, NamesWhatALevelCannotRun) {
  const auto refused = [](auto change) {
    Problem problem = seed_shape();
    change(problem);
    return refusal(1, problem);
  };
  EXPECT_NE(refused([](Problem& p) { p.seq_q = p.seq_kv = 1000; }).find("multiple of 64"),
            std::string::npos);
  EXPECT_NE(refused([](Problem& p) { p.seq_q = 512; }).find("seq-q"), std::string::npos);
  EXPECT_NE(refused([](Problem& p) { p.head_dim = 64; }).find("head-dim"), std::string::npos);
  EXPECT_NE(refused([](Problem& p) { p.kv_heads = 1; }).find("kv-heads"), std::string::npos);
  EXPECT_NE(refused([](Problem& p) { p.mask.kind = MaskKind::causal; }).find("mask"),
            std::string::npos);
  EXPECT_NE(refused([](Problem& p) { p.dtype = ElementType::fp32; }).find("fp32"),
            std::string::npos);
  EXPECT_NE(refused([](Problem& p) { p.batch = 0; }).find("batch"), std::string::npos);
  EXPECT_NE(refusal(0, seed_shape()).find("levels 1 to 5"), std::string::npos);
  EXPECT_NE(refusal(6, seed_shape()).find("levels 1 to 5"), std::string::npos);
}

TEST(LadderRefusal, NothingIsLaunchedForARefusedProblem) {
  Problem problem = seed_shape();
  problem.seq_q = problem.seq_kv = 65;
  EXPECT_THROW(launch(1, problem, {}, nullptr), std::invalid_argument);
  EXPECT_THROW(CheckedRun(problem, 1), std::invalid_argument);
}

class LadderOnGpu : public ::testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) GTEST_SKIP() << "no GPU";
  }
};

TEST_P(LadderOnGpu, AgreesWithTheReferenceOnRandomProblems) {
  constexpr int problems = 8;
  std::mt19937_64 random(20260121 + GetParam());
  const auto draw = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  for (int i = 0; i < problems; ++i) {
    Problem problem = seed_shape();
    problem.dtype = i % 2 == 0 ? ElementType::fp16 : ElementType::bf16;
    problem.batch = draw(1, 3);
    problem.heads = problem.kv_heads = draw(1, 5);
    problem.seq_q = problem.seq_kv = tile_rows * draw(1, 12);
    const CheckedRun run(problem, random());
    constexpr int64_t all_tiles = 3 * 5 * 12;
    const CheckedRun::Error error = run.check(GetParam(), all_tiles, 0);
    EXPECT_LE(error.output, allowed_error(GetParam(), problem))
        << "batch " << problem.batch << " heads " << problem.heads << " seq " << problem.seq_q;
    EXPECT_LE(error.lse, allowed_lse_error);
  }
}

TEST_P(LadderOnGpu, NeitherSpillsNorLeavesAnSmEmpty) {
  for (const ElementType type : {ElementType::fp16, ElementType::bf16}) {
    const Footprint made = footprint(GetParam(), type);
    EXPECT_EQ(made.spill_bytes, 0);
    EXPECT_GE(made.ctas_per_sm, 1);
  }
}

TEST_P(LadderOnGpu, SucceedsAfterAFailedCallOfTheCaller) {
  const CheckedRun run(seed_shape(), 1);
  ASSERT_NE(cudaSetDevice(-1), cudaSuccess);
  EXPECT_NO_THROW(run.launch(GetParam()));
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  cudaGetLastError();
}

INSTANTIATE_TEST_SUITE_P(Levels, LadderOnGpu, ::testing::Range(1, 6));

}  // namespace
}  // namespace sawtooth::kernels::ladder
