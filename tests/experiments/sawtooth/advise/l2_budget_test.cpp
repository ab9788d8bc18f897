#include <gtest/gtest.h>

#include "experiments/sawtooth/advise/advice.hpp"
#include "experiments/sawtooth/inputs/sweep.hpp"

namespace sawtooth::experiments {
namespace {

L2Budget budget_of(const std::string& keys) {
  Catalog catalog;
  const std::string problem = "workers = 8\nseq = 4096\nhead-dim = 64\nlaunch = grid\n" + keys;
  return l2_budget(resolve(expand(parse_configuration(problem, "test"), {}).front(), catalog));
}

// K and V of a head take 1 MiB, and hashed sets keep some two thirds of L2 without a conflict.
TEST(L2BudgetOfAChip, IsTheHeadsWhoseKvFits) {
  const L2Budget budget = budget_of("l2-bytes = 6M\nheads = 16\nkv-heads = 8\n");
  EXPECT_EQ(budget.kv_heads, 4);
  EXPECT_EQ(budget.all_kv_heads, 8);
  EXPECT_EQ(budget.kv_bytes, 4 << 20);
  EXPECT_GT(budget.one_more_reads, 1.1) << "of five heads, which fill L2 but for a MiB";
  EXPECT_EQ(budget_of("l2-bytes = 512K\nheads = 2\n").kv_heads, 0);
  EXPECT_EQ(budget_of("l2-bytes = 64M\nheads = 3\nbatch = 2\n").kv_heads, 6);
}

}  // namespace
}  // namespace sawtooth::experiments
