// The functions that the translation units of this build define, one a variant and element type;
// variants.cmake writes their list.
#pragma once

#include "kernels/attention/variants.hpp"

namespace sawtooth::kernels {

#define SAWTOOTH_BUILT(function) KernelVariant function();
#define SAWTOOTH_BUILT_BACKWARD(function) KernelVariant function();
#include "variant_functions.inc"
#undef SAWTOOTH_BUILT
#undef SAWTOOTH_BUILT_BACKWARD

}  // namespace sawtooth::kernels
