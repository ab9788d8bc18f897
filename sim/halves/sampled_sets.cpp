#include "sim/halves/sampled_sets.hpp"

#include <cmath>
#include <stdexcept>

#include "scheduler/integer_math.hpp"
#include "scheduler/memory_units.hpp"

namespace sawtooth::sim {
namespace {

/// The power of two that leaves sampled_sets to 1.5 sampled_sets / 0.75 of the sets: tiles have
/// powers of two of lines, and then as many pieces as they should.
int64_t sampling(int64_t all_sets) {
  int64_t lines = 1;
  while (all_sets * 4 > lines * sampled_sets * 6) lines *= 2;
  return lines;
}

}  // namespace

SampledSets::SampledSets(const HalvesParameters& parameters, const LiveAtoms* heads)
    : parameters_(parameters) {
  check(parameters);
  const int64_t all_sets = parameters.capacity_lines / parameters.ways;
  lines_a_piece_ = sampling(all_sets);
  sets_of_half_ = all_sets / lines_a_piece_;
  const int64_t reduced_sets =
      std::llround(parameters.reserved * double(sets_of_half_) * double(parameters.ways));
  const auto ways = static_cast<uint32_t>(parameters.ways);
  const auto dirty_ways =
      parameters.dirty_ways == 0 ? ways : static_cast<uint32_t>(parameters.dirty_ways);
  line_sets_ = LineSets(static_cast<size_t>(sets_of_half_));
  sets_.assign(static_cast<size_t>(parameters.halves),
               LruSets(static_cast<uint32_t>(sets_of_half_), ways, dirty_ways,
                       static_cast<uint32_t>(reduced_sets)));
  if (heads != nullptr) heads_.emplace(*heads, parameters, lines_a_piece_);
}

void SampledSets::begin(const HeadRun& run) {
  if (!heads_) return lay(run, {}, nullptr);
  const PagedKeys& keys = heads_->keys(run.tensor);
  const bool paged = keys.paged() && (run.tensor == Tensor::k || run.tensor == Tensor::v);
  lay(run, heads_->before(run.tensor, paged ? 0 : run.head), paged ? &keys : nullptr);
}

// Gives the atoms of `run` their sets. `before` are the lines before them; with `keys`, of whole
// tiles that lie in pages, the lines before the first page. Atoms that had these numbers were as
// large.
void SampledSets::lay(const HeadRun& run, PlacedLines before, const PagedKeys* keys) {
  size_t atom = run.begin;
  if (atom + 1 == atoms_.size()) atoms_.resize(atoms_.size() + run.sizes.size(), atoms_.back());
  uint32_t piece = atoms_[atom].first;
  std::vector<uint32_t> units;
  for (std::span<const AtomSize> sizes = run.sizes; !sizes.empty();) {
    const int64_t tile_number = static_cast<int64_t>(atom) - run.begin;
    PlacedTile tile = placed_tile(sizes, run.number + tile_number, lines_a_piece_);
    if (keys != nullptr && tile.lines > 0)
      tile.first_home = first_home_of(heads_->first_number(run.tensor) +
                                      keys->address(run.head, tile_number, 0) / keys->run_bytes());
    int64_t i = 0;
    int64_t lines_before = 0;
    for (const size_t end = atom + tile.atoms; atom < end; ++atom, sizes = sizes.subspan(1)) {
      const int first_home = tile.home(i, parameters_.halves);
      atoms_[atom].first = piece;
      line_sets_.begin_atom(piece);
      units.clear();
      lines_before += sizes.front().lines;
      // A piece is that part's which has the middle one of its lines.
      for (; i < tile.pieces && (2 * i + 1) * tile.lines <= 2 * tile.pieces * lines_before; ++i) {
        const int home = tile.home(i, parameters_.halves);
        const auto number = static_cast<size_t>(parameters_.one_allocation ? 0 : tile.tensor_of(i));
        while (placements_.size() <= number)
          placements_.emplace_back(parameters_, sets_of_half_, placements_.size());
        int64_t& next = before[number][static_cast<size_t>(home)];
        const int64_t line = keys == nullptr
                                 ? next++
                                 : next + piece_in_memory(*keys, run.head, tile_number, tile, i) /
                                              parameters_.halves;
        line_sets_.place(piece++, static_cast<uint16_t>(placements_[number].set_of(line, home)));
        units.push_back(static_cast<uint32_t>(tile.units * (i + 1) / tile.pieces -
                                              tile.units * i / tile.pieces));
      }
      const auto [known, is_new] = units_begin_.try_emplace(units, units_.size());
      if (is_new) {
        const bool alike =
            std::adjacent_find(units.begin(), units.end(), std::not_equal_to<>()) == units.end();
        units_.push_back(alike && !units.empty() ? units.front() : 0);
        units_.insert(units_.end(), units.begin(), units.end());
      }
      atoms_[atom].units = static_cast<uint32_t>(known->second);
      atoms_[atom].first_home = static_cast<uint32_t>(first_home);
    }
    if (line_sets_.lines() >= LruSets::no_line)
      throw std::invalid_argument("halves: too many lines; switch the sets off (ways = 0)");
  }
  if (atom + 1 == atoms_.size()) atoms_[atom].first = piece;
  for (LruSets& sets : sets_) sets.grow(line_sets_.lines());
}

// Where piece `piece` of a tile lies by the middle one of its lines, in pieces from its tensor's
// first on.
int64_t SampledSets::piece_in_memory(const PagedKeys& keys, int64_t head, int64_t tile_number,
                                     const PlacedTile& tile, int64_t piece) const {
  const int64_t tensor = piece * tile.tensors / tile.pieces;
  const int64_t begin = ceil_div(tensor * tile.pieces, tile.tensors);
  const int64_t pieces = ceil_div((tensor + 1) * tile.pieces, tile.tensors) - begin;
  const int64_t lines = tile.lines / tile.tensors;
  const int64_t middle = (2 * (piece - begin) + 1) * lines / (2 * pieces);
  return keys.address(head, tile_number, middle * line_bytes) / (line_bytes * lines_a_piece_);
}

const PlacedLines& PlacedHeads::before(Tensor tensor, int64_t head) {
  Walk& walk = walks_[static_cast<size_t>(tensor)];
  const int64_t stride = ceil_div(heads_.of_head().heads(tensor), most_marks);
  if (walk.marks.empty()) {
    walk.before = before_tensor(tensor);
    walk.marks.push_back(walk.before);
  }
  const int64_t mark = min_of(head / stride, std::ssize(walk.marks) - 1);
  if (walk.head > head || walk.head < mark * stride) {
    walk.head = mark * stride;
    walk.before = walk.marks[static_cast<size_t>(mark)];
  }
  while (walk.head < head) {
    pass(tensor, walk.head++, walk.before);
    if (walk.head == std::ssize(walk.marks) * stride) walk.marks.push_back(walk.before);
  }
  return walk.before;
}

// Adds the lines of a head.
void PlacedHeads::pass(Tensor tensor, int64_t head, PlacedLines& lines) const {
  std::span<const AtomSize> sizes = heads_.of_head().sizes(tensor, head);
  for (int64_t number = heads_.number(tensor, head); !sizes.empty();) {
    const PlacedTile tile = placed_tile(sizes, number, lines_a_piece_);
    for (int64_t t = 0; t < tile.tensors; ++t) {
      const int64_t begin = ceil_div(t * tile.pieces, tile.tensors);
      const int64_t count = ceil_div((t + 1) * tile.pieces, tile.tensors) - begin;
      auto& of_home = lines[one_allocation_ ? 0 : static_cast<size_t>(tile.tensor + t)];
      of_home[static_cast<size_t>(tile.home(begin, halves_))] += count - count / 2;
      of_home[static_cast<size_t>(tile.home(begin + 1, halves_))] += count / 2;
    }
    number += static_cast<int64_t>(tile.atoms);
    sizes = sizes.subspan(tile.atoms);
  }
}

PlacedLines PlacedHeads::before_tensor(Tensor tensor) {
  if (!one_allocation_) return {};
  std::optional<Tensor> last;  // of those before it
  for (const Tensor other : all_tensors) {
    const bool earlier = heads_.number(other, 0) < heads_.number(tensor, 0);
    if (heads_.of_head().heads(other) == 0 || !earlier) continue;
    if (!last || heads_.number(other, 0) > heads_.number(*last, 0)) last = other;
  }
  return last ? before(*last, heads_.of_head().heads(*last)) : PlacedLines{};
}

}  // namespace sawtooth::sim
