#include "sim/halves/placed_heads.hpp"

#include <optional>

#include "scheduler/integer_math.hpp"

namespace sawtooth::sim {

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
  for (int t = 0; t < tensor_count; ++t) {
    const auto other = static_cast<Tensor>(t);
    const bool earlier = heads_.number(other, 0) < heads_.number(tensor, 0);
    if (heads_.of_head().heads(other) == 0 || !earlier) continue;
    if (!last || heads_.number(other, 0) > heads_.number(*last, 0)) last = other;
  }
  return last ? before(*last, heads_.of_head().heads(*last)) : PlacedLines{};
}

}  // namespace sawtooth::sim
