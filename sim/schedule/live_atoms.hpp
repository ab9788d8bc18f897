// Numbers for the atoms of heads that have items left, for models to which only sizes matter, not
// addresses, and for those that place a head's tiles anew when it gets its numbers. When a head's
// items have ended its tiles are dead: their numbers go to the next head, so that tables by atom
// are as long as the heads in flight need, however many there are.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <unordered_map>
#include <vector>

#include "sim/request.hpp"
#include "sim/schedule/atoms.hpp"

namespace sawtooth::sim {

/// The atoms that a head has of one tensor: neighbours in memory, and in both numberings.
struct HeadRun {
  Tensor tensor = Tensor::q;
  int64_t head = 0;
  AtomId begin = 0;    // LiveAtoms's number of the first
  int64_t number = 0;  // LiveAtoms::number() of it
  const std::vector<AtomSize>& sizes;
};

class LiveAtoms {
 public:
  /// Throws std::invalid_argument as HeadAtoms does; numbering does so where more than 2^32 - 1
  /// atoms are alive.
  explicit LiveAtoms(const Request& request, KvAtoms kv = KvAtoms::parts);

  /// `flat_head` is batch_index * heads_of_the_tensor + head (kv_heads for K and V); with kv_split
  /// partial results have flat_head * kv_split + part (of the backward pass, of a K/V head), and a
  /// piece its number with tile 0. A number stands for one size and tensor for ever.
  AtomId id(Tensor tensor, int64_t flat_head, int64_t tile) {
    return this->tile(tensor, flat_head, tile).begin;
  }
  /// All atoms of a tile, in the order of its lines; `id` is the first.
  AtomRange tile(Tensor tensor, int64_t flat_head, int64_t tile) {
    const Shift& shift = shift_[static_cast<size_t>(tensor)];
    return tile_in_memory(tensor, flat_head + shift.heads, tile + shift.tiles);
  }
  /// Whatever shift() says.
  AtomRange tile_in_memory(Tensor tensor, int64_t flat_head, int64_t tile) {
    const auto t = static_cast<size_t>(tensor);
    return head_.tile(tensor, begin_of(kind_of[t], flat_head) + offset_[t], tile);
  }
  /// From now on head 0 and tile 0 of `tensor` are those so many further on: of a call over a part
  /// of the rows, or with another buffer of K and V.
  struct Shift {
    int64_t heads = 0;
    int64_t tiles = 0;
  };
  void shift(Tensor tensor, const Shift& shift) { shift_[static_cast<size_t>(tensor)] = shift; }
  /// These atoms of a tile have their first line in `lines` of the tile.
  AtomRange part(Tensor tensor, int64_t flat_head, int64_t tile, Range lines) {
    return head_.part(tensor, this->tile(tensor, flat_head, tile), lines);
  }
  Tensor tensor_of(AtomId atom) const { return static_cast<Tensor>(sizes_[atom].tensor); }
  AtomSize size(AtomId atom) const { return sizes_[atom]; }
  /// All numbers so far have a size here; the vector grows.
  const std::vector<AtomSize>& sizes() const { return sizes_; }

  /// Nothing will touch Q, O and log-sum-exp (`q_or_k` is Tensor::q), or K and V, of this head.
  void ended(Tensor q_or_k, int64_t flat_head);

  const HeadAtoms& of_head() const { return head_; }
  /// The number of a head's first atom in the order of memory: tensor after tensor, head after
  /// head.
  int64_t number(Tensor tensor, int64_t flat_head) const {
    return number_[static_cast<size_t>(tensor)] + flat_head * head_.count(tensor);
  }

  /// From now on heads that get numbers are kept for take_begun().
  void record_begun() { records_begun_ = true; }
  /// Calls begin(HeadRun) for every tensor of the heads that got numbers since the last call.
  template <class Begin>
  void take_begun(Begin begin) {
    for (const Begun& begun : begun_) {
      for (size_t t = 0; t < kind_of.size(); ++t) {
        const auto tensor = static_cast<Tensor>(t);
        if (kind_of[t] != begun.kind || head_.heads(tensor) == 0) continue;
        begin(HeadRun{tensor, begun.head, begun.begin + offset_[t], number(tensor, begun.head),
                      head_.sizes(tensor, begun.head)});
      }
    }
    begun_.clear();
  }

  /// Calls forget(AtomRange) for the atoms of heads that have ended since the last call, and gives
  /// their numbers again from now on. All touches before must have been counted.
  template <class Forget>
  void recycle(Forget forget) {
    recycle_where([&](AtomRange atoms) {
      forget(atoms);
      return true;
    });
  }

  /// The same where gone(AtomRange) is true; the others are asked about again.
  template <class Gone>
  void recycle_where(Gone gone) {
    std::erase_if(ended_, [&](const auto& ended) {
      Block& block = blocks_[ended.kind];
      if (!gone(AtomRange{ended.begin, ended.begin + block.count})) return false;
      block.free[ended.shape].push_back(ended.begin);
      ended_atoms_ -= block.count;
      return true;
    });
  }
  /// Heads that have ended had so many, with numbers that are not given again so far.
  size_t ended_atoms() const { return ended_atoms_; }

 private:
  // What lives and dies together: of a query head, of a K/V head, and of a partial result.
  enum Kind : uint8_t { query, key_value, partial, kinds };
  static constexpr std::array<Kind, tensor_count> kind_of = [] {
    std::array<Kind, tensor_count> kinds{};
    for (size_t t = 0; t < kinds.size(); ++t) {
      const auto tensor = static_cast<Tensor>(t);
      kinds[t] = is_partial(tensor) ? partial : has_key_rows(tensor) ? key_value : query;
    }
    return kinds;
  }();

  struct Block {
    AtomId count = 0;                       // numbers of a head, one after the other
    std::vector<std::vector<AtomId>> free;  // begins of dead ones, of heads of each shape
    std::unordered_map<int64_t, AtomId> begin_of_head;
  };
  struct Ended {
    Kind kind = query;
    size_t shape = 0;
    AtomId begin = 0;
  };
  struct Begun {
    Kind kind = query;
    int64_t head = 0;
    AtomId begin = 0;
  };
  struct Recent {
    int64_t head = -1;
    AtomId begin = 0;
  };
  static constexpr size_t recents = 256;  // heads found without a look into the map

  AtomId begin_of(Kind kind, int64_t head) {
    Recent& recent = recent_[kind][static_cast<size_t>(head) % recents];
    if (recent.head != head) recent = {head, find(kind, head)};
    return recent.begin;
  }
  AtomId find(Kind kind, int64_t head);
  size_t shape_of(Kind kind, int64_t head) const {
    constexpr std::array<Tensor, kinds> of_kind{Tensor::q, Tensor::k, Tensor::partial_o};
    return head_.shape(of_kind[kind], head);
  }

  HeadAtoms head_;
  std::array<Shift, tensor_count> shift_{};
  std::array<AtomId, tensor_count> offset_{};   // of a tensor in its block
  std::array<int64_t, tensor_count> number_{};  // of a tensor's first head
  std::array<Block, kinds> blocks_;
  std::array<std::array<Recent, recents>, kinds> recent_;
  std::vector<Ended> ended_;
  size_t ended_atoms_ = 0;
  bool records_begun_ = false;
  std::vector<Begun> begun_;
  std::vector<AtomSize> sizes_;
};

// Which heads have items left: what is kept of a head is kept from its first item to the end of its
// last one, so that memory grows with the heads in flight, not with all of them.

class LiveHeads {
 public:
  explicit LiveHeads(const Request& request)
      : batch_(request.problem.batch),
        kv_heads_(request.problem.kv_heads),
        prefix_(request.sequences.prefix),
        of_q_head_{.all = whole_item_count(request.problem, request.tiling, request.schedule) /
                          (request.problem.batch * request.problem.heads)},
        of_kv_head_{.all = of_q_head_.all * request.problem.heads_per_kv_head()} {}

  /// An item of these heads has ended, its last piece if it is cut. Calls ended(Tensor::q, q_head)
  /// after a query head's last item, and ended(Tensor::k, kv_head) after a K/V head's last one. The
  /// K/V heads of sequences that share a prefix end together, for one has it for all.
  template <class Ended>
  void item_ended(int64_t q_head, int64_t kv_head, Ended ended) {
    if (of_q_head_.count_down(q_head, 1)) ended(Tensor::q, q_head);
    if (!prefix_.shared()) {
      if (of_kv_head_.count_down(kv_head, 1)) ended(Tensor::k, kv_head);
      return;
    }
    const int64_t first = prefix_.first_of_group(kv_head / kv_heads_);
    const int64_t end = min_of(batch_, first + prefix_.group);
    const int64_t head = kv_head % kv_heads_;
    if (!of_kv_head_.count_down(first * kv_heads_ + head, end - first)) return;
    for (int64_t sequence = first; sequence < end; ++sequence)
      ended(Tensor::k, sequence * kv_heads_ + head);
  }

  /// K/V heads of which some items have ended and others not.
  int64_t begun_kv_heads() const { return std::ssize(of_kv_head_.left); }
  bool has_begun_kv_head(int64_t kv_head) const { return of_kv_head_.left.contains(kv_head); }

 private:
  struct Items {
    /// Whether that was the last item of `head`, which stands for `heads` of them.
    bool count_down(int64_t head, int64_t heads) {
      if (all * heads == 1) return true;
      const auto at = left.try_emplace(head, all * heads).first;
      if (--at->second > 0) return false;
      left.erase(at);
      return true;
    }
    int64_t all = 1;  // of a head
    std::unordered_map<int64_t, int64_t> left = {};
  };

  int64_t batch_;
  int64_t kv_heads_;
  Prefix prefix_;
  Items of_q_head_, of_kv_head_;
};

// Numbers for the atoms of heads in flight, and of ended ones of which L2 still holds lines: what
// is kept is bounded by the cache, however many heads there are.

/// `L2` has begin(HeadRun) and holds(AtomRange), as TwoHalves and PlacedSets; look_for_held() comes
/// before where it has one.
template <class L2>
class HeldHeads {
 public:
  HeldHeads(LiveAtoms& atoms, L2& l2) : atoms_(atoms), l2_(l2) { atoms_.record_begun(); }

  /// Before visits: heads that got numbers get their place in memory.
  void begin() {
    atoms_.take_begun([this](const HeadRun& run) { l2_.begin(run); });
  }
  /// When all touches so far have been visited. A look costs about the ways of L2, so it comes
  /// after as many ended atoms.
  void settle() {
    if (atoms_.ended_atoms() < limit_) return;
    if constexpr (requires { l2_.look_for_held(); }) l2_.look_for_held();
    atoms_.recycle_where([this](AtomRange atoms) { return !l2_.holds(atoms); });
    limit_ = least_ended + 2 * atoms_.ended_atoms();
  }

 private:
  static constexpr size_t least_ended = 16384;

  LiveAtoms& atoms_;
  L2& l2_;
  size_t limit_ = least_ended;
};

}  // namespace sawtooth::sim
