// Points of the features: their keys, the columns of their rows, and what they refuse.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "experiments/sawtooth/compare/compare.hpp"
#include "experiments/sawtooth/inputs/sweep.hpp"
#include "experiments/sawtooth/results/predicted_point.hpp"
#include "tests/experiments/sawtooth/inputs/given.hpp"
#include "tests/experiments/sawtooth/support/temporary_folder.hpp"

namespace sawtooth::experiments {
namespace {

using test::given;
using test::Options;
using test::point_of;
using test::refusal_of;
using test::TemporaryFolder;
using testing::ElementsAre;
using testing::HasSubstr;

CsvRow cells_of(const Options& options) {
  return key_cells(point_of(options), "e", "predicted");
}
CsvRow predicted(const Options& options) {
  const Point point = point_of(options);
  return predict_point(point, key_cells(point, "e", "predicted")).row;
}
std::string cell(const CsvRow& row, const std::string& column) {
  const auto at = std::ranges::find(result_columns, column, &ResultColumn::name);
  return row[static_cast<size_t>(at - result_columns.begin())];
}
Options backward(Options options) {
  options.emplace_back("pass", "backward");
  return options;
}
Options packed(Options options) {
  options.insert(options.end(), {{"pack-gqa", "on"}, {"heads", "16"}, {"kv-heads", "4"}});
  return options;
}

// The columns of a feature say what its keys say, tell points apart, and are empty without it.
struct Columns {
  Options options;
  std::vector<std::pair<std::string, std::string>> cells;
  Options other;  // of another point
};

TEST(FeatureColumns, TellPointsApartAndAreEmptyWithoutIt) {
  const Columns all[] = {
      {backward({}),
       {{"pass", "backward"}, {"dq", "atomic"}, {"small_kernels", "off"}},
       backward({{"dq", "separate"}})},
      {backward({{"small-kernels", "on"}}), {{"small_kernels", "on"}}, backward({})},
      {{{"head-dim", "192/128"}},
       {{"head_dim_v", "128"}, {"kv_latent", ""}, {"kv_dtype", ""}},
       {{"head-dim", "192"}}},
      {{{"head-dim", "576/512"}, {"kv-latent", "on"}, {"kv-dtype", "fp8"}},
       {{"head_dim_v", "512"}, {"kv_latent", "on"}, {"kv_dtype", "fp8"}},
       {{"head-dim", "576/512"}, {"kv-latent", "on"}, {"kv-dtype", "int8"}}},
      {packed({}), {{"pack_gqa", "on"}}, {{"heads", "16"}, {"kv-heads", "4"}}},
      {{{"lengths", "4K+1K"}},
       {{"lengths", "4096+1024"}, {"q_lengths", "4096+1024"}, {"sequence_order", "given"}},
       {{"lengths", "4K+1K"}, {"sequence-order", "longest"}}},
      {{{"ring", "4"}, {"mask", "causal"}, {"ring-rank", "2"}},
       {{"ring", "4"},
        {"ring_order", "zigzag"},
        {"ring_mover", "copy"},
        {"ring_rank", "2"},
        {"ring_step", "all"}},
       {{"ring", "4"}, {"mask", "causal"}}},
      {{{"heads", "8"}, {"head-shards", "4"}},
       {{"head_shards", "4"}, {"exchange", "none"}},
       {{"heads", "8"}, {"head-shards", "4"}, {"exchange", "megatron"}}},
      {{{"batch", "2"}, {"prefix", "512"}},
       {{"prefix", "512"}, {"prefix_group", "2"}},
       {{"batch", "2"}, {"prefix", "256"}}},
      {{{"page-rows", "64"}},
       {{"page_rows", "64"}, {"page_table", "identity"}},
       {{"page-rows", "64"}, {"page-table", "shuffle:7"}}}};
  const CsvRow plain = cells_of({});
  for (const auto& [options, cells, other] : all) {
    const CsvRow row = cells_of(options);
    for (const auto& [column, text] : cells) {
      EXPECT_EQ(cell(row, column), text) << column;
      EXPECT_EQ(cell(plain, column), column == "pass" ? "forward" : "") << column;
    }
    EXPECT_NE(run_id(row), run_id(plain));
    EXPECT_NE(run_id(row), run_id(cells_of(other)));
  }
}

// What a feature, or a combination with it, refuses: the beginning of the message and a part of it.
struct Refused {
  Options options;
  std::string key, words;
};

TEST(FeatureRefusal, NamesTheKeyAndWhatIsAllowed) {
  const Refused all[] = {
      // The backward pass.
      {backward({{"loop", "kv-outer"}}), "loop", "items are K/V tiles"},
      {backward({{"kv-split", "2"}}), "kv-split", "allowed: divisors of heads"},
      {backward({{"launch", "balanced"}}), "launch", "with pass = backward"},
      {backward({{"prefetch", "1"}}), "prefetch", "allowed: 0"},
      {backward({{"lse", "on"}}), "lse", "allowed: off"},
      {backward({{"dq", "ordered"}, {"timing", "lockstep"}}), "dq", "or timing = timed"},
      {backward(packed({})), "pack-gqa", "with pass = backward: off"},
      {{{"dq", "atomic"}}, "dq", "no effect without pass = backward"},
      {{{"small-kernels", "on"}}, "small-kernels", "without pass = backward"},
      // Widths and types of rows.
      {{{"head-dim", "192/128"}, {"head-dim-v", "64"}}, "head-dim-v", "says it too"},
      {{{"head-dim-v", "128"}, {"kv-latent", "on"}}, "kv-latent", "up to head-dim = 64"},
      {backward({{"kv-dtype", "fp8"}}), "pass", "allowed with kv-latent, kv-dtype"},
      {backward({{"dtype", "fp8"}}), "pass", "dtype = fp8: forward"},
      {{{"ring", "4"}, {"head-dim", "192/128"}}, "ring", "rows of one width"},
      {{{"head-dim-v", "4"}, {"tile-q", "8"}}, "tile-q", "8 rows x 8 bytes share lines"},
      // Masks that are lists of tiles.
      {{{"seq", "1K"}, {"mask", "document:512"}}, "mask", "documents have 512 rows"},
      {{{"seq-q", "512"}, {"seq-kv", "1K"}, {"mask", "document:1K"}}, "mask", "alike"},
      {{{"lengths", "1K+2K"}, {"mask", "prefix-lm:8"}}, "mask", "none, causal, window:W"},
      {{{"ring", "4"}, {"mask", "prefix-lm:8"}}, "mask", "a ring takes none or causal"},
      {backward({{"dq", "ordered"}, {"timing", "timed"}, {"mask", "prefix-lm:8"}}), "dq",
       "atomic, separate"},
      // Sequences of their own lengths.
      {{{"lengths", "4K+1K"}, {"seq-kv", "4K"}}, "seq-kv", "no effect beside lengths"},
      {{{"lengths", "4K+1K"}, {"seq", "4K"}}, "seq", "no effect beside lengths"},
      {{{"lengths", "4K"}, {"q-lengths", "1"}, {"seq-q", "1"}}, "seq-q", "q-lengths"},
      {{{"lengths", "4K+1K"}, {"batch", "3"}}, "lengths", "has 2 sequences, batch = 3"},
      {{{"lengths", "4K+1K"}, {"q-lengths", "1"}}, "q-lengths", "1 sequences, batch = 2"},
      {{{"lengths", "0+0"}}, "lengths", "all sequences are empty"},
      {{{"q-lengths", "1+2"}}, "seq", "not given"},
      {backward({{"lengths", "4K+1K"}}), "pass", "backward takes sequences of one"},
      {{{"lengths", "4K+1K"}, {"prefetch", "1"}}, "prefetch", "not modelled with lengths"},
      {{{"lengths", "4K+1K"}, {"launch", "balanced"}}, "launch", "cuts items of one"},
      {{{"lengths", "4K+1K"}, {"loop", "kv-outer"}}, "loop", "takes sequences of one"},
      {{{"sequence-order", "longest"}}, "sequence-order", "no effect without lengths"},
      // Rings, heads in shards, prefixes and pages.
      {{{"ring", "2"}, {"mask", "window:64"}}, "mask", "none or causal"},
      {{{"ring", "2"}, {"seq-kv", "512"}, {"seq-q", "1K"}}, "ring", "as many queries as"},
      {{{"ring", "2"}, {"kv-split", "2"}}, "kv-split", "takes 1"},
      {{{"ring", "2"}, {"lse", "on"}}, "lse", "leave it out"},
      {{{"ring", "2"}, {"launches", "3"}}, "launches", "takes no ring"},
      {{{"ring", "2"}, {"head-shards", "1"}}, "head-shards", "a ring takes none"},
      {{{"ring", "2"}, {"ring-rank", "2"}}, "ring-rank", "below ring = 2"},
      {{{"ring", "2"}, {"ring-step", "9"}}, "ring-step", "below ring = 2"},
      {{{"ring", "2"}, {"ring-rank", "some"}}, "ring-rank", "or all"},
      {{{"ring", "3"}}, "ring", "multiple of 6"},
      {{{"ring-step", "1"}}, "ring-step", "no effect without ring"},
      {{{"heads", "8"}, {"head-shards", "3"}}, "head-shards", "no equal heads"},
      {{{"exchange", "ulysses"}}, "exchange", "without head-shards"},
      {{{"prefix-group", "2"}}, "prefix-group", "no effect without prefix"},
      {{{"page-table", "identity"}}, "page-table", "no effect without page-rows"},
      {{{"prefix", "8"}, {"prefix-group", "2"}}, "prefix-group", "number of sequences, 1"}};
  for (const auto& [options, key, words] : all) {
    EXPECT_THAT(refusal_of(options), HasSubstr(key + ": ")) << words;
    EXPECT_THAT(refusal_of(options), HasSubstr(words)) << key;
  }
}

// D = 192 and 128: 2 (192 + 128) FLOP a pair forward, 2 (3 x 192 + 2 x 128) backward.
TEST(WidthsPoint, FlopAreThoseOfBothWidths) {
  const auto flop = [](const Options& options) {
    const Point point = point_of(options);
    return attention_flop(point.request.problem, point.request.tiling);
  };
  EXPECT_EQ(flop({{"head-dim", "192/128"}}), 2.0 * (192 + 128) * 1024 * 1024);
  EXPECT_EQ(flop(backward({{"head-dim", "192/128"}})), 2.0 * (3 * 192 + 2 * 128) * 1024 * 1024);
}

// 1K rows of D = 192 and 128 in bf16, one head of one wave: each Q tile reads K and V once, and L2,
// which holds all, each of them once: 12 and 8 sectors a row. Latent K and V are K alone, fp8 half.
TEST(WidthsPoint, ReadsAreRowsOfBothWidths) {
  for (const char* l2 : {"lru", "sets", "halves"}) {
    for (const char* timing : {"lockstep", "timed"}) {
      if (std::string_view(l2) != "halves" && std::string_view(timing) == "timed") continue;
      const auto reads = [&](Options options, const char* column) {
        options.insert(options.end(), {{"head-dim", "192/128"},
                                       {"tile-q", "64"},
                                       {"tile-kv", "64"},
                                       {"l2", l2},
                                       {"timing", timing}});
        return std::stoll(cell(predicted(options), column));
      };
      EXPECT_EQ(reads({}, "sm_read_sectors"), 1024 * 12 + 16 * 1024 * (12 + 8)) << l2 << timing;
      EXPECT_EQ(reads({{"kv-latent", "on"}}, "sm_read_sectors"), 1024 * 12 + 16 * 1024 * 12);
      EXPECT_EQ(reads({{"kv-dtype", "fp8"}}, "sm_read_sectors"), 1024 * 12 + 16 * 1024 * (6 + 4));
    }
  }
}

// A number of one width is the same point whether it is said once or twice.
TEST(WidthsPoint, EqualWidthsArePredictedAsOne) {
  for (const char* timing : {"lockstep", "timed"}) {
    const Options once{{"head-dim", "128"}, {"mask", "causal"}, {"timing", timing}};
    const Options twice{{"head-dim", "128/128"}, {"mask", "causal"}, {"timing", timing}};
    for (const char* column : {"sm_read_sectors", "dram_read_sectors", "time_us"})
      EXPECT_EQ(cell(predicted(once), column), cell(predicted(twice), column)) << column;
  }
}

// 16 Q tiles of 64 rows, D = 64 in bf16: a step reads 64 rows of K and of V, 4 sectors each. Steps
// by hand: 1 + .. + 4 and 1 + .. + 12 of the documents, the first tile and two of the window, at
// least the two tiles of the prefix, and the two of the own block.
TEST(ListedMasks, ReadTheTilesThatTheirRowsSeeAndCountTheirPairs) {
  const TemporaryFolder folder;
  const std::string blocks = folder.write("blocks.txt", "0\n1\n2 # a comment\n3\n4\n5\n6\n7\n");
  const auto sum = [](int64_t n) { return n * (n + 1) / 2; };
  struct Case {
    std::string mask;
    int64_t steps, pairs;
  };
  for (const auto& [mask, steps, pairs] :
       {Case{"document:256+3x256", 4 * sum(4), 4 * sum(256)},
        Case{"document:256+768", sum(4) + sum(12), sum(256) + sum(768)},
        Case{"window:64+sink:64", 1 + 2 + 14 * 3, sum(64) + 64 * 960 + sum(64) + 896 * 64},
        Case{"prefix-lm:128", 2 + sum(16) - 1, sum(1024) + sum(127)},
        Case{"blocks:" + blocks, 32, 8 * 128 * 128}}) {
    for (const char* timing : {"lockstep", "timed"}) {
      const Options options{
          {"mask", mask}, {"timing", timing}, {"tile-q", "64"}, {"tile-kv", "64"}};
      const CsvRow row = predicted(options);
      EXPECT_EQ(cell(row, "sm_read_sectors"), std::to_string(1024 * 4 + steps * 64 * 8)) << mask;
      EXPECT_EQ(cell(row, "mask"), mask.substr(0, 9) == "document:" ? cell(row, "mask") : mask);
      const Point point = point_of(options);
      EXPECT_EQ(attention_flop(point.request.problem, point.request.tiling),
                4.0 * 64 * double(pairs));
    }
  }
}

// What kernels read of a mask, pair by pair against the mask's definition: documents of 100, 28 and
// 172 rows; 7 rows more than keys else, of which the first ones see sinks and prefixes alone.
TEST(ListedMasks, SayForKernelsWhichKeysARowSees) {
  constexpr int64_t ends[] = {100, 128, 300};
  const auto of_documents = [&](int64_t row, int64_t key) {
    const auto in = [&](int64_t one) { return std::ranges::upper_bound(ends, one); };
    return key <= row && in(row) == in(key);
  };
  const auto of_sinks = [](int64_t row, int64_t key) {
    const int64_t last = row - 7;
    return key <= last && (key < 3 || key > last - 40);
  };
  const auto of_prefix = [](int64_t row, int64_t key) { return key < 50 || key <= row - 7; };
  const auto expect_pairs = [](const char* mask, const char* queries, auto sees_pair) {
    const Point point = point_of({{"seq-q", queries}, {"seq-kv", "300"}, {"mask", mask}});
    const Problem& problem = point.request.problem;
    const auto spans = key_spans(mask, problem, point.request.tiling);
    ASSERT_EQ(std::ssize(spans), problem.seq_q);
    ListedTiles lists = *problem.mask.listed;
    lists.spans = spans.data();
    double pairs = 0;
    for (int64_t row = 0; row < problem.seq_q; ++row)
      for (int64_t key = 0; key < problem.seq_kv; ++key) {
        ASSERT_EQ(sees(lists, row, key), sees_pair(row, key)) << mask << ' ' << row << ' ' << key;
        pairs += sees_pair(row, key) ? 1 : 0;
      }
    EXPECT_EQ(lists.pairs, pairs);
  };
  expect_pairs("document:100+28+172", "300", of_documents);
  expect_pairs("window:40+sink:3", "307", of_sinks);
  expect_pairs("prefix-lm:50", "307", of_prefix);
}

TEST(ListedMasks, OfBlocksAreWholeTilesThatDivideThem) {
  const Point point = point_of({{"mask", "blocks:random:0.5:1"}});
  const Problem& problem = point.request.problem;
  EXPECT_TRUE(key_spans("blocks:random:0.5:1", problem, {128, 64}).empty());
  EXPECT_THROW(key_spans("blocks:random:0.5:1", problem, {192, 128}), std::invalid_argument);
  EXPECT_THROW(key_spans("blocks:random:0.5:1", problem, {128, 176}), std::invalid_argument);
}

// Blocks of a share are drawn anew by each seed, and one seed draws the same.
TEST(ListedMasks, DrawnBlocksFollowTheirSeed) {
  const auto steps = [](const char* mask) {
    const Point point =
        point_of({{"seq", "16K"}, {"mask", mask}, {"tile-q", "64"}, {"tile-kv", "64"}});
    return visited_kv_tiles(point.request.problem, point.request.tiling);
  };
  EXPECT_EQ(steps("blocks:random:1:0"), 256 * 256);
  EXPECT_NEAR(double(steps("blocks:random:0.2:7")), 0.2 * 256 * 256, 0.02 * 256 * 256);
  EXPECT_EQ(steps("blocks:random:20%:7"), steps("blocks:random:0.2:7"));
  EXPECT_NE(steps("blocks:random:0.2:8"), steps("blocks:random:0.2:7"));
}

TEST(ListedMasks, AFileOfBlocksSaysWhatIsWrongAndIsPartOfItsRow) {
  const TemporaryFolder folder;
  const auto refusal = [&](const std::string& text) {
    const std::string path = folder.write("blocks.txt", text);
    return refusal_of({{"seq", "256"}, {"mask", "blocks:" + path}});
  };
  EXPECT_THAT(refusal("0\n0 2\n"),
              HasSubstr(":2: '2' is no block behind the one before; allowed: 0 to 1"));
  EXPECT_THAT(refusal("1 0\n0\n"), HasSubstr(":1: '0' is no block"));
  EXPECT_THAT(refusal("0\n"), HasSubstr("has 1 lines; the queries have 2 blocks of 128"));
  const auto id = [&](const std::string& text) {
    const std::string path = folder.write("blocks.txt", text);
    return run_id(cells_of({{"seq", "256"}, {"mask", "blocks:" + path}}));
  };
  EXPECT_NE(id("0\n0\n"), id("0\n1\n"));
}

TEST(Features, ModelsAreJudgedWithoutThem) {
  EXPECT_TRUE(point_of({{"kernel", "mma"}, {"timing", "timed"}}).judgement.known());
  EXPECT_EQ(point_of({{"ring", "2"}}).judgement.text(), "none");  // H100s alone were
  EXPECT_EQ(point_of(packed({{"kernel", "mma"}, {"timing", "timed"}})).costs, "mma-h200");
  EXPECT_EQ(point_of(backward({{"l2", "lru"}})).judgement.text(), "none");
}

TEST(Features, ItsResolvedConfigurationIsTheSamePoint) {
  for (const Options& options :
       {Options{{"lengths", "4K+1K"}}, Options{{"lengths", "4K+1K"}, {"seq-q", "1"}},
        Options{{"seq-kv", "1K"}, {"q-lengths", "2+1"}}, packed({{"seq", "1K"}}),
        Options{{"seq", "1K"}, {"batch", "2"}, {"prefix", "256"}, {"page-rows", "128"}},
        backward({{"seq", "1K"}})}) {
    Catalog catalog;
    const std::string text =
        resolved_configuration(empty_configuration(), given(options), "e", catalog);
    Settings again = expand(parse_configuration(text, "resolved.ini"), {}).front();
    EXPECT_EQ(key_cells(resolve(again, catalog), "e", "predicted"), cells_of(options)) << text;
  }
}

TEST(BackwardPoint, IsTimedUnlessASecondKernelIsLaunched) {
  const auto model = [](const Options& options) {
    const Point point = point_of(backward(options));
    return point.text("timing") + " " + point.text("l2");
  };
  EXPECT_EQ(model({}), "timed halves");
  EXPECT_EQ(model({{"dq", "ordered"}}), "timed halves");
  EXPECT_EQ(model({{"dq", "separate"}}), "lockstep halves");
}

TEST(BackwardPoint, SectionsCountKvHeads) {
  const auto section = [](const char* text) {
    return point_of(backward({{"heads", "16"}, {"kv-heads", "4"}, {"section", text}}))
        .text("section");
  };
  EXPECT_EQ(section("all"), "4");
  // Four heads a K/V head of 1024 rows: Q, dO and dQ of 64 elements are 4 x 1024 x 512 bytes.
  EXPECT_EQ(section("auto:5MiB"), "2");
  EXPECT_EQ(point_of(backward({{"item-order", "descending"}})).text("q-order"), "descending");
}

// Kernels run the one, and have no costs for the other: what is measured is not refused for that.
TEST(BackwardPoint, SomeCanBeMeasuredAndNotPredicted) {
  const auto message = [](Options options) {
    options = backward(std::move(options));
    EXPECT_TRUE(point_of(options).refusal.empty());
    return cell(predicted(options), "message");
  };
  EXPECT_THAT(message({{"dq", "ordered"}, {"small-kernels", "on"}}),
              HasSubstr("small-kernels: timing = timed has the main kernel alone; allowed: off"));
  EXPECT_THAT(message({{"dtype", "fp32"}, {"timing", "timed"}, {"kernel", "mma-fp32"}}),
              HasSubstr("dtype = fp32 needs step-ns"));
  EXPECT_EQ(message({{"dtype", "fp32"}, {"timing", "timed"}, {"step-ns", "5000"}}), "");
}

// Twice the bytes of K, V, Q and dO a row, and as many of the sums of dQ.
TEST(BackwardPoint, FloatsTakeTwiceTheSectorsButInTheSumsOfDq) {
  const auto row = [](const char* dtype) {
    return predicted(backward({{"dtype", dtype}, {"tiles", "64x64"}, {"l2", "lru"}}));
  };
  const CsvRow floats = row("fp32"), halves = row("bf16");
  EXPECT_EQ(cell(floats, "l2_reduction_sectors"), cell(halves, "l2_reduction_sectors"));
  EXPECT_EQ(std::stod(cell(floats, "l2_write_sectors")),
            2 * std::stod(cell(halves, "l2_write_sectors")));
}

// Five products of 1024 x 1024 x 64 elements, a product and a sum each.
TEST(BackwardPoint, ItsSpeedCountsFiveProducts) {
  const CsvRow row = predicted(backward({{"timing", "timed"}}));
  const double flop = std::stod(cell(row, "tflops")) * std::stod(cell(row, "time_us")) * 1e6;
  EXPECT_NEAR(flop, 5 * 2 * 1024. * 1024 * 64, 0.01 * 5 * 2 * 1024. * 1024 * 64);
}

TEST(BackwardPoint, RowsJoinWhereDqAgrees) {
  const auto table = [](const std::vector<std::string>& ways, const std::string& source) {
    std::string text = result_header();
    for (const std::string& dq : ways) {
      const Point point = point_of(backward({{"dq", dq}}));
      CsvRow row = predict_point(point, key_cells(point, "e", source)).row;
      if (source == "measured") row[result_column("timing")] = row[result_column("l2")] = "";
      text += csv_line(row);
    }
    return parse_csv(text, source);
  };
  const Comparison comparison =
      compare_tables(table({"atomic", "separate"}, "predicted"), table({"separate"}, "measured"),
                     counters_named("l2_reduction_sectors,l2_read_sectors", ""));
  EXPECT_EQ(comparison.predicted_alone, 1u);
  EXPECT_EQ(comparison.measured_alone, 0u);
}

TEST(PackedPoint, SectionsCountKvHeadsAndOffLeavesTheRunAsItWas) {
  EXPECT_EQ(point_of(packed({{"section", "all"}})).text("section"), "4");
  // K and V of one head are 2 x 1024 x 128 bytes; two of them fit.
  EXPECT_EQ(point_of(packed({{"section", "auto:600KiB"}})).text("section"), "2");
  EXPECT_EQ(cells_of({{"pack-gqa", "off"}}), cells_of({}));
  EXPECT_EQ(cell(cells_of(packed({})), "heads"), "16");
  EXPECT_EQ(cell(cells_of(packed({})), "seq_q"), "1024");
}

TEST(PackedPoint, FlopAreThoseOfTheHeadsItPacks) {
  for (const char* mask : {"none", "causal", "window:100"}) {
    for (const char* seq_q : {"1", "1K", "1500"}) {
      const Options options{{"mask", mask}, {"seq-q", seq_q}, {"seq-kv", "1K"}};
      const auto flop = [](const Point& point) {
        return attention_flop(point.request.problem, point.request.tiling);
      };
      Options apart = options;
      apart.insert(apart.end(), {{"heads", "16"}, {"kv-heads", "4"}});
      EXPECT_EQ(flop(point_of(packed(options))), flop(point_of(apart))) << mask << " " << seq_q;
    }
  }
}

std::vector<SequenceLengths> lengths_in(const Options& options) {
  return point_of(options).sequences->lengths;
}

TEST(LengthsPoint, ListsSayHowManySequencesThereAreAndWhichIsTheLongest) {
  const Point point = point_of({{"lengths", "4K+1K+2K"}});
  EXPECT_EQ(point.text("batch"), "3");
  EXPECT_EQ(point.text("seq-kv"), "4096");
  EXPECT_EQ(point.text("seq-q"), "4096");  // queries as keys where nothing else is said
  EXPECT_EQ(point.text("q-lengths"), "4096+1024+2048");
  using All = std::vector<SequenceLengths>;
  EXPECT_EQ(point.sequences->lengths, (All{{4096, 4096}, {1024, 1024}, {2048, 2048}}));
  EXPECT_EQ(lengths_in({{"lengths", "4K+1K"}, {"seq-q", "1"}}), (All{{1, 4096}, {1, 1024}}));
  EXPECT_EQ(lengths_in({{"lengths", "2x4K+512"}, {"q-lengths", "2x1+512"}}),
            (All{{1, 4096}, {1, 4096}, {512, 512}}));
  EXPECT_EQ(lengths_in({{"seq-kv", "4K"}, {"q-lengths", "1+4"}}), (All{{1, 4096}, {4, 4096}}));
  // Packed queries are rows of all heads of the group.
  EXPECT_EQ(lengths_in(packed({{"lengths", "4K+1K"}, {"q-lengths", "1+3"}})),
            (All{{4, 4096}, {12, 1024}}));
}

TEST(LengthsPoint, ADistributionHasAsManySequencesAsTheBatch) {
  const Options options{{"lengths", "uniform:1K..64K:7"}, {"seq-q", "1"}, {"batch", "5"}};
  EXPECT_EQ(lengths_in(options).size(), 5u);
  EXPECT_EQ(point_of(options).text("lengths"), "uniform:1024..65536:7");
}

TEST(LengthsPoint, LongestFirstSortsByPairsAndKeepsEqualOnes) {
  const Options options{{"lengths", "1K+4K+1K+2K"}, {"seq-q", "1"}, {"sequence-order", "longest"}};
  EXPECT_EQ(point_of(options).sequences->order, (std::vector<int64_t>{1, 3, 0, 2}));
}

// 4 D FLOP a pair, D = 64: 1 x 4096 and 512 x 512 pairs, of which a causal mask hides half.
TEST(LengthsPoint, FlopAreThoseOfTheSequences) {
  const auto flop = [](const char* mask) {
    const Point point = point_of({{"lengths", "4K+512"}, {"q-lengths", "1+512"}, {"mask", mask}});
    const sim::Request& request = point.request;
    return attention_flop(request.problem, request.tiling, request.sequences);
  };
  EXPECT_EQ(flop("none"), 4.0 * 64 * (4096 + 512 * 512));
  EXPECT_EQ(flop("causal"), 4.0 * 64 * (4096 - 0.5 + 512 * 512 / 2));
}

TEST(RingPoint, HasItsChunksForwardAndBackward) {
  const Point point = point_of({{"ranks", "4"}, {"mask", "causal"}});
  EXPECT_EQ(point.ring->ranks, 4);
  EXPECT_EQ(point.ring->chunk_rows(), 128);
  EXPECT_EQ(refusal_of(backward({{"ring", "2"}})), "");
}

TEST(RingPoint, StandsForTheWholeAndEachStepOfEachGpu) {
  const Options ring{{"ring", "1, 2"}, {"mask", "causal"}, {"seq", "1K"}};
  std::vector<std::string> parts;
  for (const Settings& settings : expand({"", {}, {{"", given(ring)}}}, {})) {
    Catalog catalog;
    const Point point = resolve(settings, catalog);
    parts.push_back(point.text("ring") + ":" + point.text("ring-rank") + ":" +
                    point.text("ring-step"));
  }
  EXPECT_THAT(parts,
              ElementsAre("1:all:all", "1:0:0", "2:all:all", "2:0:0", "2:0:1", "2:1:0", "2:1:1"));
}

sim::Prediction prediction_of(const Point& point) {
  return predict(point, point.request, key_cells(point, "", "predicted")).prediction;
}

// 386 10^9 bytes a second for messages of any size: K and V of 512 rows of 128 bytes.
TEST(RingPoint, TakesTheTransfersTimeFromTheLinkOfTheProfile) {
  const auto step =
      prediction_of(point_of({{"ring", "2"}, {"ring-rank", "0"}, {"ring-step", "1"}}));
  EXPECT_NEAR(*step.transfer_us, 2 * 512 * 128 / 386e3, 1e-9);
  EXPECT_EQ(step.total.incoming_write_sectors, 0);  // all of it in step 0
}

TEST(HeadShards, AreOneGpusProblemWithItsTransfers) {
  const Point point =
      point_of({{"heads", "8"}, {"kv-heads", "4"}, {"head-shards", "4"}, {"exchange", "ulysses"}});
  EXPECT_EQ(point.request.problem.heads, 2);
  EXPECT_EQ(point.request.problem.kv_heads, 1);
  EXPECT_EQ(point.text("heads"), "8");
  // 256 rows of a GPU: Q and O of 6 heads, K and V of 3, of 128 bytes; 164 GB/s below 8 MiB.
  EXPECT_NEAR(*prediction_of(point).transfer_us, 256 * (2 * 6 + 2 * 3) * 128 / 164e3, 1e-9);
  const auto added =
      prediction_of(point_of({{"heads", "8"}, {"head-shards", "4"}, {"exchange", "megatron"}}));
  // All 1,024 rows of 8 heads, to which 3 of 4 GPUs add, and which come back from 3 of 4.
  EXPECT_NEAR(*added.transfer_us, 2 * 1024 * 8 * 128 * 3 / 4 / 164e3, 1e-9);
  EXPECT_EQ(*added.exposed_us, *added.transfer_us);
}

}  // namespace
}  // namespace sawtooth::experiments
