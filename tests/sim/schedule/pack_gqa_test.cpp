// Packed query heads: what is read how often, by hand and in closed form.
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "scheduler/tiling.hpp"
#include "sim/schedule/wavefront.hpp"
#include "tests/support/atom_table.hpp"

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

}  // namespace
}  // namespace sawtooth::sim
