#include "kernels/ring/ring_pass.hpp"

namespace sawtooth::kernels {
namespace {

class CopyMover : public RingMover {
 public:
  CopyMover(const std::vector<int>& devices, const std::vector<cudaStream_t>& streams)
      : devices_(devices), streams_(streams) {
    for (const int here : devices)
      for (const int there : devices) {
        if (here == there) continue;
        int possible = 0;
        SAWTOOTH_CUDA_CHECK(cudaDeviceCanAccessPeer(&possible, here, there));
        if (possible == 0) continue;  // the driver then copies through host memory
        SAWTOOTH_CUDA_CHECK(cudaSetDevice(here));
        const cudaError_t error = cudaDeviceEnablePeerAccess(there, 0);
        if (error == cudaErrorPeerAccessAlreadyEnabled)
          cudaGetLastError();
        else
          SAWTOOTH_CUDA_CHECK(error);
      }
  }

  void move(const std::vector<RingMove>& moves) override {
    for (const RingMove& one : moves) {
      const auto rank = std::size_t(one.to_rank);
      SAWTOOTH_CUDA_CHECK(cudaSetDevice(devices_[rank]));
      for (int tensor = 0; tensor < 2; ++tensor)
        SAWTOOTH_CUDA_CHECK(cudaMemcpyPeerAsync(one.to[tensor], devices_[rank], one.from[tensor],
                                                devices_[std::size_t(one.from_rank)], one.bytes,
                                                streams_[rank]));
    }
  }

 private:
  std::vector<int> devices_;
  std::vector<cudaStream_t> streams_;
};

}  // namespace

std::unique_ptr<RingMover> copy_mover(const std::vector<int>& devices,
                                      const std::vector<cudaStream_t>& streams) {
  return std::make_unique<CopyMover>(devices, streams);
}

}  // namespace sawtooth::kernels
