// Pages of K and V: where their lines lie decides what sets and halves hold, and nothing else.
#include <algorithm>
#include <numeric>
#include <vector>

#include "sim/halves/simulate_halves.hpp"
#include "sim/lru/simulate_lru.hpp"
#include "sim/schedule/wavefront.hpp"
#include "sim/sets/set_hash.hpp"
#include "sim/sets/simulate_sets.hpp"
#include "tests/support/naive_sets.hpp"
#include "tests/support/property.hpp"
#include "tests/support/same_predictions.hpp"
#include "tests/support/serving.hpp"

namespace sawtooth::sim {
namespace {

using tests::between;
using tests::ServingProblem;

// Lines of K and V get their addresses here from the page table, by the layout's definition.
class LineBySet : public WavefrontSink {
 public:
  LineBySet(const Request& request, const AtomTable& atoms)
      : request_(request),
        atoms_(atoms),
        geometry_(set_geometry(request.l2_bytes, request.sets)),
        hash_(request.sets, geometry_.sets),
        cache_(static_cast<size_t>(geometry_.ways), 0, request.sets.policy, request.sets.seed) {
    constexpr uint64_t aligned_lines = (2 << 20) / 128;
    uint64_t end = 0;
    for (AtomId atom = 0; atom < atoms.sizes().size(); ++atom) {
      const Tensor tensor = atoms.tensor_of(atom);
      if (atom == 0 || tensor != atoms.tensor_of(atom - 1)) {
        end = (end + aligned_lines - 1) / aligned_lines * aligned_lines;
        first_atom_ = atom;
        begin_ = end;
        if (is_paged(tensor)) end += pool_lines();
      }
      first_line_.push_back(is_paged(tensor) ? paged_lines(atom) : run_from(end, atom));
      if (!is_paged(tensor)) end += atoms.size(atom).lines;
    }
  }

  void touch(int64_t, AtomId atom, Access access) {
    for (int64_t i = 0; i < atoms_.size(atom).lines; ++i) {
      const uint64_t line = first_line_[atom][static_cast<size_t>(i)];
      const int64_t sectors = std::min<int64_t>(4, atoms_.size(atom).sectors - 4 * i);
      if (cache_.access(line, hash_.set_of(line), Priority::normal)) continue;
      (access == Access::write ? write_misses : read_misses) += sectors;
    }
  }

  int64_t read_misses = 0, write_misses = 0;

 private:
  using Lines = std::vector<uint64_t>;

  bool is_paged(Tensor tensor) const {
    return request_.sequences.pages.paged() && (tensor == Tensor::k || tensor == Tensor::v);
  }
  // A row is one line in these problems.
  uint64_t pool_lines() const {
    const Pages& pages = request_.sequences.pages;
    return uint64_t(pages.count * pages.rows * request_.problem.kv_heads);
  }
  Lines run_from(uint64_t first, AtomId atom) const {
    Lines lines(atoms_.size(atom).lines);
    std::iota(lines.begin(), lines.end(), first);
    return lines;
  }
  Lines paged_lines(AtomId atom) const {
    const Pages& pages = request_.sequences.pages;
    const Problem& problem = request_.problem;
    const int64_t tiles = kv_tiles(problem, request_.tiling);
    const int64_t head = (atom - first_atom_) / tiles, tile = (atom - first_atom_) % tiles;
    const int64_t sequence = head / problem.kv_heads, kv_head = head % problem.kv_heads;
    Lines lines;
    for (int64_t row = 0; row < atoms_.size(atom).lines; ++row) {
      const int64_t key = tile * request_.tiling.kv_rows + row;
      const int64_t page = pages.table[sequence * pages.stride + key / pages.rows];
      lines.push_back(
          begin_ + uint64_t((page * problem.kv_heads + kv_head) * pages.rows + key % pages.rows));
    }
    return lines;
  }

  const Request& request_;
  const AtomTable& atoms_;  // whole tiles
  SetGeometry geometry_;
  SetHash hash_;
  tests::NaiveSets cache_;
  std::vector<Lines> first_line_;
  AtomId first_atom_ = 0;  // of the tensor at hand
  uint64_t begin_ = 0;
};

RC_GTEST_PROP(Serving, SetsSeeTheAddressesOfPages, ()) {
  ServingProblem serving;
  make_any_serving_problem(serving);
  Request& request = serving.request;
  SetsParameters& sets = request.sets;
  sets.hash = static_cast<HashKind>(between(0, 2));
  sets.policy = static_cast<SetPolicy>(between(0, 2));
  sets.ways = int64_t{1} << between(0, 3);
  const int64_t count =
      sets.hash == HashKind::exclusive_or ? int64_t{1} << between(0, 5) : between(1, 40);
  request.l2_bytes = count * sets.ways * 128;
  const AtomTable atoms(request);
  LineBySet lines(request, atoms);
  LockstepWavefront(request, atoms, lines).run();
  const Counters total = simulate_sets(request).total;
  RC_ASSERT(total.l2_read_miss_sectors == lines.read_misses);
  RC_ASSERT(total.l2_write_miss_sectors == lines.write_misses);
}

RC_GTEST_PROP(Serving, FullyAssociativeCachesSeeNoPages, ()) {
  ServingProblem serving;
  make_serving_problem(serving, {.prefix = between(0, 1) == 1, .shares = true, .pages = true});
  Request plain = serving.request;
  plain.sequences.pages = {};
  RC_ASSERT(tests::same_counters(simulate_lru(serving.request), simulate_lru(plain)));
  RC_ASSERT(tests::same_counters(simulate_halves(serving.request, {.capacity_lines = 40}, {}),
                                 simulate_halves(plain, {.capacity_lines = 40}, {})));
}

// A pool in the order of a contiguous tensor is that tensor: one K/V head, whole pages.
RC_GTEST_PROP(Serving, PagesInOrderAreAContiguousTensor, ()) {
  ServingProblem serving;
  make_serving_problem(serving, {.shares = between(0, 1) == 1});
  Request& request = serving.request;
  request.problem.kv_heads = request.problem.heads = 1;
  request.schedule.order.section = between(1, request.problem.batch);
  const int64_t rows = int64_t{1} << between(0, 4);
  request.problem.seq_kv = 0;
  for (SequenceLengths& lengths : serving.lengths) {
    lengths.seq_kv = rows * ceil_div(lengths.seq_kv, rows);
    request.problem.seq_kv = max_of(request.problem.seq_kv, lengths.seq_kv);
  }
  if (request.problem.seq_kv == 0) return;
  request.schedule.kv_split =
      min_of(request.schedule.kv_split, kv_tiles(request.problem, request.tiling));
  request.schedule.order.section *= request.schedule.kv_split;
  request.tiling.rows_a_position = 1;
  if (request.shares.cuts()) serving.share();
  const HalvesParameters halves{.capacity_lines = 64, .ways = 4};
  request.sets.ways = 4;
  request.l2_bytes = 13 * 4 * 128;
  const Prediction contiguous_sets = simulate_sets(request);
  const Prediction contiguous = simulate_halves(request, halves, {});
  serving.page(rows, 0);
  std::iota(serving.table.begin(), serving.table.end(), 0);
  // The table has a stride of the longest; count pages through as a tensor does.
  int32_t next = 0;
  for (int64_t b = 0; b < request.problem.batch; ++b)
    for (int64_t i = 0; i < serving.lengths[size_t(b)].seq_kv / rows; ++i)
      serving.table[size_t(b * request.sequences.pages.stride + i)] = next++;
  RC_ASSERT(tests::same_counters(simulate_sets(request), contiguous_sets));
  const Prediction paged = simulate_halves(request, halves, {});
  RC_ASSERT(paged.total.l2_read_sectors == contiguous.total.l2_read_sectors);
  RC_ASSERT(paged.total.cold_read_sectors == contiguous.total.cold_read_sectors);
}

}  // namespace
}  // namespace sawtooth::sim
