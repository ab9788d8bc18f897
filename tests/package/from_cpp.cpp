// The installed C++ API.
#include <kernels/attention.hpp>  // the path before attention/ was a folder
#include <kernels/attention/attention.hpp>

int main() {
  using namespace sawtooth;
  kernels::AttentionForward call;
  call.problem.head_dim = 7;
  const bool refused = kernels::check(call).status == kernels::Status::unsupported_head_dim;
  return refused && !kernels::kernel_variants().empty() ? 0 : 1;
}
