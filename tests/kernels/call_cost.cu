// What a call costs the CPU, beside the launch of an empty kernel with as many parameter bytes:
// planned and not planned, for every family that runs here. Prints CSV: family, launch, state,
// empty_us, planned_us, call_us. Exit 1 where a planned call takes over 1 us more than the empty
// launch or another one over 8 us more; 3 without a GPU.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "kernels/attention/launch.hpp"
#include "kernels/attention/variant_list.hpp"
#include "kernels/common/device_buffer.hpp"

namespace {

using namespace sawtooth;
using namespace sawtooth::kernels;

template <int Maps>
struct Parameters {
  unsigned char bytes[Maps * sizeof(CUtensorMap) + sizeof(ForwardArguments)];
};

template <int Maps>
__global__ void empty_kernel(const __grid_constant__ Parameters<Maps>) {}

/// The time to enqueue one of many launches, us.
template <class Launch>
double cpu_us(const Launch& launch) {
  constexpr int launches = 200;  // fewer than a stream queues before it blocks
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < launches; ++i) launch();
  const auto stop = std::chrono::steady_clock::now();
  SAWTOOTH_CUDA_CHECK(cudaDeviceSynchronize());
  return std::chrono::duration<double, std::micro>(stop - start).count() / launches;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void require(const Outcome& outcome) {
  if (!outcome) throw std::runtime_error(outcome.message);
}

template <int Maps>
double empty_us(cudaStream_t stream) {
  const Parameters<Maps> parameters{};
  return cpu_us([&] { empty_kernel<Maps><<<1, 32, 0, stream>>>(parameters); });
}

/// The empty kernel takes as many bytes as `variant` does.
double empty_us(const KernelVariant& variant, cudaStream_t stream) {
  if (!variant.loads_by_copy_engine()) return empty_us<0>(stream);
  return variant.stores_by_copy_engine() ? empty_us<4>(stream) : empty_us<3>(stream);
}

/// Whether it is as cheap as it should be.
bool measure(const KernelVariant& variant, LaunchId launch, bool starts_zero, cudaStream_t stream) {
  AttentionForward call;
  call.problem = {.batch = 1,
                  .heads = 2,
                  .kv_heads = 2,
                  .seq_q = 256,
                  .seq_kv = 256,
                  .head_dim = 64,
                  .dtype = variant.dtype};
  call.family = variant.family;
  call.schedule.launch = launch;
  call.workspace_starts_zero = starts_zero;
  const int64_t bytes = 2 * 256 * 64 * element_bytes(variant.dtype);
  const DeviceBuffer q(bytes), k(bytes), v(bytes), o(bytes);
  for (const DeviceBuffer* tensor : {&q, &k, &v})
    SAWTOOTH_CUDA_CHECK(cudaMemset(tensor->as(), 0, size_t(bytes)));
  call.q = q.as();
  call.k = k.as();
  call.v = v.as();
  call.o = o.as();
  const DeviceBuffer workspace{int64_t(workspace_bytes(call))};
  SAWTOOTH_CUDA_CHECK(cudaMemset(workspace.as(), 0, size_t(workspace.bytes())));
  const auto size = size_t(workspace.bytes());
  AttentionPlan plan;
  require(plan.make(call, workspace.as(), size));
  // Interleaved, so that a processor whose clock falls is slow for all three.
  constexpr int rounds = 21;
  std::vector<double> empties, planned_more, unplanned_more;
  for (int round = -1; round < rounds; ++round) {
    const double empty = empty_us(variant, stream);
    const double planned = cpu_us([&] { require(plan.run(stream)); });
    const double unplanned =
        cpu_us([&] { require(attention_forward(call, workspace.as(), size, stream)); });
    if (round < 0) continue;  // warms up
    empties.push_back(empty);
    planned_more.push_back(planned - empty);
    unplanned_more.push_back(unplanned - empty);
  }
  const double empty = median(empties), planned = median(planned_more),
               unplanned = median(unplanned_more);
  std::printf("%s,%s,%s,%.2f,%.2f,%.2f\n", variant.family,
              std::string(Launches::info()[size_t(launch.index)].name).c_str(),
              starts_zero ? "zero" : "memset", empty, empty + planned, empty + unplanned);
  const bool memset_too = !starts_zero && launch == launch_id<DynamicLaunch>;
  return memset_too || (planned <= 1 && unplanned <= 8);
}

}  // namespace

int main() {
  bool cheap = true;
  try {
    cudaStream_t stream;
    SAWTOOTH_CUDA_CHECK(cudaStreamCreate(&stream));
    std::puts("family,launch,state,empty_us,planned_us,call_us");
    for (const auto& [family, dtype] : {std::pair{families::mma, ElementType::bf16},
                                        {families::mma_tma, ElementType::bf16},
                                        {families::mma_fp32, ElementType::fp32},
                                        {families::hopper, ElementType::bf16},
                                        {families::hopper_short, ElementType::bf16}}) {
      const KernelVariant* variant = find_variant(64, dtype, {0, 0}, family);
      if (variant == nullptr || !runs_here(*variant)) continue;
      cheap &= measure(*variant, launch_id<GridLaunch>, true, stream);
      cheap &= measure(*variant, launch_id<DynamicLaunch>, true, stream);
      cheap &= measure(*variant, launch_id<DynamicLaunch>, false, stream);
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "call_cost: %s\n", error.what());
    return 3;
  }
  return cheap ? 0 : 1;
}
