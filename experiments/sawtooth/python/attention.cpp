// sawtooth._attention: the kernels on tensors of any library that has DLPack, through the C API.
// sawtooth/kernels.py says which stream, and what an outcome raises.
#include "kernels/attention/attention.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <new>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <cuda_runtime_api.h>
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;

namespace {

using Tensor = nb::ndarray<nb::array_api>;
using Input = nb::ndarray<nb::ro>;
using Outcome = std::pair<int, std::string>;  // sawtooth_status, and what was wrong

constexpr size_t dimensions = 4;  // batch, head, row, column

/// Makes a device the thread's, and the one before again.
class CurrentDevice {
 public:
  explicit CurrentDevice(int device) {
    error_ = cudaGetDevice(&before_);
    if (error_ == cudaSuccess) error_ = cudaSetDevice(device);
  }
  ~CurrentDevice() {
    if (error_ == cudaSuccess) cudaSetDevice(before_);
  }
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;
  cudaError_t error() const { return error_; }

 private:
  int before_ = 0;
  cudaError_t error_ = cudaSuccess;
};

/// Device memory of the calls on one stream, which follow each other there. Its state was zero at
/// first, and since then only calls of the library used it.
struct Workspace {
  void* memory = nullptr;
  size_t bytes = 0;

  /// At least `needed` bytes; what was there before is freed behind the calls that use it.
  cudaError_t reserve(size_t needed, cudaStream_t stream) {
    if (bytes >= needed) return cudaSuccess;
    if (const cudaError_t error = release(stream); error != cudaSuccess) return error;
    if (const cudaError_t error = cudaMallocAsync(&memory, needed, stream); error != cudaSuccess) {
      memory = nullptr;
      return error;
    }
    bytes = needed;
    return cudaMemsetAsync(memory, 0, sawtooth_workspace_state_bytes(), stream);
  }
  cudaError_t release(cudaStream_t stream) {
    bytes = 0;
    void* const old = std::exchange(memory, nullptr);
    return old == nullptr ? cudaSuccess : cudaFreeAsync(old, stream);
  }
};

/// By device and stream; under the interpreter's lock.
std::map<std::pair<int, cudaStream_t>, Workspace> workspaces;

/// One a captured call, as a graph keeps its address and may run beside calls on any stream.
std::vector<std::pair<int, void*>> workspaces_of_graphs;  // device, memory

/// Lets the thread allocate although a stream of it is being captured.
class RelaxedCapture {
 public:
  RelaxedCapture() { cudaThreadExchangeStreamCaptureMode(&mode_); }
  ~RelaxedCapture() { cudaThreadExchangeStreamCaptureMode(&mode_); }
  RelaxedCapture(const RelaxedCapture&) = delete;
  RelaxedCapture& operator=(const RelaxedCapture&) = delete;

 private:
  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
};

/// A new workspace of the current device whose state is zero now, outside of any capture.
cudaError_t reserve_for_graph(int device, Workspace& workspace, size_t needed) {
  const RelaxedCapture relaxed;
  cudaStream_t stream;
  if (const cudaError_t error = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
      error != cudaSuccess)
    return error;
  cudaError_t error = cudaMalloc(&workspace.memory, needed);
  if (error == cudaSuccess) {
    workspace.bytes = needed;
    workspaces_of_graphs.emplace_back(device, workspace.memory);
    error = cudaMemsetAsync(workspace.memory, 0, sawtooth_workspace_state_bytes(), stream);
  }
  if (error == cudaSuccess) error = cudaStreamSynchronize(stream);
  cudaStreamDestroy(stream);
  return error;
}

/// What a call on `stream` works in.
cudaError_t reserve(int device, cudaStream_t stream, size_t needed, Workspace& workspace) {
  cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
  if (const cudaError_t error = cudaStreamIsCapturing(stream, &capture); error != cudaSuccess)
    return error;
  if (needed == 0) return cudaSuccess;
  if (capture != cudaStreamCaptureStatusNone) return reserve_for_graph(device, workspace, needed);
  Workspace& kept = workspaces[{device, stream}];
  const cudaError_t error = kept.reserve(needed, stream);
  workspace = kept;
  return error;
}

Outcome failed(const char* what, cudaError_t error) {
  const bool no_device = error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver;
  return {no_device ? SAWTOOTH_NO_DEVICE : SAWTOOTH_LAUNCH_FAILED,
          std::string(what) + ": " + cudaGetErrorString(error)};
}

Outcome last(sawtooth_status status) {
  return {status, sawtooth_last_message()};
}

template <class Array>
std::vector<int64_t> shape_of(const Array& tensor) {
  std::vector<int64_t> shape;
  for (size_t i = 0; i < tensor.ndim(); ++i) shape.push_back(static_cast<int64_t>(tensor.shape(i)));
  return shape;
}

std::string text_of(const std::vector<int64_t>& shape) {
  std::string text;
  for (const int64_t extent : shape) text += (text.empty() ? "" : ", ") + std::to_string(extent);
  return "[" + text + "]";
}

std::string text_of(const nb::dlpack::dtype& dtype) {
  const auto is = [&](nb::dlpack::dtype_code code) { return dtype.code == uint8_t(code); };
  const std::string bits = std::to_string(dtype.bits);
  if (is(nb::dlpack::dtype_code::Bfloat)) return "bf" + bits;
  if (is(nb::dlpack::dtype_code::Float)) return "fp" + bits;
  if (is(nb::dlpack::dtype_code::Int)) return "int" + bits;
  if (is(nb::dlpack::dtype_code::UInt)) return "uint" + bits;
  return "a type of " + bits + " bits";
}

/// The tensor's rows have neighbouring elements; the stride of a dimension of one element, which
/// nothing reads, is that without gaps.
template <class Array>
Outcome strides_of(const std::string& name, const Array& tensor, sawtooth_strides& strides) {
  if (tensor.shape(3) > 1 && tensor.stride(3) != 1)
    return {SAWTOOTH_MISALIGNED, name + " has a stride of " + std::to_string(tensor.stride(3)) +
                                     " between the elements of a row; allowed: 1"};
  int64_t dense = static_cast<int64_t>(tensor.shape(3));
  int64_t* const places[] = {&strides.row, &strides.head, &strides.batch};
  for (size_t i = 0; i < 3; ++i) {
    const size_t dimension = 2 - i;
    *places[i] = tensor.shape(dimension) > 1 ? tensor.stride(dimension) : dense;
    dense *= static_cast<int64_t>(tensor.shape(dimension));
  }
  return {};
}

/// Whether `name` has this shape and q's type, on q's device.
template <class Array>
Outcome fits(const std::string& name, const Array& tensor, const std::vector<int64_t>& shape,
             const nb::dlpack::dtype& dtype, int device) {
  if (shape_of(tensor) != shape)
    return {SAWTOOTH_BAD_SIZE, name + " has the shape " + text_of(shape_of(tensor)) +
                                   "; allowed here: " + text_of(shape)};
  if (tensor.dtype() != dtype)
    return {SAWTOOTH_UNSUPPORTED_TYPE,
            name + " is " + text_of(tensor.dtype()) + "; allowed here: " + text_of(dtype)};
  if (tensor.device_id() != device)
    return {SAWTOOTH_BAD_SIZE, name + " is on device " + std::to_string(tensor.device_id()) +
                                   ", q on device " + std::to_string(device)};
  return {};
}

/// What stands beside the tensors, in a call; names of policies may be missing, which is automatic.
struct Options : sawtooth_attention {
  Options() { sawtooth_attention_defaults(this); }
  bool causal = false;  // where the window is 0
  std::optional<std::string> of_family, of_launch, of_scan, of_q_order, dq;
};

const char* text_or_null(const std::optional<std::string>& text) {
  return text ? text->c_str() : nullptr;
}

/// The place in a call of a tensor with this shape, and q's type and device.
template <class Array, class Pointer>
Outcome place(const std::string& name, const Array& tensor, const std::vector<int64_t>& shape,
              const Input& q, sawtooth_strides& strides, Pointer& pointer) {
  if (Outcome bad = fits(name, tensor, shape, q.dtype(), q.device_id()); bad.first != SAWTOOTH_OK)
    return bad;
  pointer = tensor.data();
  return strides_of(name, tensor, strides);
}

struct KnownType {
  nb::dlpack::dtype_code code;
  uint8_t bits;
  sawtooth_dtype dtype;
};
constexpr KnownType known_types[] = {{nb::dlpack::dtype_code::Bfloat, 16, SAWTOOTH_BF16},
                                     {nb::dlpack::dtype_code::Float, 16, SAWTOOTH_FP16},
                                     {nb::dlpack::dtype_code::Float, 32, SAWTOOTH_FP32}};

/// All of a call but what it writes.
Outcome fill(const Input& q, const Input& k, const Input& v, const Options& options,
             sawtooth_attention& call) {
  for (const auto& [name, tensor] : {std::pair("q", &q), std::pair("k", &k), std::pair("v", &v)})
    if (tensor->ndim() != dimensions)
      return {SAWTOOTH_BAD_SIZE, std::string(name) + " has " + std::to_string(tensor->ndim()) +
                                     " dimensions; allowed: [batch, heads, length, head_dim]"};
  const nb::dlpack::dtype dtype = q.dtype();
  const auto* const type = std::ranges::find_if(known_types, [&](const KnownType& one) {
    return dtype.code == uint8_t(one.code) && dtype.bits == one.bits && dtype.lanes == 1;
  });
  if (type == std::end(known_types))
    return {SAWTOOTH_UNSUPPORTED_TYPE, "q is " + text_of(dtype) + "; allowed: bf16, fp16, fp32"};
  const std::vector<int64_t> queries = shape_of(q);
  std::vector<int64_t> keys = shape_of(k);
  keys[0] = queries[0];
  keys[3] = queries[3];
  std::vector<int64_t> values = keys;
  values[3] = shape_of(v)[3];
  if (values[3] != queries[3] && (values[3] < 1 || values[3] > queries[3]))
    return {SAWTOOTH_UNSUPPORTED_HEAD_DIM, "v has rows of " + std::to_string(values[3]) +
                                               " elements; allowed: 1 to those of q, " +
                                               std::to_string(queries[3])};
  call = options;
  Outcome bad = place("k", k, keys, q, call.k_strides, call.k);
  if (bad.first == SAWTOOTH_OK) bad = place("v", v, values, q, call.v_strides, call.v);
  if (bad.first == SAWTOOTH_OK) bad = place("q", q, queries, q, call.q_strides, call.q);
  if (bad.first != SAWTOOTH_OK) return bad;
  call.batch = queries[0];
  call.heads = queries[1];
  call.seq_q = queries[2];
  call.head_dim = queries[3];
  call.head_dim_v = static_cast<int32_t>(values[3]);
  call.kv_heads = keys[1];
  call.seq_kv = keys[2];
  call.dtype = type->dtype;
  call.mask = options.window != 0 ? SAWTOOTH_MASK_WINDOW
              : options.causal    ? SAWTOOTH_MASK_CAUSAL
                                  : SAWTOOTH_MASK_NONE;
  call.workspace_starts_zero = 1;
  call.family = text_or_null(options.of_family);
  call.launch = text_or_null(options.of_launch);
  call.scan = text_or_null(options.of_scan);
  call.q_order = text_or_null(options.of_q_order);
  return {};
}

/// `name` is of int32 or int64 without gaps, on q's device.
template <class Integer>
Outcome place_integers(const std::string& name, const Input& tensor,
                       const std::vector<int64_t>& shape, const Input& q, const Integer*& pointer) {
  if (Outcome bad = fits(name, tensor, shape, nb::dtype<Integer>(), q.device_id());
      bad.first != SAWTOOTH_OK)
    return bad;
  int64_t dense = 1;
  for (size_t i = shape.size(); i-- > 0; dense *= shape[i])
    if (shape[i] > 1 && tensor.stride(i) != dense)
      return {SAWTOOTH_MISALIGNED, name + " has gaps; allowed: none"};
  pointer = static_cast<const Integer*>(tensor.data());
  return {};
}

/// `lists` are none, or list_begin, list_entries and perhaps list_spans of the call.
Outcome place_lists(const std::vector<Input>& lists, const Input& q, sawtooth_attention& call) {
  if (lists.empty()) return {};
  call.mask = SAWTOOTH_MASK_LISTS;
  const int64_t tile_q = std::max<int64_t>(1, call.tile_q);
  Outcome bad = place_integers("begin of lists", lists[0], {(call.seq_q + tile_q - 1) / tile_q + 1},
                               q, call.list_begin);
  if (bad.first == SAWTOOTH_OK)
    bad = place_integers("entries of lists", lists[1], {int64_t(lists[1].size())}, q,
                         call.list_entries);
  if (bad.first == SAWTOOTH_OK && lists.size() > 2)
    bad = place_integers("spans of lists", lists[2], {call.seq_q, 4}, q, call.list_spans);
  return bad;
}

/// Memory for what no library of tensors made, freed with its last user; a DLPack object.
Tensor empty(const std::vector<int64_t>& shape, const nb::dlpack::dtype& dtype, int device) {
  size_t bytes = dtype.bits / 8;
  std::vector<size_t> extents;
  for (const int64_t extent : shape) {
    extents.push_back(static_cast<size_t>(extent));
    bytes *= extents.back();
  }
  void* memory = nullptr;
  if (cudaMalloc(&memory, std::max<size_t>(1, bytes)) != cudaSuccess) {
    cudaGetLastError();  // or the next launch would report it
    throw std::bad_alloc();
  }
  const nb::capsule owner(memory, [](void* old) noexcept { cudaFree(old); });
  return Tensor(memory, extents.size(), extents.data(), owner, nullptr, dtype,
                nb::device::cuda::value, device);
}

/// Runs a call that is whole but for its workspace: `find_bytes(bytes)` says how large that is or
/// what is wrong with the call, and `enqueue(workspace, stream)`, which follows once the call is
/// known to be valid and its device is current, gives the status of the launch.
template <class FindBytes, class Enqueue>
Outcome run_on(const Input& q, uintptr_t handle, FindBytes find_bytes, Enqueue enqueue) {
  const CurrentDevice device(q.device_id());
  // What is wrong with the call is said where there is no device, too.
  size_t bytes = 0;
  if (const sawtooth_status status = find_bytes(&bytes); status != SAWTOOTH_OK) return last(status);
  if (device.error() != cudaSuccess) return failed("looking for a device", device.error());
  const auto stream = reinterpret_cast<cudaStream_t>(handle);  // NOLINT(performance-no-int-to-ptr)
  Workspace workspace;
  if (const cudaError_t error = reserve(q.device_id(), stream, bytes, workspace);
      error != cudaSuccess)
    return failed("reserving the workspace", error);
  const sawtooth_status status = enqueue(workspace, stream);
  return status == SAWTOOTH_OK ? Outcome{SAWTOOTH_OK, ""} : last(status);
}

/// Those who take tensors that were made here do not know the stream.
Outcome wait_for(uintptr_t handle) {
  const auto stream = reinterpret_cast<cudaStream_t>(handle);  // NOLINT(performance-no-int-to-ptr)
  const cudaError_t error = cudaStreamSynchronize(stream);
  return error == cudaSuccess ? Outcome{SAWTOOTH_OK, ""} : failed("waiting for the stream", error);
}

/// Status, message, and the tensors that were made here.
using Result = std::tuple<int, std::string, std::optional<Tensor>, std::optional<Tensor>>;

std::vector<int64_t> shape_of_o(const sawtooth_attention& call) {
  return {call.batch, call.heads, call.seq_q, call.head_dim_v};
}

/// `out` may be missing, and is made once the call is known to be valid; so is lse with `with_lse`.
Result forward(const Input& q, const Input& k, const Input& v, const std::optional<Tensor>& out,
               const std::optional<Tensor>& lse, bool with_lse, const Options& options,
               uintptr_t handle, const std::vector<Input>& lists) {
  sawtooth_attention call;
  Outcome outcome = fill(q, k, v, options, call);
  if (outcome.first == SAWTOOTH_OK) outcome = place_lists(lists, q, call);
  if (outcome.first == SAWTOOTH_OK && out)
    outcome = place("out", *out, shape_of_o(call), q, call.o_strides, call.o);
  if (outcome.first != SAWTOOTH_OK) return {outcome.first, outcome.second, {}, {}};
  if (!out) call.o = const_cast<void*>(q.data());  // for the checks alone
  std::optional<Tensor> made_out, made_lse;
  const auto enqueue = [&](const Workspace& workspace, cudaStream_t stream) {
    if (!out) {
      made_out = empty(shape_of_o(call), q.dtype(), q.device_id());
      call.o = made_out->data();
    }
    if (with_lse && !lse)
      made_lse = empty({call.batch, call.heads, call.seq_q}, nb::dtype<float>(), q.device_id());
    if (with_lse) call.lse = static_cast<float*>((lse ? *lse : *made_lse).data());
    return sawtooth_attention_forward(&call, workspace.memory, workspace.bytes, stream);
  };
  outcome = run_on(
      q, handle, [&](size_t* bytes) { return sawtooth_attention_workspace_bytes(&call, bytes); },
      enqueue);
  if (outcome.first == SAWTOOTH_OK && (made_out || made_lse)) outcome = wait_for(handle);
  if (outcome.first != SAWTOOTH_OK) return {outcome.first, outcome.second, {}, {}};
  return {SAWTOOTH_OK, "", made_out, made_lse};
}

/// Status, message, and dQ, dK and dV where they were made here.
using Gradients = std::tuple<int, std::string, std::vector<Tensor>>;

/// `made` are dQ, dK and dV, or none of them: then they are made once the call is known to be
/// valid.
Gradients backward(const Input& d_o, const Input& q, const Input& k, const Input& v, const Input& o,
                   const Input& lse, const std::vector<Tensor>& made, const Options& options,
                   uintptr_t handle) {
  sawtooth_attention call;
  sawtooth_gradients gradients;
  sawtooth_gradients_defaults(&gradients);
  gradients.dq_additions = text_or_null(options.dq);
  Outcome outcome = fill(q, k, v, options, call);
  const auto add = [&](const char* name, const auto& tensor, const Input& like,
                       sawtooth_strides& strides, auto& pointer) {
    if (outcome.first == SAWTOOTH_OK)
      outcome = place(name, tensor, shape_of(like), q, strides, pointer);
  };
  const void* of_forward = nullptr;
  add("out", o, q, call.o_strides, of_forward);
  add("grad_out", d_o, q, gradients.d_o_strides, gradients.d_o);
  call.o = const_cast<void*>(of_forward);  // is read
  if (outcome.first == SAWTOOTH_OK) {
    const std::vector<int64_t> rows{call.batch, call.heads, call.seq_q};
    outcome = fits("lse", lse, rows, nb::dtype<float>(), q.device_id());
    int64_t dense = 1;
    for (size_t i = rows.size(); i-- > 0 && outcome.first == SAWTOOTH_OK; dense *= rows[i])
      if (rows[i] > 1 && lse.stride(i) != dense)
        outcome = {SAWTOOTH_MISALIGNED, "lse has gaps; allowed: [batch, heads, length] without"};
    call.lse = static_cast<float*>(const_cast<void*>(lse.data()));
  }
  const std::array<const Input*, 3> like{&q, &k, &v};
  const auto set = [&](const std::vector<Tensor>& tensors) {
    add("dq", tensors[0], q, gradients.dq_strides, gradients.dq);
    add("dk", tensors[1], k, gradients.dk_strides, gradients.dk);
    add("dv", tensors[2], v, gradients.dv_strides, gradients.dv);
  };
  if (!made.empty()) {
    set(made);
  } else {  // for the checks alone
    gradients.dq = const_cast<void*>(q.data());
    gradients.dk = const_cast<void*>(k.data());
    gradients.dv = const_cast<void*>(v.data());
  }
  if (outcome.first != SAWTOOTH_OK) return {outcome.first, outcome.second, {}};
  std::vector<Tensor> made_here;
  const auto enqueue = [&](const Workspace& workspace, cudaStream_t stream) {
    if (made.empty()) {
      for (const Input* tensor : like)
        made_here.push_back(empty(shape_of(*tensor), q.dtype(), q.device_id()));
      set(made_here);
    }
    return sawtooth_attention_backward(&call, &gradients, workspace.memory, workspace.bytes,
                                       stream);
  };
  outcome = run_on(
      q, handle,
      [&](size_t* bytes) { return sawtooth_backward_workspace_bytes(&call, &gradients, bytes); },
      enqueue);
  if (outcome.first == SAWTOOTH_OK && made.empty()) outcome = wait_for(handle);
  if (outcome.first != SAWTOOTH_OK) return {outcome.first, outcome.second, {}};
  return {SAWTOOTH_OK, "", std::move(made_here)};
}

/// Frees what calls have left, once all work of its devices is done: a stream of theirs may be
/// gone. Graphs of earlier calls must not run after this.
void free_workspaces() {
  for (const auto& [place, workspace] : workspaces)
    workspaces_of_graphs.emplace_back(place.first, workspace.memory);
  workspaces.clear();
  for (const auto& [place, memory] : workspaces_of_graphs) {
    const CurrentDevice device(place);
    cudaDeviceSynchronize();
    cudaFree(memory);
  }
  workspaces_of_graphs.clear();
}

}  // namespace

NB_MODULE(_attention, m) {
  nb::class_<Options>(m, "Options")
      .def(nb::init<>())
      .def_rw("causal", &Options::causal)
      .def_rw("window", &Options::window)
      .def_rw("scale", &Options::scale)
      .def_rw("family", &Options::of_family)
      .def_rw("launch", &Options::of_launch)
      .def_rw("scan", &Options::of_scan)
      .def_rw("q_order", &Options::of_q_order)
      .def_rw("dq", &Options::dq)
      .def_rw("tile_q", &Options::tile_q)
      .def_rw("tile_kv", &Options::tile_kv)
      .def_rw("section", &Options::section)
      .def_rw("workers", &Options::workers)
      .def_rw("kv_split", &Options::kv_split)
      .def_rw("prefetch", &Options::prefetch)
      .def_rw("seed", &Options::seed);
  m.attr("no_device") = int(SAWTOOTH_NO_DEVICE);
  m.attr("launch_failed") = int(SAWTOOTH_LAUNCH_FAILED);
  m.def("forward", forward, nb::arg("q"), nb::arg("k"), nb::arg("v"), nb::arg("out").none(),
        nb::arg("lse").none(), nb::arg("with_lse"), nb::arg("options"), nb::arg("stream"),
        nb::arg("lists"));
  m.def("backward", backward, nb::arg("grad_out"), nb::arg("q"), nb::arg("k"), nb::arg("v"),
        nb::arg("out"), nb::arg("lse"), nb::arg("made"), nb::arg("options"), nb::arg("stream"));
  m.def("free_workspaces", free_workspaces);
}
