#include "sim/lru/stack_distance.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <stdexcept>
#include <string>

#include "sim/count_bits.hpp"

namespace sawtooth::sim {
namespace {

constexpr uint32_t lane_count = 16;  // a node's sums

/// `count` set bits, the lowest; 1 <= count <= 64.
constexpr uint64_t bits(uint32_t count) {
  return UINT64_MAX >> (64 - count);
}

/// Row `lane` holds -1 in the lanes after `lane` and 0 in the others.
using Row = std::array<uint32_t, lane_count>;
constexpr std::array<Row, lane_count> minus_one_after = [] {
  std::array<Row, lane_count> rows{};
  for (uint32_t lane = 0; lane < lane_count; ++lane)
    for (uint32_t later = lane + 1; later < lane_count; ++later) rows[lane][later] = UINT32_MAX;
  return rows;
}();

/// Takes `weight` from all of a node's sums after `lane`; compilers make vectors of it.
void take_after(uint32_t lane, uint32_t weight, uint32_t* sums) {
  const Row& minus_one = minus_one_after[lane];
  for (uint32_t i = 0; i < lane_count; ++i) sums[i] -= minus_one[i] & weight;
}

}  // namespace

StackDistance::StackDistance(std::span<const AtomSize> sizes) {
  slot_.reserve(sizes.size());
  for (const AtomSize& size : sizes) add(size.lines);
}

void StackDistance::add(uint32_t lines) {
  // Never visited, so that any weight will do: one that is there changes no unit.
  if (lines == 0) lines = std::max(uint32_t{1}, unit_lines_);
  const uint32_t unit = std::gcd(unit_lines_, lines);
  if (too_heavy(int64_t{lines}, unit)) {
    make_room();
    require_lighter(int64_t{lines}, unit);
  }
  all_lines_ += lines;
  slot_.push_back(never);
  if (unit_lines_ == 0) {
    unit_lines_ = lines;
    digits_ = 1;
    return make_room();
  }
  if (weights_.empty() && lines == unit_lines_) return;
  if (weights_.empty()) weights_.assign(slot_.size() - 1, 1);
  uint32_t digits = digits_;
  uint32_t finer = 1;
  if (unit != unit_lines_) {
    finer = unit_lines_ / unit;
    digits = 0;
    for (uint32_t& weight : weights_) digits |= weight *= finer;
    total_ *= finer;
    unit_lines_ = unit;
  }
  weights_.push_back(lines / unit);
  digits |= weights_.back();
  if (digits == digits_) return;
  digits_ = digits;
  make_room(finer);
}

void StackDistance::forget(AtomRange atoms) {
  for (AtomId atom = atoms.begin; atom < atoms.end; ++atom) {
    if (slot_[atom] == never) continue;
    slot_[atom] = never;
    forgotten_lines_ += int64_t{weight_of(atom)} * unit_lines_;
  }
  if (!too_heavy(0, unit_lines_)) return;
  make_room();
  require_lighter(0, unit_lines_);
}

bool StackDistance::too_heavy(int64_t more_lines, uint32_t unit) const {
  return (all_lines_ + forgotten_lines_ + more_lines) / unit > UINT32_MAX;
}

void StackDistance::require_lighter(int64_t more_lines, uint32_t unit) const {
  if (!too_heavy(more_lines, unit)) return;
  throw std::invalid_argument("stack distance: all atoms together have more than 2^32 units of " +
                              std::to_string(unit) + " lines; use larger tiles");
}

void StackDistance::allocate(uint32_t slots) {
  slots_ = slots;
  size_t children = slots / leaf_slots;
  leaves_.assign(children * planes_.size(), 0);
  level_count_ = 0;
  do {
    children = (children + fan_out - 1) / fan_out;
    levels_[level_count_++].assign(children, Sums{});
  } while (children > 1);
}

void StackDistance::visit(std::span<const AtomId> atoms, std::span<int64_t> distances) {
  if (distances.size() < atoms.size())
    throw std::invalid_argument("stack distance: fewer distances than visits");
  planes_.size() == 1 ? visit_all<true>(atoms, distances.data())
                      : visit_all<false>(atoms, distances.data());
}

// Visits until the row is full, leaf by leaf. Every visit takes one slot, a repeated one too.
template <bool one_size>
void StackDistance::visit_all(std::span<const AtomId> atoms, int64_t* distances) {
  while (!atoms.empty()) {
    if (now_ == slots_) make_room();
    const size_t count = std::min(atoms.size(), size_t{leaf_slots - now_ % leaf_slots});
    fill_leaf<one_size>(atoms, count, distances);
    if (now_ % leaf_slots == 0) close_leaf();
    atoms = atoms.subspan(count);
    distances += count;
  }
}

// The first `count` visits of `atoms`, whose slots lie in one leaf. Atoms of one size weigh 1 unit.
template <bool one_size>
void StackDistance::fill_leaf(std::span<const AtomId> atoms, size_t count, int64_t* distances) {
  static_assert(fan_out == lane_count);
  const size_t planes = one_size ? 1 : planes_.size();
  const uint32_t* const plane = planes_.data();
  uint32_t* const slot_of = slot_.data();
  uint64_t* const leaves = leaves_.data();
  uint64_t* const open_leaf = leaves + now_ / leaf_slots * planes;
  const int levels = level_count_;
  const bool far = slots_ >= far_slots;
  uint32_t now = now_;
  uint32_t total = total_;
  for (size_t i = 0; i < count;) {
    __builtin_prefetch(&slot_of[atoms[std::min(i + visits_fetched_ahead, atoms.size() - 1)]]);
    if (far) {
      const uint32_t soon =
          slot_of[atoms[std::min(i + visits_fetched_ahead / 2, atoms.size() - 1)]];
      if (soon != never) {
        __builtin_prefetch(&leaves[soon / leaf_slots * planes]);
        __builtin_prefetch(&levels_[0][soon / leaf_slots / fan_out]);
      }
    }
    const uint32_t slot = slot_of[atoms[i]];
    const uint32_t weight = one_size ? 1 : weights_[atoms[i]];
    slot_of[atoms[i]] = now;
    uint32_t run = 1;
    if (slot == never) {
      ++live_;
      total += weight;
      distances[i] = cold;
    } else {
      // Atoms whose last visits followed each other too, in one leaf: where each comes to lie
      // behind the others, all have one distance.
      if constexpr (one_size) {
        const uint32_t most =
            std::min({uint32_t(count - i), leaf_slots - slot % leaf_slots, now - slot});
        while (run < most && slot_of[atoms[i + run]] == slot + run) {
          slot_of[atoms[i + run]] = now + run;
          ++run;
        }
      }
      uint32_t child = slot / leaf_slots;
      uint64_t* const leaf = leaves + child * planes;
      const uint64_t own_bit = uint64_t{1} << slot % leaf_slots;
      const uint64_t own_bits = bits(run) << slot % leaf_slots;
      uint32_t up_to_own = 0;
      for (size_t p = 0; p < planes; ++p) {
        const uint32_t owned = count_bits(leaf[p] & (own_bit | (own_bit - 1)));
        up_to_own += one_size ? owned : owned << plane[p];
        leaf[p] &= ~own_bits;
      }
      const uint32_t moved = one_size ? run : weight;
      for (int level = 0; level < levels; ++level, child /= fan_out) {
        Sums& sums = levels_[level][child / fan_out];
        up_to_own += sums.before[child % fan_out];
        take_after(child % fan_out, moved, sums.before);
      }
      const int64_t distance = int64_t{total - up_to_own} * unit_lines_;
      for (uint32_t r = 0; r < run; ++r) distances[i + r] = distance;
    }
    for (size_t p = 0; p < planes; ++p) {
      const uint64_t digits = one_size ? bits(run) : weight >> plane[p] & 1;
      open_leaf[p] |= digits << now % leaf_slots;
    }
    i += run;
    now += run;
  }
  now_ = now;
  total_ = total;
}

/// Gives the leaf that begins at now_, and the nodes that begin with it, the weight before them.
void StackDistance::close_leaf() {
  uint32_t child = now_ / leaf_slots - 1;
  uint32_t weight = 0;
  for (size_t p = 0; p < planes_.size(); ++p)
    weight += count_bits(leaves_[child * planes_.size() + p]) << planes_[p];
  for (int level = 0; level < level_count_; ++level, child /= fan_out) {
    Sums& sums = levels_[level][child / fan_out];
    weight += sums.before[child % fan_out];
    if (child % fan_out + 1 < fan_out) {
      sums.before[child % fan_out + 1] = weight;
      return;
    }
  }
}

/// Closes the gaps that later visits have left, with planes for all weights, whose unit is `finer`
/// times finer than that of the planes before; the row grows with the number of atoms.
void StackDistance::make_room(uint32_t finer) {
  uint32_t oldest = now_;
  for (const uint32_t slot : slot_) oldest = std::min(oldest, slot);
  drop_before(oldest, finer);
  if (live_ > most_atoms)
    throw std::runtime_error("stack distance: more than 2^31 atoms were visited");
  const std::vector<Owned> owned = owned_slots();
  const BigVector<uint64_t> old_leaves = std::move(leaves_);
  const std::vector<uint32_t> old_planes = std::move(planes_);
  planes_.clear();
  for (uint32_t digit = 0; digit < 32; ++digit)
    if (digits_ >> digit & 1) planes_.push_back(digit);
  const uint64_t wanted = uint64_t{live_} * slots_per_atom;
  allocate(uint32_t(std::clamp<uint64_t>((wanted + leaf_slots - 1) / leaf_slots * leaf_slots,
                                         slots_, most_slots)));
  uint32_t next = 0;
  for (size_t leaf = 0; leaf < owned.size(); ++leaf) {
    for (uint64_t slots = owned[leaf].slots; slots != 0; slots &= slots - 1) {
      const int bit = std::countr_zero(slots);
      uint32_t weight = 0;
      for (size_t p = 0; p < old_planes.size(); ++p)
        weight |= uint32_t(old_leaves[leaf * old_planes.size() + p] >> bit & 1) << old_planes[p];
      own(next++, weight * finer);
    }
  }
  for (uint32_t& slot : slot_)
    if (slot != never) slot = rank(owned, slot);
  for (now_ = leaf_slots; now_ <= live_; now_ += leaf_slots) close_leaf();
  now_ = live_;
}

/// What only forgotten atoms own: no distance reaches so far.
void StackDistance::drop_before(uint32_t slot, uint32_t finer) {
  for (uint32_t leaf = 0; leaf * leaf_slots < slot; ++leaf) {
    const uint32_t behind = slot - leaf * leaf_slots;
    const uint64_t before = behind < leaf_slots ? (uint64_t{1} << behind) - 1 : UINT64_MAX;
    uint64_t dropped = 0;
    for (size_t p = 0; p < planes_.size(); ++p) {
      uint64_t& owned = leaves_[leaf * planes_.size() + p];
      const uint32_t weight = (count_bits(owned & before) << planes_[p]) * finer;
      total_ -= weight;
      forgotten_lines_ -= int64_t{weight} * unit_lines_;
      dropped |= owned & before;
      owned &= ~before;
    }
    live_ -= count_bits(dropped);
  }
}

void StackDistance::own(uint32_t slot, uint32_t weight) {
  for (size_t p = 0; p < planes_.size(); ++p)
    leaves_[slot / leaf_slots * planes_.size() + p] |= uint64_t(weight >> planes_[p] & 1)
                                                       << slot % leaf_slots;
}

std::vector<StackDistance::Owned> StackDistance::owned_slots() const {
  std::vector<Owned> owned(slots_ / leaf_slots);
  uint32_t before = 0;
  for (size_t leaf = 0; leaf < owned.size(); ++leaf) {
    owned[leaf].before = before;
    for (size_t p = 0; p < planes_.size(); ++p)
      owned[leaf].slots |= leaves_[leaf * planes_.size() + p];
    before += count_bits(owned[leaf].slots);
  }
  return owned;
}

/// How many owned slots come before `slot`.
uint32_t StackDistance::rank(const std::vector<Owned>& owned, uint32_t slot) {
  const Owned& leaf = owned[slot / leaf_slots];
  return leaf.before + count_bits(leaf.slots & ((uint64_t{1} << slot % leaf_slots) - 1));
}

std::vector<AtomId> StackDistance::recency_order() const {
  const std::vector<Owned> owned = owned_slots();
  std::vector<AtomId> order(live_);
  for (size_t atom = 0; atom < slot_.size(); ++atom)
    if (slot_[atom] != never) order[live_ - 1 - rank(owned, slot_[atom])] = AtomId(atom);
  return order;
}

}  // namespace sawtooth::sim
