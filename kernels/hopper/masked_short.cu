// The kernel of head dim 128 for up to four K/V tiles under a mask: turns between the warpgroups
// gain nothing there, and a second Q tile hides the wait for the next item's.
#include "kernels/attention/choice.hpp"
#include "kernels/hopper/forward.cuh"

namespace sawtooth::kernels::hopper {

/// What fits the tensor maps of the variant hopper_short d128 (kernels/attention/variants.inc).
template <class Element>
struct MaskedShape : ShortShape<Shape<Element, 128, 2, 128, 2, Overlap::none>, 1> {
  static constexpr bool short_items = true;
  static constexpr int q_stages = 2;
};

template <class Element>
inline constexpr bool begins_without_ticket<MaskedShape<Element>> = true;

template <class Element>
MaskedKernel masked_short_kernel() {
  using Shape = MaskedShape<Element>;
  constexpr int of_a_cta = shared_bytes<Shape> + Shape::o_bytes;
  static_assert(of_a_cta <= 227 * 1024, "what a CTA of compute capability 9.0 can have");
  return {reinterpret_cast<const void*>(&forward_short<Shape>), of_a_cta, 4 * Shape::kv_rows};
}

}  // namespace sawtooth::kernels::hopper

namespace sawtooth::kernels {

MaskedKernel masked_hopper_short_bf16() {
  return hopper::masked_short_kernel<__nv_bfloat16>();
}
MaskedKernel masked_hopper_short_fp16() {
  return hopper::masked_short_kernel<__half>();
}

}  // namespace sawtooth::kernels
