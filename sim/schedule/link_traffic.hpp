// Tiles that cross the link while a GPU computes: K and V of later steps come in, and another GPU
// takes those that this one owns at the same pace. Tiles of a transfer cross one after another,
// evenly in time, all K before all V as two copies bring them; a pair of K and V that is one atom
// crosses as one.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/gpu.hpp"
#include "sim/schedule/live_atoms.hpp"

namespace sawtooth::sim {

class LinkTraffic {
 public:
  /// K and V have `heads` heads each, of `tiles` tiles; with `pairs` a tile is one of both.
  LinkTraffic(int64_t heads, int64_t tiles, bool pairs, Copier copier)
      : heads_(heads), tiles_(tiles), pairs_(pairs), copier_(copier) {}

  Copier copier() const { return copier_; }

  /// K and V come to the buffer whose first head is `to_head`, behind all transfers before.
  void add(double begin_ns, double end_ns, int64_t to_head) {
    transfers_.push_back({begin_ns, end_ns, to_head});
  }

  /// Whether a tile has crossed by `ns` that cross_until() has not seen.
  bool is_due(double ns) const { return transfer_ < transfers_.size() && crosses_ns() <= ns; }

  /// Calls crossed(ns, atoms that are written, atoms that are read) for all tiles that cross by
  /// `ns`, in order of time.
  template <class Crossed>
  void cross_until(double ns, LiveAtoms& atoms, Crossed crossed) {
    while (is_due(ns)) {
      const Tensor tensor = at_ < heads_ * tiles_ ? Tensor::k : Tensor::v;
      const int64_t head = at_ / tiles_ % heads_;
      const int64_t to_head = transfers_[transfer_].to_head + head, tile = at_ % tiles_;
      const AtomRange came = atoms.tile_in_memory(tensor, to_head, tile);
      const AtomRange went = atoms.tile_in_memory(tensor, head, tile);
      crossed(crosses_ns(), came, went);
      if (++at_ < all()) continue;
      at_ = 0;
      ++transfer_;
    }
  }

 private:
  struct Transfer {
    double begin_ns = 0;
    double end_ns = 0;
    int64_t to_head = 0;
  };

  int64_t all() const { return (pairs_ ? 1 : 2) * heads_ * tiles_; }
  // When the next tile has crossed.
  double crosses_ns() const {
    const Transfer& transfer = transfers_[transfer_];
    return std::lerp(transfer.begin_ns, transfer.end_ns, double(at_ + 1) / double(all()));
  }

  int64_t heads_;
  int64_t tiles_;
  bool pairs_;
  Copier copier_;
  std::vector<Transfer> transfers_;
  size_t transfer_ = 0;
  int64_t at_ = 0;  // of its tiles
};

}  // namespace sawtooth::sim
