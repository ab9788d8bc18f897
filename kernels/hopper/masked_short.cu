// The kernels of head dim 128 for short sequences under a mask. Half of their steps lie on the
// diagonal or stand between items, so what `short_items` says gains 1 to 2 % of the time; without a
// mask it costs 1 % (notes.md), hence kernels of their own.
#include "kernels/attention/choice.hpp"
#include "kernels/hopper/forward.cuh"

namespace sawtooth::kernels::hopper {

/// What fits the tensor maps of the variant hopper_short d128 (kernels/attention/variants.inc).
template <class Element, Overlap Mode>
using MaskedBase = ShortShape<Shape<Element, 128, 2, 128, 2, Mode, Rescale::lazy>, 1>;

template <class Element, Overlap Mode, int QStages>
struct MaskedShape : MaskedBase<Element, Mode> {
  static constexpr bool short_items = true;
  static constexpr int q_stages = QStages;
};

template <class Element, Overlap Mode, int QStages>
inline constexpr bool begins_without_ticket<MaskedShape<Element, Mode, QStages>> = true;

template <class Shape>
MaskedKernel masked_kernel(int64_t most_keys) {
  constexpr int of_a_cta = shared_bytes<Shape> + Shape::o_bytes;
  static_assert(of_a_cta <= 227 * 1024, "what a CTA of compute capability 9.0 can have");
  return {reinterpret_cast<const void*>(&forward_short<Shape>), of_a_cta, most_keys};
}

/// Up to four K/V tiles turns between the warpgroups gain nothing, and a second Q tile hides the
/// wait for the next item's.
template <class Element>
std::array<MaskedKernel, 2> masked_short_kernels() {
  using FewKeys = MaskedShape<Element, Overlap::none, 2>;
  using ManyKeys = MaskedShape<Element, Overlap::ping_pong, 1>;
  return {masked_kernel<FewKeys>(4 * FewKeys::kv_rows), masked_kernel<ManyKeys>(0)};
}

}  // namespace sawtooth::kernels::hopper

namespace sawtooth::kernels {

std::array<MaskedKernel, 2> masked_hopper_short_bf16() {
  return hopper::masked_short_kernels<__nv_bfloat16>();
}
std::array<MaskedKernel, 2> masked_hopper_short_fp16() {
  return hopper::masked_short_kernels<__half>();
}

}  // namespace sawtooth::kernels
