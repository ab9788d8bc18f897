// The protocol of a two-half L2, without time: what of a read or a write missed where.
//
// A read is looked up in the reader's near half. On a near miss a line whose home is the other half
// crosses the fabric and is looked up there; what misses at its home is read from DRAM. A line read
// through the half that is not its home is kept in both. A write allocates at the home half without
// a fill; where the writer sits at the other half, that keeps a copy, and else it drops its own. A
// dirty line costs a DRAM write when it is written back: when it leaves, or before, when it is old
// in its set. docs/models/halves.md has the evidence for each of these. A reduction goes to the
// home half alone, fills a missing line from DRAM, drops the other half's copy, and its line is
// written back only when it would leave, and stays (docs/models/backward.md). What a half keeps is
// decided by one of two stores: whole atoms (fully associative, exact) or sampled sets.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "scheduler/memory_units.hpp"
#include "sim/count_bits.hpp"
#include "sim/counters.hpp"
#include "sim/gpu.hpp"
#include "sim/halves/parameters.hpp"
#include "sim/halves/piece.hpp"
#include "sim/halves/sampled_sets.hpp"
#include "sim/schedule/atoms.hpp"

namespace sawtooth::sim {

// Two fully associative halves on whole atoms, and the LRU of weighted atoms that each half is.

class AtomLru {
 public:
  using Entry = uint32_t;

  AtomLru(size_t entries, int64_t capacity) : links_(entries + 1), capacity_(capacity) {}

  /// Makes room for entries 0 to `entries` - 1.
  void grow(size_t entries) { links_.resize(std::max(links_.size(), entries + 1)); }

  /// Any of it, or all.
  bool holds(Entry entry) const { return links_[entry + 1].weight > 0; }
  bool holds_all(Entry entry) const { return holds(entry) && !links_[entry + 1].trimmed; }

  /// Makes `entry` the most recent one, now of `weight`, and returns whether all of it was held.
  /// Where that no longer fits, the oldest entries leave, of the last of them its first part:
  /// `evicted(entry, before, after)` has the weights of a dirty one. The rest of such a part leaves
  /// when its entry is touched.
  template <class Evicted>
  bool touch(Entry entry, int64_t weight, bool write, Evicted evicted) {
    Link& link = links_[entry + 1];
    const bool held = holds_all(entry);
    if (held) {
      unlink(link);
    } else {
      if (holds(entry)) shrink(entry, link.weight, evicted);
      link.dirty = link.trimmed = false;
      total_ += weight;
      link.weight = weight;
    }
    link.dirty |= write;
    make_youngest(entry);
    while (total_ > capacity_) shrink(links_[ring].younger - 1, total_ - capacity_, evicted);
    return held;
  }

  /// Forgets what is held of `entry`.
  void drop(Entry entry) {
    if (holds(entry)) shrink(entry, links_[entry + 1].weight, [](Entry, int64_t, int64_t) {});
  }

 private:
  // A ring through link 0, whose `older` is the most recent entry and whose `younger` the least
  // recent one; entries follow it.
  static constexpr Entry ring = 0;
  struct Link {
    Entry older = 0;
    Entry younger = 0;
    int64_t weight = 0;    // 0: not held
    bool trimmed = false;  // its first part has left
    bool dirty = false;
  };

  // At most `weight` of `entry` leaves.
  template <class Evicted>
  void shrink(Entry entry, int64_t weight, Evicted evicted) {
    Link& link = links_[entry + 1];
    const int64_t held = link.weight;
    link.weight = std::max<int64_t>(0, held - weight);
    link.trimmed = true;
    total_ -= held - link.weight;
    if (link.weight == 0) unlink(link);
    if (link.dirty) evicted(entry, held, link.weight);
  }

  void unlink(const Link& link) {
    links_[link.younger].older = link.older;
    links_[link.older].younger = link.younger;
  }

  void make_youngest(Entry entry) {
    const Entry own = entry + 1;
    const Entry second = links_[ring].older;
    links_[own].older = second;
    links_[own].younger = ring;
    links_[second].younger = own;
    links_[ring].older = own;
  }

  std::vector<Link> links_;
  int64_t capacity_;
  int64_t total_ = 0;
};

// Two fully associative halves on whole atoms: sets are off, nothing is sampled, tiles stand for
// their lines exactly (docs/models/exactness.md, A), and those that leave go one by one. An atom
// has one piece a home, of half its lines.

/// A store of sim/halves/piece.hpp.
class WholeAtoms {
 public:
  explicit WholeAtoms(const HalvesParameters& parameters)
      : homes_(static_cast<uint32_t>(parameters.halves)) {
    for (uint32_t half = 0; half < homes_; ++half)
      halves_.emplace_back(0, parameters.capacity_lines * int64_t{homes_});
  }

  void begin(const HeadRun& run) {
    sizes_.resize(std::max(sizes_.size(), run.begin + run.sizes.size()));
    std::copy(run.sizes.begin(), run.sizes.end(), sizes_.begin() + run.begin);
    for (AtomLru& half : halves_) half.grow(sizes_.size() * homes_);
  }

  bool holds(AtomId atom) const {
    for (uint32_t home = 0; home < homes_; ++home)
      for (const AtomLru& half : halves_)
        if (half.holds(atom * homes_ + home)) return true;
    return false;
  }

  uint32_t pieces(AtomId) const { return homes_; }
  PieceMask at_home(AtomId, uint32_t /*first*/, int home) const {
    return first_pieces(homes_) & PieceMask{1} << home;
  }
  int64_t units(AtomId atom, uint32_t /*first*/, PieceMask which) const {
    return count_bits(which) * units_of_piece(atom);
  }

  PieceMask independent(AtomId, uint32_t /*first*/, PieceMask which) const {
    return which & -which;
  }

  template <class WrittenBack>
  PieceMask touch(int half, AtomId atom, uint32_t /*first*/, PieceMask which, Access access,
                  WrittenBack written_back) {
    PieceMask held = 0;
    for_each_piece(which, [&](uint32_t home) {
      // Lines weigh as many units as there are homes, and so does the capacity.
      const bool hit = halves_[static_cast<size_t>(half)].touch(
          atom * homes_ + home, sizes_[atom].lines, changes(access),
          [&](AtomLru::Entry gone, int64_t before, int64_t after) {
            const AtomId atom_gone = gone / homes_;
            written_back(atom_gone, units_left(atom_gone, after) - units_left(atom_gone, before));
          });
      held |= PieceMask{hit} << home;
    });
    return held;
  }

  PieceMask held(int half, AtomId atom, uint32_t /*first*/, PieceMask which) const {
    PieceMask held = 0;
    for_each_piece(which, [&](uint32_t home) {
      held |= PieceMask{halves_[static_cast<size_t>(half)].holds_all(atom * homes_ + home)} << home;
    });
    return held;
  }

  template <class WrittenBack>
  void drop(int half, AtomId atom, uint32_t /*first*/, PieceMask which, WrittenBack) {
    AtomLru& lru = halves_[static_cast<size_t>(half)];
    for_each_piece(which, [&](uint32_t home) { lru.drop(atom * homes_ + home); });
  }

  template <class WrittenBack>
  void settle(WrittenBack) {}

 private:
  int64_t units_of_piece(AtomId atom) const {
    return sizes_[atom].sectors * units_per_sector / homes_;
  }
  // What has left of a piece that still weighs `weight`; a ragged tile may not fill its last line.
  int64_t units_left(AtomId atom, int64_t weight) const {
    const int64_t lines_left = sizes_[atom].lines - weight;
    return std::min(lines_left * sectors_per_line * units_per_sector / homes_,
                    units_of_piece(atom));
  }

  std::vector<AtomSize> sizes_;
  uint32_t homes_;
  std::vector<AtomLru> halves_;
};

/// Lines of an atom from `begin` to `end`, as shares of its lines; of each of its tensors alike.
struct AtomPart {
  double begin = 0;
  double end = 1;
  bool whole() const { return begin <= 0 && end >= 1; }
};

class TwoHalves {
 public:
  /// It counts the lines of a read that have one home, in units of a piece.
  struct Missed {
    int64_t crossed = 0;     // the far half asked and had no copy: fabric reads
    int64_t at_home = 0;     // DRAM reads
    int64_t both_asked = 0;  // of at_home, lines that the home half's own readers asked for too
    int64_t asked = 0;       // all, of a prefetch
  };
  using MissedByHome = std::array<Missed, 2>;

  /// begin() names the atoms; `heads` must outlive this, and is null where one call names all
  /// atoms. Throws std::invalid_argument for bad parameters.
  explicit TwoHalves(const HalvesParameters& parameters, const LiveAtoms* heads = nullptr);

  /// The next visits to the atoms of `run` are the first ones of this head.
  void begin(const HeadRun& run);
  /// Whether a half holds a line of `atoms`.
  bool holds(AtomRange atoms) const;
  AtomSize size(AtomId atom) const { return sizes_[atom]; }

  /// Readers at the halves with `asks` read `part` of `atom`: afterwards its lines are there. A
  /// piece that stands for several lines is in the part that has one of them, drawn by chance:
  /// parts that make up the atom have every piece once. What a prefetch brings from DRAM
  /// to one of two halves is counted as a DRAM read alone.
  MissedByHome read(AtomId atom, std::array<bool, 2> asks, const AtomPart& part = {},
                    Access access = Access::read);
  /// Writers at the halves `from`.
  void write(AtomId atom, std::array<bool, 2> from);
  /// A copy from another GPU writes `atom`. SMs write it at its home alone; a copy engine writes it
  /// to DRAM, and what L2 held of it is gone.
  void receive(AtomId atom, Copier copier);
  /// A copy to another GPU reads `atom`, each line at its home, from DRAM where it is missing, and
  /// returns the sectors that missed. A copy engine leaves L2 as it was.
  double send(AtomId atom, Copier copier);
  /// Adds to `atom` at its home, `times` times from each half one behind the other. As the hardware
  /// counts, a reduction is one at the half that it comes from and one more where that is not home.
  void reduce(AtomId atom, std::array<uint32_t, 2> times);

  /// What the next visits to any atom are counted under, instead of the atom's own tensor.
  void count_under(Tensor tensor) { override_ = tensor; }

  /// Near misses are left to Tally: DRAM reads - fabric misses + fabric reads. Fabric misses have
  /// no line that both halves asked for, and how much SMs read and write is the caller's to count.
  Tally& tally_of(AtomId atom) { return tallies_[static_cast<size_t>(tensor_of(atom))]; }
  Tensor tensor_of(AtomId atom) const { return override_.value_or(tensors_[atom]); }
  /// What is written back by now counts.
  void settle();
  const Tally& tally(Tensor tensor) const { return tallies_[static_cast<size_t>(tensor)]; }
  const HalvesParameters& parameters() const { return parameters_; }

 private:
  int64_t put(AtomId atom, Access access, std::array<bool, 2> copies);
  template <class Function>
  void for_each_mask(AtomId atom, Function function);
  template <class Store>
  PieceMask touch(Store& store, int half, AtomId atom, uint32_t first, PieceMask which,
                  Access access);
  auto count_written_back() {
    return [this](AtomId owner, int64_t units) {
      tallies_[static_cast<size_t>(tensors_[owner])].written_back += sectors_of(units);
    };
  }

  HalvesParameters parameters_;
  std::vector<AtomSize> sizes_;
  std::vector<uint64_t> numbers_;  // LiveAtoms::number of each atom
  std::vector<Tensor> tensors_;
  std::vector<uint8_t> touched_;
  std::variant<WholeAtoms, SampledSets> store_;
  std::array<Tally, tensor_count> tallies_{};
  std::optional<Tensor> override_;
};

}  // namespace sawtooth::sim
