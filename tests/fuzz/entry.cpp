// The entry that libFuzzer calls; SAWTOOTH_FUZZ_TARGET names one of targets.hpp.
#include <cstddef>
#include <cstdint>

#include "tests/fuzz/targets.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  sawtooth::fuzz::SAWTOOTH_FUZZ_TARGET({reinterpret_cast<const char*>(data), size});
  return 0;
}
