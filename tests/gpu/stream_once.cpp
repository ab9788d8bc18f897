// Two passes of one stream from a cold L2, for tools that watch a process from outside (Nsight
// Compute, compute-sanitizer). stream_once MIB ld|tma|write same|shift|all|one linear|reversed
#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <string>

#include "kernels/stream/chase.hpp"
#include "kernels/stream/l2_state.hpp"
#include "kernels/stream/stream.hpp"

namespace sawtooth::kernels {
namespace {

int run(const std::string& mib, const std::string& access, const std::string& shape,
        const std::string& order) {
  Streams streams;
  L2State l2;
  const DeviceBuffer buffer(std::max<int64_t>(1, std::atoll(mib.c_str())) << 20);
  SAWTOOTH_CUDA_CHECK(cudaMemset(buffer.as<>(), 0, static_cast<size_t>(buffer.bytes())));
  StreamPass first;
  if (access == "tma") first.access = StreamAccess::tma;
  if (access == "write") first.access = StreamAccess::write;
  if (shape == "all") first.map = StreamMap::all;
  if (shape == "one") first.map = StreamMap::one;
  StreamPass second = first;
  second.shift = shape == "shift" ? 1 : 0;
  second.reversed = order == "reversed";
  l2.flush();
  streams.launch(first, buffer.as<>(), buffer.bytes());
  SAWTOOTH_CUDA_CHECK(cudaDeviceSynchronize());
  streams.launch(second, buffer.as<>(), buffer.bytes());
  SAWTOOTH_CUDA_CHECK(cudaDeviceSynchronize());
  streams.sms().check_spread();
  if (shape == "one") {
    Chase chase(streams.sms());
    chase.write_chain(buffer.as<>(), 64, 1);
    chase.run(0, buffer.as<>(), 64);
  }
  return 0;
}

}  // namespace
}  // namespace sawtooth::kernels

int main(int argc, char** argv) {
  if (argc != 5) {
    std::cerr << "usage: stream_once MIB ld|tma|write same|shift|all|one linear|reversed\n";
    return 2;
  }
  try {
    return sawtooth::kernels::run(argv[1], argv[2], argv[3], argv[4]);
  } catch (const sawtooth::kernels::CudaError& error) {
    std::cerr << "stream_once: " << error.what() << '\n';
    return error.no_device() ? 3 : 1;
  } catch (const std::exception& error) {
    std::cerr << "stream_once: " << error.what() << '\n';
    return 1;
  }
}
