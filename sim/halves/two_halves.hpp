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

#include <array>
#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "sim/counters.hpp"
#include "sim/gpu.hpp"
#include "sim/halves/parameters.hpp"
#include "sim/halves/sampled_sets.hpp"
#include "sim/halves/whole_atoms.hpp"
#include "sim/schedule/atoms.hpp"

namespace sawtooth::sim {

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
