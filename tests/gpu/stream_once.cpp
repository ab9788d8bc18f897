// One stream from a cold L2, for tools that watch a process from outside (Nsight Compute,
// compute-sanitizer): stream_once MIB ACCESS SHAPE ORDER (tests/gpu/stream_run.hpp). The passes lie
// between cudaProfilerStart and Stop, the range of ncu --replay-mode app-range.
#include <iostream>

#include <cuda_profiler_api.h>

#include "kernels/stream/chase.hpp"
#include "kernels/stream/l2_state.hpp"
#include "tests/gpu/stream_run.hpp"

namespace sawtooth::kernels {
namespace {

void run_once(const StreamRun& run) {
  Streams streams;
  L2State l2;
  const DeviceBuffer buffer(run.bytes);
  SAWTOOTH_CUDA_CHECK(cudaMemset(buffer.as<>(), 0, static_cast<size_t>(buffer.bytes())));
  l2.flush();
  SAWTOOTH_CUDA_CHECK(cudaProfilerStart());
  for (const StreamPass& pass : run.passes) {
    streams.launch(pass, buffer.as<>(), buffer.bytes());
    SAWTOOTH_CUDA_CHECK(cudaDeviceSynchronize());
  }
  SAWTOOTH_CUDA_CHECK(cudaProfilerStop());
  streams.sms().check_spread();
  if (run.one_sm) {
    Chase chase(streams.sms());
    chase.write_chain(buffer.as<>(), 64, 1);
    chase.run(0, buffer.as<>(), 64);
  }
}

}  // namespace
}  // namespace sawtooth::kernels

int main(int argc, char** argv) {
  using namespace sawtooth::kernels;
  if (argc != 5) {
    std::cerr << "usage: stream_once " << stream_run_usage << '\n';
    return 2;
  }
  try {
    run_once(stream_run(argv[1], argv[2], argv[3], argv[4]));
    return 0;
  } catch (const CudaError& error) {
    std::cerr << "stream_once: " << error.what() << '\n';
    return error.no_device() ? 3 : 1;
  } catch (const std::invalid_argument& error) {
    std::cerr << "stream_once: " << error.what() << '\n';
    return 2;
  } catch (const std::exception& error) {
    std::cerr << "stream_once: " << error.what() << '\n';
    return 1;
  }
}
