#include "experiments/sawtooth/record/merge_passes.hpp"

#include <gtest/gtest.h>

namespace sawtooth::experiments {
namespace {

inject::LaunchRecord launch(const std::string& name, const std::string& grid,
                            std::map<std::string, double> values = {}) {
  inject::LaunchRecord record;
  record.name = name;
  record.grid = grid;
  record.values = std::move(values);
  return record;
}

PassRecord pass(std::vector<inject::LaunchRecord> launches, bool complete = true) {
  return {{{"program", std::move(launches), {}}}, complete};
}

std::string mismatch_of(const std::vector<PassRecord>& passes) {
  try {
    merge_passes(passes, passes.size());
  } catch (const PassMismatch& error) {
    return error.what();
  }
  return "none";
}

TEST(MergePasses, ValuesOfAllPassesComeTogetherByOrder) {
  const auto merged = merge_passes(
      {pass({launch("k", "4x1x1"), launch("k", "4x1x1")}),
       pass({launch("k", "4x1x1", {{"w", 1}, {"a", 10}}), launch("k", "4x1x1", {{"w", 2}})}),
       pass({launch("k", "4x1x1", {{"w", 3}, {"b", 20}}), launch("k", "4x1x1", {{"w", 4}})})},
      3);
  ASSERT_EQ(merged.size(), 2u);
  EXPECT_EQ(merged[0].values.at("w"), (std::vector<double>{1, 3}));
  EXPECT_EQ(merged[0].values.at("a"), std::vector<double>{10});
  EXPECT_EQ(merged[0].values.at("b"), std::vector<double>{20});
  EXPECT_EQ(merged[1].values.at("w"), (std::vector<double>{2, 4}));
  EXPECT_EQ(merged[1].passes, 2);
  EXPECT_EQ(merged[1].status, "ok");
}

TEST(MergePasses, AnotherNameGridOrNumberOfLaunchesIsRefusedAndNamed) {
  const PassRecord first = pass({launch("k", "4x1x1"), launch("k", "8x1x1")});
  EXPECT_EQ(mismatch_of({first, pass({launch("k", "4x1x1"), launch("m", "8x1x1")})}),
            "run 2, process 0: matching launch 1 is 'm' of grid 8x1x1, in run 1 it was 'k' of grid "
            "8x1x1");
  EXPECT_EQ(mismatch_of({first, first, pass({launch("k", "4x1x1"), launch("k", "4x1x1")})}),
            "run 3, process 0: matching launch 1 is 'k' of grid 4x1x1, in run 1 it was 'k' of grid "
            "8x1x1");
  EXPECT_EQ(mismatch_of({first, pass({launch("k", "4x1x1")})}),
            "run 2, process 0, matching launches: 1, in run 1 2");
  PassRecord two = first;
  two.processes.push_back({});
  EXPECT_EQ(mismatch_of({first, two}), "run 2, processes that use CUDA: 2, in run 1 1");
}

TEST(MergePasses, OfARunThatCrashedTheFinishedLaunchesCount) {
  const auto merged = merge_passes({pass({launch("k", "4x1x1"), launch("k", "8x1x1")}),
                                    pass({launch("k", "4x1x1", {{"a", 10}})}, false)},
                                   2);
  ASSERT_EQ(merged.size(), 2u);
  EXPECT_EQ(merged[0].status, "ok");
  EXPECT_EQ(merged[0].values.at("a"), std::vector<double>{10});
  EXPECT_EQ(merged[1].status, "incomplete");
  EXPECT_EQ(merged[1].message, "only 1 of 2 runs of the command finished this launch");
}

TEST(MergePasses, AnInterruptedRecordingKeepsItsLaunchesAsIncomplete) {
  const auto merged = merge_passes({pass({launch("k", "4x1x1")})}, 5);
  ASSERT_EQ(merged.size(), 1u);
  EXPECT_EQ(merged[0].status, "incomplete");
}

TEST(MergePasses, AFailedReadingKeepsItsOwnStatus) {
  inject::LaunchRecord busy = launch("k", "4x1x1");
  busy.status = "counters-busy";
  busy.message = "another profiler";
  const auto merged = merge_passes(
      {pass({launch("k", "4x1x1")}), pass({busy}), pass({launch("k", "4x1x1", {{"a", 1}})})}, 3);
  EXPECT_EQ(merged[0].status, "counters-busy");
  EXPECT_EQ(merged[0].message, "another profiler");
  EXPECT_EQ(merged[0].passes, 1);
}

TEST(MergePasses, NotesAreSaidOnce) {
  PassRecord first = pass({});
  first.processes.front().notes = {"a", "b"};
  EXPECT_EQ(notes_of({first, first}), (std::vector<std::string>{"a", "b"}));
}

}  // namespace
}  // namespace sawtooth::experiments
