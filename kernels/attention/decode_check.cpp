// The checks of decode calls.
#include <algorithm>
#include <bit>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include <cuda_runtime_api.h>

#include "kernels/attention/choice.hpp"
#include "kernels/attention/decode.hpp"
#include "kernels/attention/launch.hpp"
#include "kernels/attention/variant_list.hpp"
#include "kernels/attention/workspace.hpp"
#include "kernels/decode/arguments.hpp"

namespace sawtooth::kernels {
namespace {

Outcome check_kernel(const AttentionDecode& call) {
  const Problem& problem = call.problem;
  if (problem.dtype != ElementType::bf16 && problem.dtype != ElementType::fp16)
    return refuse(Status::unsupported_type,
                  std::string("dtype is ") + name_of(problem.dtype) + "; allowed: bf16, fp16");
  std::set<std::string> families;
  std::set<HeadDims> dims;
  for (const KernelVariant& variant : decode_variants()) {
    families.insert(variant.family);
    if (variant.serves(call.family)) dims.insert(variant.head_dims());
  }
  if (!call.family.empty() && !families.contains(std::string(call.family)))
    return refuse(Status::bad_schedule,
                  "family is '" + std::string(call.family) + "'; allowed for decode: " +
                      listed(families, [](const std::string& name) { return name; }));
  if (!dims.contains(HeadDims(problem)))
    return refuse(Status::unsupported_head_dim,
                  "head_dim is " + HeadDims(problem).text() + "; allowed for decode: " +
                      listed(dims, [](const HeadDims& one) { return one.text(); }));
  return {};
}

Outcome check_pages(const AttentionDecode& call) {
  const KvPages& pages = call.pages;
  const Problem& problem = call.problem;
  if (pages.page_rows < decode::least_page_rows || pages.page_rows > decode::most_page_rows ||
      !std::has_single_bit(uint64_t(pages.page_rows)))
    return refuse(Status::bad_size, "pages.page_rows is " + std::to_string(pages.page_rows) +
                                        "; allowed: 16, 32, 64, 128, 256");
  if (pages.page_count < 1 || pages.page_count > std::numeric_limits<int32_t>::max())
    return refuse(Status::bad_size, "pages.page_count is " + std::to_string(pages.page_count) +
                                        "; allowed: 1 to 2^31 - 1");
  if (pages.table_stride < 0 || pages.table_stride > std::numeric_limits<int32_t>::max() ||
      problem.seq_kv > pages.table_stride * pages.page_rows)
    return refuse(Status::bad_size,
                  "seq_kv is " + std::to_string(problem.seq_kv) + ", and the table has " +
                      std::to_string(pages.table_stride) + " pages of " +
                      std::to_string(pages.page_rows) +
                      " rows for a sequence; allowed: as many keys as they hold, or fewer");
  return {};
}

Outcome check_prefix(const AttentionDecode& call) {
  const Prefix& prefix = call.prefix;
  const Problem& problem = call.problem;
  if (prefix.keys < 0 || (prefix.shared() && prefix.group < 1))
    return refuse(Status::bad_size, "prefix is " + std::to_string(prefix.keys) + " keys of " +
                                        std::to_string(prefix.group) +
                                        " sequences; allowed: 0 keys, or more of 1 or more");
  if (!prefix.shared()) return {};
  constexpr int64_t least_tile = 64;  // of all decode kernels; their tiles are multiples of it
  const int64_t unit = max_of(least_tile, call.pages.table != nullptr ? call.pages.page_rows : 0);
  if (prefix.keys % unit != 0)
    return refuse(Status::bad_size, "prefix.keys is " + std::to_string(prefix.keys) +
                                        "; allowed: multiples of " + std::to_string(unit));
  if (least_keys(call) > problem.seq_kv)
    return refuse(Status::bad_size, "seq_kv is " + std::to_string(problem.seq_kv) +
                                        "; allowed with this prefix and mask: from " +
                                        std::to_string(least_keys(call)));
  if (!product_within(most_cascade_heads, {problem.batch, problem.kv_heads}))
    return refuse(Status::bad_size, "batch x kv_heads is above " +
                                        std::to_string(most_cascade_heads) +
                                        "; allowed with a prefix: fewer");
  return {};
}

Outcome check_table(const char* name, const int32_t* table) {
  if (reinterpret_cast<uintptr_t>(table) % sizeof(int32_t) != 0)
    return refuse(Status::misaligned, std::string(name) + " is not aligned to 4 bytes");
  return {};
}

Outcome check_shares(const AttentionDecode& call) {
  if (call.workers < 0 || call.workers > most_balanced_workers)
    return refuse(Status::bad_schedule,
                  "workers is " + std::to_string(call.workers) + "; allowed: 1 to " +
                      std::to_string(most_balanced_workers) + ", or 0 for automatic");
  return {};
}

}  // namespace

Outcome check(const AttentionDecode& call) {
  const Problem& problem = call.problem;
  if (Outcome bad = check_sizes(problem); !bad) return bad;
  if (problem.mask.kind == MaskKind::window)
    return refuse(Status::bad_size, "mask is window; allowed for decode: none, causal");
  if (Outcome bad = check_kernel(call); !bad) return bad;
  if (has_no_query(problem)) return {};
  constexpr int64_t most_rows = 1 << 20;
  if (!product_within(most_rows, {problem.heads / problem.kv_heads, problem.seq_q}))
    return refuse(Status::bad_size,
                  "the heads of a group have more than 2^20 query rows; allowed for decode: fewer");
  // Tiles of all units are counted in 32 bits a sequence and kernel, keys and pages too.
  constexpr int64_t most = std::numeric_limits<int32_t>::max() / 2;
  if (problem.seq_kv > most || !product_within(most, {problem.batch, problem.heads, problem.seq_q}))
    return refuse(Status::bad_size, "seq_kv, or batch x heads x seq_q, is above 2^30");
  if (!product_within(most, {problem.batch, max_of(1, ceil_div(problem.seq_kv, 64))}))
    return refuse(Status::bad_size, "batch x seq_kv is above 2^36");
  if (call.lengths != nullptr && problem.batch > decode::most_sequences)
    return refuse(Status::bad_size, "batch is " + std::to_string(problem.batch) +
                                        "; allowed with lengths: up to " +
                                        std::to_string(decode::most_sequences));
  const int64_t dim = problem.head_dim;
  const bool paged = call.pages.table != nullptr;
  if (paged)
    if (Outcome bad = check_pages(call); !bad) return bad;
  if (Outcome bad = check_prefix(call); !bad) return bad;
  const int64_t q_sizes[] = {problem.batch, problem.heads, problem.seq_q};
  const int64_t kv_sizes[] = {paged ? call.pages.page_count : problem.batch, problem.kv_heads,
                              paged ? call.pages.page_rows : problem.seq_kv};
  if (problem.seq_kv > 0) {
    if (Outcome bad = check_tensor("q", call.q, call.q_strides, q_sizes, dim); !bad) return bad;
    if (Outcome bad = check_tensor("k", call.k, call.k_strides, kv_sizes, dim); !bad) return bad;
    if (Outcome bad = check_tensor("v", call.v, call.v_strides, kv_sizes, dim); !bad) return bad;
  }
  if (Outcome bad = check_tensor("o", call.o, call.o_strides, q_sizes, dim); !bad) return bad;
  if (Outcome bad = check_table("lengths", call.lengths); !bad) return bad;
  if (Outcome bad = check_table("pages.table", call.pages.table); !bad) return bad;
  if (Outcome bad = check_floats("lse", call.lse); !bad) return bad;
  if (Outcome bad = check_scale(call.scale); !bad) return bad;
  return check_shares(call);
}

Outcome check_tables(const AttentionDecode& call, CUstream_st* stream) {
  if (Outcome bad = check(call); !bad) return bad;
  const Problem& problem = call.problem;
  if (has_no_query(problem)) return {};
  const auto read = [&](const int32_t* from, std::vector<int32_t>& to) {
    cudaError_t error = cudaMemcpyAsync(to.data(), from, to.size() * sizeof(int32_t),
                                        cudaMemcpyDeviceToHost, stream);
    if (error == cudaSuccess) error = cudaStreamSynchronize(stream);
    return error == cudaSuccess ? Outcome{} : failed("reading lengths and pages", error);
  };
  std::vector<int32_t> lengths(size_t(problem.batch), int32_t(problem.seq_kv));
  if (call.lengths != nullptr)
    if (Outcome bad = read(call.lengths, lengths); !bad) return bad;
  for (size_t b = 0; b < lengths.size(); ++b)
    if (lengths[b] < least_keys(call) || lengths[b] > problem.seq_kv)
      return refuse(Status::bad_size, "sequence " + std::to_string(b) + " has a length of " +
                                          std::to_string(lengths[b]) +
                                          "; allowed: " + std::to_string(least_keys(call)) +
                                          " to seq_kv = " + std::to_string(problem.seq_kv));
  const KvPages& pages = call.pages;
  if (pages.table == nullptr || problem.seq_kv == 0) return {};
  // The last row of the table may end where its keys do.
  const int64_t used = ceil_div(problem.seq_kv, pages.page_rows);
  std::vector<int32_t> table(size_t((problem.batch - 1) * pages.table_stride + used));
  if (Outcome bad = read(pages.table, table); !bad) return bad;
  const auto in_its_group = [&](size_t b, int64_t p) {
    return !call.prefix.owns(int64_t(b)) && p * pages.page_rows < call.prefix.keys;
  };
  for (size_t b = 0; b < lengths.size(); ++b)
    for (int64_t p = 0; p < ceil_div(lengths[b], pages.page_rows); ++p)
      if (in_its_group(b, p))
        continue;
      else if (const int32_t page = table[b * size_t(pages.table_stride) + size_t(p)];
               page < 0 || page >= pages.page_count)
        return refuse(Status::bad_size, "entry " + std::to_string(p) + " of sequence " +
                                            std::to_string(b) + " is page " + std::to_string(page) +
                                            "; allowed: 0 to " +
                                            std::to_string(pages.page_count - 1));
  return {};
}

}  // namespace sawtooth::kernels
