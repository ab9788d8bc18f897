#include "experiments/sawtooth/ring/ring_problem.hpp"

#include <cuda_runtime_api.h>

#include "experiments/sawtooth/measure/attention_on_device.hpp"
#include "experiments/sawtooth/ring/ring_check.hpp"
#include "experiments/sawtooth/support/text.hpp"
#include "kernels/attention/automatic.hpp"
#include "kernels/attention/choice.hpp"
#include "kernels/common/cuda_check.hpp"

namespace sawtooth::experiments {
namespace {

template <class Call>
Call call_of(const Point& point, bool chooses) {
  auto call = std::get<Call>(attention_call(point));
  if (!chooses) return call;
  call.schedule = kernels::automatic_schedule;
  call.schedule.kv_split = 1;  // as a ring takes
  call.tiling = {0, 0};
  if (point.keys.kernel.empty()) call.family = {};
  return call;
}

/// The point with what runs `call`.
template <class Call>
std::pair<Point, std::string> as_run_of(const Point& asked, const Call& call, bool chosen) {
  Point point = asked;
  const kernels::DeviceLimits device = kernels::current_device();
  const kernels::KernelVariant* variant = nullptr;
  require_launched(kernels::choose_variant(call, device, variant));
  if (!chosen) return {std::move(point), variant->family};
  Problem problem = call.problem;
  problem.pass = asked.request.problem.pass;
  const Schedule schedule =
      kernels::complete_schedule(call.schedule, problem, *variant, device, call.ctas_per_sm);
  Keys& keys = point.keys;
  keys.tile_q = variant->tiling.q_rows;
  keys.tile_kv = variant->tiling.kv_rows;
  keys.launch = schedule.launch;
  keys.scan = schedule.scan;
  keys.q_order = schedule.order.q_order;
  keys.section = Section{.heads = schedule.order.section};
  keys.workers = schedule.workers;
  return {std::move(point), variant->family};
}

/// What is not written stays NaN.
void poison(void* tensor, int64_t bytes) {
  SAWTOOTH_CUDA_CHECK(cudaMemset(tensor, 0xff, size_t(bytes)));
}

/// What both passes do.
template <class Call, class RingPass>
class PassOnDevices : public RingProblemOnDevices {
 public:
  kernels::RingPass& ring() override { return *ring_; }
  std::pair<Point, std::string> as_run(std::optional<int64_t> rank,
                                       std::optional<int64_t> step) const override {
    const Call* const call = rank && step ? ring_->call(int(*rank), *step) : nullptr;
    return as_run_of(point_, call == nullptr ? whole_ : *call, chooses_);
  }

 protected:
  PassOnDevices(const Point& point, const std::vector<int>& devices, bool chooses)
      : point_(point),
        devices_(devices),
        chooses_(chooses),
        tensors_(on_device(devices.front(), point.request.problem)),
        whole_(call_of<Call>(point, chooses)) {}

  const Problem& problem() const { return point_.request.problem; }
  const Ring& ring_shape() const { return *point_.ring; }
  int64_t q_heads() const { return problem().batch * problem().heads; }
  int64_t kv_heads() const { return problem().batch * problem().kv_heads; }
  /// The ring of the whole call, which has no tensors yet.
  template <class Made>
  Made ring_of_whole() const {
    return {.ring = ring_shape(),
            .call = whole_,
            .transfer = point_.keys.ring_mover == RingMover::nccl ? kernels::RingTransfer::nccl
                                                                  : kernels::RingTransfer::copy,
            .devices = devices_};
  }

  /// A tensor of one GPU, what each rank has of it, and its heads in all batches.
  struct Tensor {
    const void* whole;
    void* kernels::RingTensors::*of_rank;
    int64_t heads;
    const char* name = "";
  };

  /// Gives the ranks their rows of `tensors`.
  void scatter(const std::vector<Tensor>& tensors) const {
    for (int rank = 0; rank < ring_shape().ranks; ++rank)
      for (const Tensor& tensor : tensors)
        scatter(tensor.whole, tensor.heads, problem().row_bytes(), rank,
                ring_->tensors(rank).*tensor.of_rank);
  }
  /// Chunks of the whole tensor, of `heads` heads of `row_bytes` a row, to the rank's.
  void scatter(const void* whole, int64_t heads, int64_t row_bytes, int rank, void* part) const {
    const Ring& ring = ring_shape();
    const auto chunk_bytes = size_t(ring.chunk_rows() * row_bytes);
    for (int64_t first = 0; first < ring.rank_rows(); first += ring.chunk_rows())
      SAWTOOTH_CUDA_CHECK(cudaMemcpy2D(
          static_cast<char*>(part) + first * row_bytes, size_t(ring.rank_rows() * row_bytes),
          static_cast<const char*>(whole) + ring.sequence_row(rank, first) * row_bytes,
          size_t(ring.seq * row_bytes), chunk_bytes, size_t(heads), cudaMemcpyDefault));
  }
  /// Runs the whole call and the ring; what they leave of `results` unwritten stays NaN.
  void run_poisoned(const std::vector<Tensor>& results) {
    const Ring& ring = ring_shape();
    for (int rank = 0; rank < ring.ranks; ++rank) {
      SAWTOOTH_CUDA_CHECK(cudaSetDevice(devices_[size_t(rank)]));
      for (const Tensor& tensor : results)
        poison(ring_->tensors(rank).*tensor.of_rank,
               tensor.heads * ring.rank_rows() * problem().row_bytes());
      SAWTOOTH_CUDA_CHECK(cudaDeviceSynchronize());
    }
    SAWTOOTH_CUDA_CHECK(cudaSetDevice(devices_.front()));
    for (const Tensor& tensor : results)
      poison(const_cast<void*>(tensor.whole), tensor.heads * ring.seq * problem().row_bytes());
    this->run_whole();
    SAWTOOTH_CUDA_CHECK(cudaDeviceSynchronize());
    ring_->run();
  }
  template <class Value, class Member>
  std::vector<std::vector<Value>> of_ranks(Member member, int64_t row_values) const {
    std::vector<std::vector<Value>> values;
    for (int rank = 0; rank < ring_shape().ranks; ++rank)
      values.push_back(kernels::to_host<Value>(ring_->tensors(rank).*member,
                                               row_values * ring_shape().rank_rows()));
    return values;
  }
  double difference(const Tensor& tensor) const {
    const int64_t row_values = tensor.heads * problem().head_dim;
    return relative_difference(
        ring_shape(), tensor.heads, problem().head_dim, problem().dtype,
        kernels::to_host<uint16_t>(tensor.whole, row_values * ring_shape().seq),
        of_ranks<uint16_t>(tensor.of_rank, row_values));
  }

  Point point_;
  std::vector<int> devices_;
  bool chooses_;
  AttentionTensors tensors_;
  Call whole_;
  kernels::DeviceBuffer workspace_;
  std::unique_ptr<RingPass> ring_;

 private:
  static AttentionTensors on_device(int device, const Problem& problem) {
    SAWTOOTH_CUDA_CHECK(cudaSetDevice(device));
    return AttentionTensors(problem);
  }
};

class ForwardOnDevices : public PassOnDevices<kernels::AttentionForward, kernels::RingAttention> {
 public:
  ForwardOnDevices(const Point& point, const std::vector<int>& devices, bool chooses)
      : PassOnDevices(point, devices, chooses),
        lse_(q_heads() * problem().seq_q * int64_t(sizeof(float))) {
    const auto ring = ring_of_whole<kernels::RingProblem>();
    give_tensors(tensors_, whole_);
    whole_.lse = lse_.as<float>();
    workspace_ = kernels::DeviceBuffer(int64_t(kernels::workspace_bytes(whole_)));
    require_launched(plan_.make(whole_, workspace_.as(), size_t(workspace_.bytes())));
    ring_ = std::make_unique<kernels::RingAttention>(ring);
    scatter({{whole_.q, &kernels::RingTensors::q, q_heads()},
             {whole_.k, &kernels::RingTensors::k, kv_heads()},
             {whole_.v, &kernels::RingTensors::v, kv_heads()}});
  }

  void run_whole() override { require_launched(plan_.run(nullptr)); }

  RingCheck check() override {
    const Ring& ring = ring_shape();
    const Tensor output{whole_.o, &kernels::RingTensors::o, q_heads()};
    run_poisoned({output});
    const double o = difference(output), allowed = allowed_difference(problem().dtype);
    const double lse = largest_difference(ring, q_heads(),
                                          kernels::to_host<float>(whole_.lse, q_heads() * ring.seq),
                                          of_ranks<float>(&kernels::RingTensors::lse, q_heads()));
    return {o <= allowed && lse <= allowed_lse_difference,
            "O differs by " + shortest(o) + " (allowed " + shortest(allowed) +
                "), log-sum-exp by " + shortest(lse) + " (allowed " +
                shortest(allowed_lse_difference) + ")"};
  }

 private:
  kernels::DeviceBuffer lse_;
  kernels::AttentionPlan plan_;
};

class BackwardOnDevices
    : public PassOnDevices<kernels::AttentionBackward, kernels::RingAttentionBackward> {
 public:
  BackwardOnDevices(const Point& point, const std::vector<int>& devices, bool chooses)
      : PassOnDevices(point, devices, chooses) {
    const auto ring = ring_of_whole<kernels::RingBackwardProblem>();
    run_forward(tensors_, problem());
    give_tensors(tensors_, whole_);
    whole_.workspace_starts_zero = true;
    workspace_ = kernels::zeroed(int64_t(kernels::workspace_bytes(whole_)));
    ring_ = std::make_unique<kernels::RingAttentionBackward>(ring);
    scatter({{whole_.q, &kernels::RingTensors::q, q_heads()},
             {whole_.o, &kernels::RingTensors::o, q_heads()},
             {whole_.d_o, &kernels::RingTensors::d_o, q_heads()},
             {whole_.k, &kernels::RingTensors::k, kv_heads()},
             {whole_.v, &kernels::RingTensors::v, kv_heads()}});
    for (int rank = 0; rank < ring.ring.ranks; ++rank)
      scatter(whole_.lse, q_heads(), int64_t(sizeof(float)), rank, ring_->tensors(rank).lse);
  }

  void run_whole() override {
    require_launched(
        kernels::attention_backward(whole_, workspace_.as(), size_t(workspace_.bytes()), nullptr));
  }

  RingCheck check() override {
    const std::vector<Tensor> gradients{{whole_.dq, &kernels::RingTensors::dq, q_heads(), "dQ"},
                                        {whole_.dk, &kernels::RingTensors::dk, kv_heads(), "dK"},
                                        {whole_.dv, &kernels::RingTensors::dv, kv_heads(), "dV"}};
    run_poisoned(gradients);
    const double allowed = allowed_difference(problem().dtype);
    RingCheck outcome{true, ""};
    for (const Tensor& gradient : gradients) {
      const double found = difference(gradient);
      outcome.is_small = outcome.is_small && found <= allowed;
      outcome.text += std::string(gradient.name) + " differs by " + shortest(found) + ", ";
    }
    outcome.text += "allowed " + shortest(allowed);
    return outcome;
  }
};

}  // namespace

std::unique_ptr<RingProblemOnDevices> ring_problem(const Point& point,
                                                   const std::vector<int>& devices, bool chooses) {
  if (point.request.problem.pass == Pass::forward)
    return std::make_unique<ForwardOnDevices>(point, devices, chooses);
  return std::make_unique<BackwardOnDevices>(point, devices, chooses);
}

}  // namespace sawtooth::experiments
