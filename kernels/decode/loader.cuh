// The loader: one warp that walks the CTA's shares, tells the consumers each piece and fills the
// ring of K/V tiles, by the copy engine (sm_90 and later) or by cp.async.
#pragma once

#include "kernels/decode/walk.cuh"
#include "kernels/hopper/instructions.cuh"
#include "kernels/mma/ptx.cuh"
#include "kernels/tma/tma.cuh"

namespace sawtooth::kernels::decode {

/// The pages of a piece, a lane an entry of the table: 32 now and the 32 behind them on their way.
class PageWindow {
 public:
  __device__ PageWindow(const DecodeArguments& arguments)
      : arguments_(arguments), shift_(arguments.page_shift) {}

  /// The keys are those below `keys` of sequence `sequence`.
  __device__ void begin(int sequence, int keys, int first_key) {
    sequence_ = sequence;
    if (arguments_.pages == nullptr) return;
    entries_ = (keys + arguments_.page_rows - 1) >> shift_;
    first_ = first_key >> shift_;
    now_ = entry(first_);
    ahead_ = entry(first_ + 32);
  }
  /// By the whole warp: the page of key `key`, which may differ from lane to lane and stays within
  /// 32 pages of the smallest key of the call before.
  __device__ int page(int key, int smallest_key) {
    if (arguments_.pages == nullptr) return sequence_;
    if ((smallest_key >> shift_) >= first_ + 32) {
      first_ += 32;
      now_ = ahead_;
      ahead_ = entry(first_ + 32);
    }
    const int place = (key >> shift_) - first_;
    const int here = __shfl_sync(0xffffffff, now_, place % 32);
    const int next = __shfl_sync(0xffffffff, ahead_, place % 32);
    return place < 32 ? here : next;
  }
  __device__ int row(int key) const {
    return arguments_.pages == nullptr ? key : key & (arguments_.page_rows - 1);
  }

 private:
  __device__ int entry(int first) const {
    const int number = first + thread_number() % 32;
    return number < entries_
               ? __ldcg(arguments_.pages + sequence_ * arguments_.pages_a_sequence + number)
               : 0;
  }

  const DecodeArguments& arguments_;
  int shift_;
  int64_t sequence_ = 0;
  int entries_ = 0;
  int first_ = 0;
  int now_ = 0, ahead_ = 0;
};

/// What both loaders share: the walk, the ring, the work slots.
template <class Shape, class Copies>
__device__ inline void load_shares(const DecodeArguments& arguments, Storage<Shape>& storage,
                                   Copies copies) {
  RingPosition<work_slots> slot{0, 1};
  RingPosition<Shape::stages> stage{0, 1};
  PageWindow window(arguments);
  const bool first_lane = thread_number() % 32 == 0;
  // Where the walk reads no memory it is under way before the launch before has ended.
  bool waits = arguments.lengths == nullptr && arguments.pages == nullptr;
  if (!waits) hopper::wait_for_launch_before();
  const auto tell = [&](const WorkOf<Shape>& work) {
    storage.work_empty[slot.stage].wait(slot.parity);
    if (first_lane) {
      storage.work[slot.stage] = work;
      storage.work_full[slot.stage].arrive();
    }
    slot.advance();
  };
  walk_shares<Shape>(arguments, storage.tiles_before, [&](const WorkOf<Shape>& work) {
    tell(work);
    if (work.tiles == 0) return;
    const int first_key = work.first_tile * Shape::kv_rows;
    if (waits) {
      // DRAM idles at the end of the launch before. L2 alone has the lines then, where they follow
      // what that launch still writes. Where none is before, short pieces would be asked for twice
      // at once.
      const int ahead = work.tiles > 2 * arguments.tiles_ahead ? arguments.tiles_ahead : 0;
      for (int tile = 0; tile < ahead; ++tile)
        copies.bring_to_l2(work, first_key + tile * Shape::kv_rows);
      hopper::wait_for_launch_before();
    }
    waits = false;
    window.begin(owner_of(work), work.keys, first_key);
    for (int tile = 0; tile < work.tiles; ++tile) {
      storage.empty[stage.stage].wait(stage.parity);
      copies.start(storage, stage.stage, work, first_key + tile * Shape::kv_rows, window);
      stage.advance();
    }
  });
  WorkOf<Shape> nothing{};
  nothing.ends = true;
  tell(nothing);
  copies.finish();
}

/// One box a page, or a tile where a page has more rows. Rows past the end of a page's tensor
/// arrive as zeros, pages past the last key are not asked for.
template <class Shape>
class TmaCopies {
 public:
  static constexpr int full_arrivals = 1;
  __device__ TmaCopies(const DecodeArguments& arguments, const CUtensorMap& k_map,
                       const CUtensorMap& v_map)
      : arguments_(arguments),
        k_map_(k_map),
        v_map_(v_map),
        box_rows_(arguments.pages == nullptr ? Shape::kv_rows
                                             : Shape::box_rows(arguments.page_rows)) {}

  __device__ void prepare() const {
    prefetch_tensor_map(k_map_);
    prefetch_tensor_map(v_map_);
  }
  /// The tile lies in no pages.
  __device__ void bring_to_l2(const WorkOf<Shape>& work, int first_key) const {
    if (thread_number() % 32 != 0) return;
    for (const CUtensorMap* map : {&k_map_, &v_map_})
      prefetch_tile_to_l2(*map, first_key, work.kv_head, owner_of(work), arguments_.kv_policy);
  }
  __device__ void start(Storage<Shape>& storage, int stage, const WorkOf<Shape>& work,
                        int first_key, PageWindow& window) const {
    const int lane = thread_number() % 32;
    const int left = min(work.keys - first_key, Shape::kv_rows);
    const int boxes = (left + box_rows_ - 1) / box_rows_;
    const int box_bytes = box_rows_ * Shape::row_bytes;
    RingBarrier& full = storage.full[stage];
    if (lane == 0) full.arrive_expecting(uint32_t(2 * boxes * box_bytes));
    const int key = first_key + min(lane, boxes - 1) * box_rows_;
    const int page = window.page(key, first_key);
    if (lane < boxes) {
      load_tile(storage.k[stage] + lane * box_bytes, k_map_, full, window.row(key), work.kv_head,
                page, arguments_.kv_policy);
      load_tile(storage.v[stage] + lane * box_bytes, v_map_, full, window.row(key), work.kv_head,
                page, arguments_.kv_policy);
    }
  }
  __device__ void finish() const {}

 private:
  const DecodeArguments& arguments_;
  const CUtensorMap& k_map_;
  const CUtensorMap& v_map_;
  int box_rows_;
};

/// 16 bytes a lane and copy; rows past the last key become zeros.
template <class Shape>
class AsyncCopies {
 public:
  static constexpr int full_arrivals = 32;
  __device__ explicit AsyncCopies(const DecodeArguments& arguments) : arguments_(arguments) {}

  __device__ void prepare() const {}
  __device__ void bring_to_l2(const WorkOf<Shape>&, int) const {}
  __device__ void start(Storage<Shape>& storage, int stage, const WorkOf<Shape>& work,
                        int first_key, PageWindow& window) const {
    const int box_rows =
        arguments_.pages == nullptr ? Shape::kv_rows : Shape::box_rows(arguments_.page_rows);
    for (int first_row = 0; first_row < Shape::kv_rows; first_row += 16) {
      // A page that no key lies in is not read; the last one stands in for it.
      const int key = min(first_key + first_row, work.keys - 1) & ~15;
      const int page = window.page(key, first_key);
      const int row = window.row(key);
      const int box = first_row / box_rows;
      const uint32_t to = uint32_t(box * box_rows * Shape::row_bytes +
                                   (first_row - box * box_rows) * swizzled_row_bytes);
      const int valid = work.keys - first_key - first_row;
      copy_rows(shared_address(storage.k[stage]) + to, box_rows, arguments_.k, arguments_.k_strides,
                page, work.kv_head, row, valid);
      copy_rows(shared_address(storage.v[stage]) + to, box_rows, arguments_.v, arguments_.v_strides,
                page, work.kv_head, row, valid);
    }
    storage.full[stage].arrive_behind_copies();
  }
  __device__ void finish() const { wait_for_all_copies(); }

 private:
  static constexpr int swizzled_row_bytes = 128;

  /// 16 rows, `valid` of which exist.
  __device__ void copy_rows(uint32_t to, int box_rows, const void* tensor, const Strides& strides,
                            int page, int head, int row, int valid) const {
    constexpr int row_chunks = Shape::row_bytes / chunk_bytes;
    constexpr int rows_a_pass = 32 / row_chunks > 0 ? 32 / row_chunks : 1;
    constexpr int row_passes = row_chunks > 32 ? row_chunks / 32 : 1;
    constexpr int element_bytes = 2;
    const int lane = thread_number() % 32;
    const auto* const from =
        static_cast<const char*>(tensor) + strides.offset(page, head, row) * element_bytes;
#pragma unroll
    for (int pass = 0; pass < 16 / rows_a_pass; ++pass) {
      const int tile_row = pass * rows_a_pass + lane / row_chunks;
#pragma unroll
      for (int part = 0; part < row_passes; ++part) {
        const int chunk = part * 32 + lane % row_chunks;
        const bool exists = tile_row < valid;
        const uint32_t at = to + uint32_t(chunk / 8 * box_rows * swizzled_row_bytes +
                                          tile_row * swizzled_row_bytes +
                                          ((chunk % 8) ^ (tile_row & 7)) * chunk_bytes);
        const char* source =
            from + (exists ? tile_row * strides.row * element_bytes : 0) + chunk * chunk_bytes;
        copy_16_bytes_or_zero(at, source, arguments_.kv_policy, exists);
      }
    }
  }

  const DecodeArguments& arguments_;
};

}  // namespace sawtooth::kernels::decode
