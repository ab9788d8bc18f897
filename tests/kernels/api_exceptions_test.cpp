// No exception leaves the C API. Host memory that runs out is the error that every call can meet:
// this program's operator new can be told to fail.
#include <cstdlib>
#include <new>
#include <string_view>

#include <gtest/gtest.h>

#include "kernels/attention/attention.h"

namespace {
thread_local bool memory_is_out = false;
}  // namespace

// None is inlined: of a new without its delete, or the reverse, the compiler sees malloc or free
// and warns that they do not match.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  void* memory = memory_is_out ? nullptr : std::malloc(bytes == 0 ? 1 : bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace sawtooth::kernels {
namespace {

TEST(ApiWithoutHostMemory, GivesAStatusAndAMessage) {
  sawtooth_attention call;
  sawtooth_attention_defaults(&call);
  call.scan = "a name whose message is too long to need no memory";
  sawtooth_gradients gradients;
  sawtooth_gradients_defaults(&gradients);
  size_t bytes = 0;
  memory_is_out = true;
  const sawtooth_status of_launch = sawtooth_attention_forward(&call, nullptr, 0, nullptr);
  const bool named = std::string_view(sawtooth_last_message()) == "no host memory";
  const sawtooth_status of_size = sawtooth_attention_workspace_bytes(&call, &bytes);
  const sawtooth_status of_backward =
      sawtooth_attention_backward(&call, &gradients, nullptr, 0, nullptr);
  memory_is_out = false;
  EXPECT_EQ(of_launch, SAWTOOTH_LAUNCH_FAILED);
  EXPECT_EQ(of_backward, SAWTOOTH_LAUNCH_FAILED);
  EXPECT_TRUE(named);
  EXPECT_EQ(of_size, SAWTOOTH_LAUNCH_FAILED);
  EXPECT_EQ(bytes, 0u);
}

}  // namespace
}  // namespace sawtooth::kernels
