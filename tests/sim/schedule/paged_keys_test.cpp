// Pages of K and V: where their lines lie decides what sets and halves hold, and nothing else.
#include <algorithm>
#include <numeric>
#include <vector>

#include "sim/schedule/wavefront.hpp"
#include "sim/sets/set_hash.hpp"
#include "sim/sets/simulate_sets.hpp"
#include "tests/support/atom_table.hpp"
#include "tests/support/naive_sets.hpp"
#include "tests/support/property.hpp"
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

}  // namespace
}  // namespace sawtooth::sim
