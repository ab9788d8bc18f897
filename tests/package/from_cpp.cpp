// The installed C++ API.
#include <kernels/attention.hpp>  // the path before attention/ was a folder
#include <kernels/attention/attention.hpp>

int main() {
  using namespace sawtooth;
  kernels::AttentionForward call;
  const bool refused = kernels::check(call).status == kernels::Status::bad_size;  // no lengths
  return refused && !kernels::kernel_variants().empty() ? 0 : 1;
}
