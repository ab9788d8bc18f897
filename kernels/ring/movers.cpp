#include <stdexcept>

#include "kernels/ring/ring_pass.hpp"

#if defined(SAWTOOTH_HAVE_NCCL)
#include <dlfcn.h>
#include <nccl.h>

#endif

namespace sawtooth::kernels {
namespace {

/// By peer access.
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

#if defined(SAWTOOTH_HAVE_NCCL)
/// The library is opened when it is asked for, so that a program with NCCL runs where there is
/// none; only its header is needed to build.
struct Library {
  decltype(&ncclCommInitAll) init_all;
  decltype(&ncclCommDestroy) destroy;
  decltype(&ncclGroupStart) group_start;
  decltype(&ncclGroupEnd) group_end;
  decltype(&ncclSend) send;
  decltype(&ncclRecv) receive;
  decltype(&ncclGetErrorString) error_string;

  Library() {
    void* const handle = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) throw std::runtime_error(std::string("NCCL: ") + dlerror());
    find(handle, "ncclCommInitAll", init_all);
    find(handle, "ncclCommDestroy", destroy);
    find(handle, "ncclGroupStart", group_start);
    find(handle, "ncclGroupEnd", group_end);
    find(handle, "ncclSend", send);
    find(handle, "ncclRecv", receive);
    find(handle, "ncclGetErrorString", error_string);
  }
  void check(ncclResult_t result) const {
    if (result != ncclSuccess)
      throw std::runtime_error(std::string("NCCL: ") + error_string(result));
  }

 private:
  template <class Function>
  static void find(void* handle, const char* name, Function& function) {
    function = reinterpret_cast<Function>(dlsym(handle, name));
    if (function == nullptr)
      throw std::runtime_error(std::string("NCCL: libnccl.so.2 has no ") + name);
  }
};

/// By ncclSend and ncclRecv in one group a step.
class NcclMover : public RingMover {
 public:
  NcclMover(const std::vector<int>& devices, const std::vector<cudaStream_t>& streams)
      : streams_(streams), communicators_(devices.size()) {
    nccl_.check(nccl_.init_all(communicators_.data(), int(devices.size()), devices.data()));
  }
  ~NcclMover() override {
    for (ncclComm_t communicator : communicators_) nccl_.destroy(communicator);
  }
  NcclMover(const NcclMover&) = delete;
  NcclMover& operator=(const NcclMover&) = delete;

  void move(const std::vector<RingMove>& moves) override {
    nccl_.check(nccl_.group_start());
    for (const RingMove& one : moves) {
      const auto rank = std::size_t(one.to_rank), from = std::size_t(one.from_rank);
      for (int tensor = 0; tensor < 2; ++tensor) {
        nccl_.check(nccl_.send(one.from[tensor], one.bytes, ncclUint8, int(rank),
                               communicators_[from], streams_[from]));
        nccl_.check(nccl_.receive(one.to[tensor], one.bytes, ncclUint8, one.from_rank,
                                  communicators_[rank], streams_[rank]));
      }
    }
    nccl_.check(nccl_.group_end());
  }

 private:
  Library nccl_;
  std::vector<cudaStream_t> streams_;
  std::vector<ncclComm_t> communicators_;
};

#endif

}  // namespace

std::unique_ptr<RingMover> ring_mover(RingTransfer transfer, const std::vector<int>& devices,
                                      const std::vector<cudaStream_t>& streams) {
  if (transfer == RingTransfer::copy) return std::make_unique<CopyMover>(devices, streams);
#if defined(SAWTOOTH_HAVE_NCCL)
  return std::make_unique<NcclMover>(devices, streams);
#else
  throw std::runtime_error("this build has no NCCL: nccl.h was not found");
#endif
}

}  // namespace sawtooth::kernels
