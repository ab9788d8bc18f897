// Packed query heads: what is read how often, by hand and in closed form.
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "scheduler/packing.hpp"
#include "sim/lru/simulate_lru.hpp"
#include "sim/schedule/wavefront.hpp"

namespace sawtooth::sim {
namespace {

Request request_of(const Problem& problem, const Tiling& tiling, const Schedule& schedule,
                   int64_t l2_kib) {
  Request request;
  request.problem = problem;
  request.tiling = tiling;
  request.schedule = schedule;
  request.l2_bytes = l2_kib * 1024;
  return request;
}

Request pack(Request request) {
  request.tiling = packed(request.tiling, request.problem);
  request.problem = packed(request.problem);
  return request;
}

Counters of(const Prediction& prediction, Tensor tensor) {
  return prediction.by_tensor[static_cast<size_t>(tensor)];
}

void expect_equal(const Prediction& one, const Prediction& other) {
  for (size_t t = 0; t < one.by_tensor.size(); ++t)
    for (const CounterColumn& column : counter_columns)
      EXPECT_EQ(one.by_tensor[t].*column.member, other.by_tensor[t].*column.member)
          << tensor_names[t] << " " << column.name;
}

struct Trace : WavefrontSink {
  std::vector<std::tuple<int64_t, AtomId, Access>> touches;
  void touch(int64_t worker, AtomId atom, Access access) {
    touches.emplace_back(worker, atom, access);
  }
};

// Decode: one query position, three heads for each of two K/V heads, two K/V tiles.
TEST(PackGqa, DecodeReadsEachKvTileOnceForAllHeadsOfItsGroup) {
  const Request request =
      pack(request_of({.heads = 6, .kv_heads = 2, .seq_q = 1, .seq_kv = 128, .head_dim = 64},
                      {64, 64}, {.workers = 2}, 1024));
  const AtomTable atoms(request);
  Trace trace;
  LockstepWavefront(request, atoms, trace).run();
  const auto read = [&](int64_t worker, Tensor tensor, int64_t tile) {
    return std::tuple(worker, atoms.id(tensor, worker, tile), Access::read);
  };
  const auto write = [&](int64_t worker) {
    return std::tuple(worker, atoms.id(Tensor::o, worker, 0), Access::write);
  };
  const std::vector<std::tuple<int64_t, AtomId, Access>> expected{
      read(0, Tensor::q, 0),
      read(1, Tensor::q, 0),  // each worker has a whole group
      read(0, Tensor::k, 0),
      read(1, Tensor::k, 0),
      read(0, Tensor::v, 0),
      read(1, Tensor::v, 0),
      read(0, Tensor::k, 1),
      read(1, Tensor::k, 1),
      read(0, Tensor::v, 1),
      read(1, Tensor::v, 1),
      write(0),
      write(1)};
  EXPECT_EQ(trace.touches, expected);
  // Three rows of 128 bytes a group.
  EXPECT_EQ(atoms.size(atoms.id(Tensor::q, 0, 0)).lines, 3u);
  EXPECT_EQ(atoms.size(atoms.id(Tensor::o, 1, 0)).sectors, 12u);
}

// 512 positions of 8 heads over 2 K/V heads, tiles of 64 x 64 and 4 sectors a row, no mask: a head
// has 8 Q tiles, a packed group 32, and each reads 512 keys of K and of V.
TEST(PackGqa, AGroupOfFourReadsKvAQuarterAsOftenAndQAndOAsBefore) {
  const Request plain =
      request_of({.batch = 3, .heads = 8, .kv_heads = 2, .seq_q = 512, .seq_kv = 512}, {64, 64},
                 {.workers = 5}, 64);
  Request wide = plain;  // one tile has the rows that four heads have of one tile
  wide.tiling.q_rows = 256;
  const Prediction before = simulate_lru(plain);
  const Prediction after = simulate_lru(pack(wide));
  constexpr int64_t rows = 512 * 4;
  for (const Tensor tensor : {Tensor::k, Tensor::v}) {
    EXPECT_EQ(of(before, tensor).sm_read_sectors, 3 * 8 * 8 * rows);
    EXPECT_EQ(of(after, tensor).sm_read_sectors, 3 * 2 * 8 * rows);
  }
  for (const Prediction* prediction : {&before, &after}) {
    EXPECT_EQ(of(*prediction, Tensor::q).sm_read_sectors, 3 * 8 * rows);
    EXPECT_EQ(of(*prediction, Tensor::o).l2_write_sectors, 3 * 8 * rows);
    EXPECT_EQ(prediction->total.cold_read_sectors, 3 * 8 * rows + 2 * 3 * 2 * rows);
  }
}

// Without a mask all positions see the same keys: packed heads are one longer head.
TEST(PackGqa, WithoutAMaskAGroupIsOneLongerHead) {
  Request group =
      request_of({.heads = 6, .kv_heads = 2, .seq_q = 70, .seq_kv = 300, .head_dim = 128}, {64, 32},
                 {.scan = scan_id<SawtoothScan>, .workers = 3, .kv_split = 2}, 40);
  group.log_sum_exp = true;
  Request head = group;
  head.problem.heads = 2;
  head.problem.seq_q = 3 * 70;
  expect_equal(simulate_lru(pack(group)), simulate_lru(head));
}

TEST(PackGqa, AGroupOfOneHeadIsThatHead) {
  const Problem problem{.batch = 2,
                        .heads = 3,
                        .kv_heads = 3,
                        .seq_q = 100,
                        .seq_kv = 130,
                        .mask = {MaskKind::causal, 0}};
  const Request request = request_of(problem, {32, 64}, {.workers = 4}, 20);
  expect_equal(simulate_lru(pack(request)), simulate_lru(request));
}

}  // namespace
}  // namespace sawtooth::sim
