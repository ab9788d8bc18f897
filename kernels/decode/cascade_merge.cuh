// The end of a piece in a cascade. Every piece is left in global memory. Each row group counts, for
// each sequence whose rows it has, that they have been left; the one that comes last of a
// sequence's K/V head adds the pieces of the prefix and of the sequence's own keys, in that order,
// and writes its rows. It adds the rows of all sequences at once of which it comes last: a CTA that
// has many stacks of a prefix would else merge every sequence by itself.
#pragma once

#include "kernels/decode/merge.cuh"
#include "kernels/decode/walk.cuh"
#include "scheduler/cascade_row.hpp"

namespace sawtooth::kernels::decode {

/// Behind a piece that is left: merges the sequences of which no other is missing.
template <class Shape>
class SequenceMerge : PieceMerge<Shape> {
  using Base = PieceMerge<Shape>;
  using Base::arguments_, Base::storage_, Base::work_, Base::group_, Base::thread_;

 public:
  __device__ SequenceMerge(const DecodeArguments& arguments, Storage<Shape>& storage,
                           const CascadeWork& work, int group)
      : Base(arguments, storage, work, group),
        cascade_(cascade_of<Shape>(arguments)),
        row_(arguments, storage.tiles_before),
        shares_(row_tiles(arguments, row_).all, gridDim.x) {}

  /// By all threads of the row group.
  __device__ void finish() {
    const int rows = arguments_.rows();
    const int first = group_ * Shape::group_rows / rows;
    const int last = min(((group_ + 1) * Shape::group_rows - 1) / rows, work_.sequences - 1);
    const unsigned complete = come_last(first, last);
    const int all = __popc(complete) * rows;
    for (int first_row = 0; first_row < all; first_row += 16)
      merge(first, complete, first_row, min(all - first_row, 16));
  }

 private:
  __device__ CascadePieces of_prefix(int64_t item) const {
    const int64_t tiles = arguments_.prefix.tiles(Shape::kv_rows);
    return cascade_pieces(shares_, item, {item * tiles, (item + 1) * tiles});
  }
  __device__ CascadePieces of_sequence(int sequence, int64_t item) const {
    const CascadeRow row(cascade_, arguments_.kv_heads, arguments_.prefix.tiles(Shape::kv_rows));
    return cascade_pieces(shares_, item,
                          row.own_item(work_.kv_head, row_.before(sequence), row_.tiles(sequence)));
  }

  /// What has results of a sequence's head, and where its rows lie in pieces of the prefix.
  struct Parts {
    CascadePieces prefix, own;
    int prefix_row;
  };
  __device__ Parts parts_of(int sequence) const {
    const int64_t prefix_item = cascade_.prefix_item(sequence, work_.kv_head);
    const auto place = int(sequence - cascade_.sequences_of(prefix_item).begin);
    const int64_t own_item =
        cascade_.prefix_items() + int64_t(sequence) * arguments_.kv_heads + work_.kv_head;
    return {of_prefix(prefix_item), of_sequence(sequence, own_item), place * arguments_.rows()};
  }

  /// Each of the work's sequences `first` to `last` has a bit, set where all other rows of it were
  /// left before. Counts go back to zero, for the next launch.
  __device__ unsigned come_last(int first, int last) {
    this->meet();  // all have left what they have, and one fence a counting thread orders it
    if (thread_ < 32) {
      bool complete = false;
      if (first + thread_ <= last) {
        const int sequence = work_.sequence + first + thread_;
        const Parts parts = parts_of(sequence);
        const int rows = arguments_.rows();
        const auto others = unsigned(
            parts.prefix.count() * row_blocks_of(parts.prefix_row, rows, Shape::group_rows) +
            parts.own.count() * row_blocks_of(0, rows, Shape::group_rows) - 1);
        unsigned* const arrivals =
            arguments_.arrivals + int64_t(sequence) * arguments_.kv_heads + work_.kv_head;
        complete = arrive(arrivals, others) == others;
      }
      const unsigned all = __ballot_sync(0xffffffff, complete);
      if (thread_ == 0) storage_.comes_last[group_] = int(all);
    }
    this->meet();
    return unsigned(storage_.comes_last[group_]);
  }

  /// Adds up and writes `rows` rows, 16 at most, from `first_row` on of those that the sequences
  /// have, one behind the other, whose bits `complete` has; its first bit is the work's sequence
  /// `first`. Each row has its pieces in their order, whichever sequences it is added up with.
  __device__ void merge(int first, unsigned complete, int first_row, int rows) {
    const int row = thread_ / 8;
    if (row >= rows) return;
    const int number = first_row + row;
    for (int before = number / arguments_.rows(); before > 0; --before) complete &= complete - 1;
    const int sequence = work_.sequence + first + __ffs(int(complete)) - 1;
    const int in_sequence = number % arguments_.rows();
    const Parts parts = parts_of(sequence);
    const int64_t of_prefix = parts.prefix.count();
    float4 total[Base::chunks];
    float maximum, sum;
    this->add_team_pieces(
        0, of_prefix + parts.own.count() - 1, in_sequence, 0, 1,
        [&](int64_t piece, int of_sequence) -> PieceRow {
          if (piece < of_prefix)
            return {this->piece_at(parts.prefix.slot(parts.prefix.of.first + piece)),
                    parts.prefix_row + of_sequence};
          return {this->piece_at(parts.own.slot(parts.own.of.first + piece - of_prefix)),
                  of_sequence};
        },
        total, maximum, sum);
    this->store_row(sequence, in_sequence, total, maximum, sum);
  }

  Cascade cascade_;
  TileRow<Shape> row_;
  KvShares shares_;
};

/// A function of its own, so that nothing of it takes registers while tiles are multiplied; `work`
/// is in shared memory.
template <class Shape>
__device__ __noinline__ void merge_complete(const DecodeArguments& arguments,
                                            Storage<Shape>& storage, const CascadeWork& work,
                                            int group) {
  SequenceMerge<Shape>(arguments, storage, work, group).finish();
}

template <class Shape>
class CascadeMerge : PieceMerge<Shape> {
  using Base = PieceMerge<Shape>;

 public:
  using Base::Base;

  /// By all threads of the row group; `output` is used up.
  __device__ void finish(typename Base::Output& output,
                         const SoftmaxState<Shape::row_blocks>& softmax) {
    typename Base::Sums sums;
    float maximum[Shape::row_blocks];
    float sum[Shape::row_blocks];
    this->add_warps(output, softmax, sums, maximum, sum);
    this->leave(this->work_.slot, sums, maximum, sum);
    merge_complete<Shape>(this->arguments_, this->storage_, this->work_, this->group_);
  }
};

}  // namespace sawtooth::kernels::decode
