// Points of the backward pass: their keys, and the columns of their rows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "experiments/sawtooth/compare/compare.hpp"
#include "experiments/sawtooth/inputs/point.hpp"
#include "experiments/sawtooth/results/result_row.hpp"
#include "experiments/sawtooth/simulate/predicted_point.hpp"
#include "experiments/sawtooth/support/csv.hpp"
#include "experiments/sawtooth/support/usage_error.hpp"
#include "tests/experiments/sawtooth/support/temporary_folder.hpp"

namespace sawtooth::experiments {
namespace {

using test::message_of;
using testing::HasSubstr;

using Options = std::vector<std::pair<std::string, std::string>>;

Point point_of(const std::string& pass, const Options& options) {
  Settings given;
  assign(given, "gpu", "h200", {});
  assign(given, "pass", pass, {});
  assign(given, "seq", "1K", {});
  for (const auto& [key, value] : options) assign(given, key, value, {});
  Catalog catalog;
  return resolve(given, catalog);
}

Point backward(const Options& options) {
  return point_of("backward", options);
}

TEST(BackwardPoint, TakesLockstepAndHalvesUnjudgedWhereNothingIsAsked) {
  const Point point = backward({});
  EXPECT_EQ(point.text("timing"), "lockstep");
  EXPECT_EQ(point.text("l2"), "halves");
  EXPECT_EQ(point.judgement.word, "none");
  EXPECT_EQ(backward({{"l2", "lru"}}).judgement.word, "none");
}

TEST(BackwardPoint, SectionsCountKvHeads) {
  EXPECT_EQ(backward({{"heads", "16"}, {"kv-heads", "4"}, {"section", "all"}}).text("section"),
            "4");
  // Four heads a K/V head of 1024 rows: Q, dO and dQ of 64 elements are 4 x 1024 x 512 bytes.
  const Options heads{{"heads", "16"}, {"kv-heads", "4"}, {"section", "auto:5MiB"}};
  EXPECT_EQ(backward(heads).text("section"), "2");
}

TEST(BackwardPoint, ItemOrderIsAnotherNameOfQOrder) {
  EXPECT_EQ(backward({{"item-order", "descending"}}).text("q-order"), "descending");
}

TEST(BackwardPoint, WhatItHasNoMeaningForIsRefusedByItsKey) {
  for (const auto& [key, value, words] : {std::tuple{"loop", "kv-outer", "items are K/V tiles"},
                                          {"kv-split", "2", "allowed: 1"},
                                          {"launch", "balanced", "allowed with pass = backward"},
                                          {"prefetch", "1", "allowed: 0"},
                                          {"lse", "on", "allowed: off"}}) {
    const std::string message = message_of<UsageError>([&key = key, &value = value] {
      backward({{key, value}});
    });
    EXPECT_THAT(message, HasSubstr(std::string(key) + ": "));
    EXPECT_THAT(message, HasSubstr(words));
  }
}

TEST(BackwardPoint, AdditionsInOrderTakeTheTimedModelAndNoOther) {
  EXPECT_EQ(backward({{"dq", "ordered"}}).text("timing"), "timed");
  EXPECT_EQ(backward({{"dq", "ordered"}}).text("l2"), "halves");
  const std::string message = message_of<UsageError>([] {
    backward({{"dq", "ordered"}, {"timing", "lockstep"}});
  });
  EXPECT_THAT(message, HasSubstr("dq: "));
  EXPECT_THAT(message, HasSubstr("or timing = timed"));
}

// Kernels run it, and no model predicts it: what is measured is not refused for that.
TEST(BackwardPoint, AWholeCallWithAdditionsInOrderCanBeMeasuredAndNotPredicted) {
  const Point point = backward({{"dq", "ordered"}, {"small-kernels", "on"}});
  EXPECT_TRUE(point.refusal.empty());
  const CsvRow row = predict_point(point, key_cells(point, "e", "predicted")).row;
  EXPECT_THAT(row[result_column("message")], HasSubstr("small-kernels: "));
  EXPECT_THAT(row[result_column("message")], HasSubstr("allowed: off"));
}

// Its costs are of bf16 and fp16.
TEST(BackwardPoint, TakesTheTimeOfAStepOfFp32FromTheUser) {
  const auto message = [](const Options& options) {
    const Point point = backward(options);
    return predict_point(point, key_cells(point, "e", "predicted")).row[result_column("message")];
  };
  EXPECT_THAT(message({{"dtype", "fp32"}, {"timing", "timed"}, {"kernel", "mma-fp32"}}),
              HasSubstr("dtype = fp32 needs step-ns"));
  EXPECT_EQ(message({{"dtype", "fp32"}, {"timing", "timed"}, {"step-ns", "5000"}}), "");
}

// Twice the bytes of K, V, Q and dO a row, and as many of the sums of dQ.
TEST(BackwardPoint, FloatsTakeTwiceTheSectorsButInTheSumsOfDq) {
  const auto sectors = [](const std::string& dtype, const char* column) {
    const Point point = backward({{"dtype", dtype}, {"l2", "lru"}});
    return std::stod(
        predict_point(point, key_cells(point, "e", "predicted")).row[result_column(column)]);
  };
  EXPECT_EQ(sectors("fp32", "l2_reduction_sectors"), sectors("bf16", "l2_reduction_sectors"));
  EXPECT_EQ(sectors("fp32", "l2_write_sectors"), 2 * sectors("bf16", "l2_write_sectors"));
}

// Five products of 1024 x 1024 x 64 elements, a product and a sum each.
TEST(BackwardPoint, ItsSpeedCountsFiveProducts) {
  const Point point = backward({{"timing", "timed"}});
  const CsvRow row = predict_point(point, key_cells(point, "e", "predicted")).row;
  const double time_us = std::stod(row[result_column("time_us")]);
  const double tflops = std::stod(row[result_column("tflops")]);
  EXPECT_NEAR(tflops * time_us * 1e6, 5 * 2 * 1024. * 1024 * 64, 0.01 * 5 * 2 * 1024. * 1024 * 64);
}

TEST(BackwardPoint, KeysOfItAreRefusedForward) {
  for (const auto& [key, value] : {std::pair{"dq", "atomic"}, {"small-kernels", "on"}}) {
    EXPECT_THAT(message_of<UsageError>([&key = key, &value = value] {
                  point_of("forward", {{key, value}});
                }),
                HasSubstr("has no effect without pass = backward"));
  }
}

TEST(BackwardPoint, ItsColumnsTellPointsApartAndAreEmptyForward) {
  const CsvRow atomic = key_cells(backward({}), "e", "predicted");
  const CsvRow separate = key_cells(backward({{"dq", "separate"}}), "e", "predicted");
  const CsvRow around = key_cells(backward({{"small-kernels", "on"}}), "e", "predicted");
  EXPECT_EQ(atomic[result_column("pass")], "backward");
  EXPECT_EQ(atomic[result_column("dq")], "atomic");
  EXPECT_EQ(atomic[result_column("small_kernels")], "off");
  EXPECT_NE(run_id(atomic), run_id(separate));
  EXPECT_NE(run_id(atomic), run_id(around));
  const CsvRow forward = key_cells(point_of("forward", {}), "e", "predicted");
  EXPECT_EQ(forward[result_column("pass")], "forward");
  EXPECT_EQ(forward[result_column("dq")], "");
  EXPECT_EQ(forward[result_column("small_kernels")], "");
}

// A table of rows of one point each way of dQ, predicted and as if measured.
CsvTable table_of(const std::vector<std::string>& ways, const std::string& source) {
  std::string text = result_header();
  for (const std::string& dq : ways) {
    const Point point = backward({{"dq", dq}});
    CsvRow row = predict_point(point, key_cells(point, "e", source)).row;
    if (source == "measured") row[result_column("timing")] = row[result_column("l2")] = "";
    text += csv_line(row);
  }
  return parse_csv(text, source);
}

TEST(BackwardPoint, RowsJoinWhereDqAgrees) {
  const CsvTable predicted = table_of({"atomic", "separate"}, "predicted");
  const CsvTable measured = table_of({"separate"}, "measured");
  const Comparison comparison = compare_tables(
      predicted, measured, counters_named("l2_reduction_sectors,l2_read_sectors", ""));
  EXPECT_EQ(comparison.predicted_alone, 1u);
  EXPECT_EQ(comparison.measured_alone, 0u);
}

}  // namespace
}  // namespace sawtooth::experiments
