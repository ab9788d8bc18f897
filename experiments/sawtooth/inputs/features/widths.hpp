// Rows of V and O of another width than those of Q and K, and K and V of another type.
#pragma once

#include "experiments/sawtooth/inputs/features/feature.hpp"
#include "scheduler/problem.hpp"

namespace sawtooth::experiments {

template <>
inline const ValueNames<ElementType> names_of<ElementType>{{"bf16", ElementType::bf16},
                                                           {"fp16", ElementType::fp16},
                                                           {"fp32", ElementType::fp32},
                                                           {"fp8", ElementType::fp8}};

/// The type of K and V where it is not that of Q.
enum class KvType : uint8_t { as_q, fp8, int8 };
template <>
inline const ValueNames<KvType> names_of<KvType>{
    {"dtype", KvType::as_q}, {"fp8", KvType::fp8}, {"int8", KvType::int8}};

struct WidthKeys {
  std::optional<int64_t> head_dim_v;
  bool kv_latent{};
  KvType kv_dtype{};

  template <class Keys>
  static OptionBlocks options() {
    using enum OptionGroup;
    using enum OptionKind;
    return {{"head-dim",
             {{"head-dim-v", problem, count, field_of<Keys, &Keys::head_dim_v>(), sweep_commands,
               "", "elements of a row of V and of O (default: head-dim)", 1, most_head_dim},
              {"kv-latent", problem, on_off, field_of<Keys, &Keys::kv_latent>(), sweep_commands,
               "off", "V is the first head-dim-v columns of K, which a step reads once"}}},
            {"dtype",
             {{"kv-dtype", problem, choice, field_of<Keys, &Keys::kv_dtype>(), sweep_commands,
               "dtype", "element type of K and V"}}}};
  }
  static constexpr auto columns =
      std::to_array<ResultColumn>({{"head_dim_v", ColumnKind::optional},
                                   {"kv_latent", ColumnKind::optional, "off"},
                                   {"kv_dtype", ColumnKind::optional, "dtype"}});

  // head-dim = 192/128 says both.
  static void complete_text(Layers& layers) {
    if (!layers.has("head-dim")) return;
    const std::string& text = layers.text("head-dim");
    const size_t mark = text.find(two_widths_mark);
    if (mark == std::string::npos) return;
    layers.set_if_missing("head-dim-v", text.substr(mark + 1));
    if (layers.text("head-dim-v") != text.substr(mark + 1))
      layers.refuse("head-dim-v", "head-dim = " + text + " says it too; leave one out");
  }

  template <class Point>
  static void resolve_problem(const Layers& layers, Point& point) {
    const auto& keys = point.keys;
    Problem& problem = point.request.problem;
    problem.head_dim_v = static_cast<int32_t>(keys.head_dim_v.value_or(0));
    problem.kv_latent = keys.kv_latent;
    if (keys.kv_dtype != KvType::as_q)
      problem.kv_dtype = keys.kv_dtype == KvType::fp8 ? ElementType::fp8 : ElementType::int8;
    if (problem.kv_latent && problem.v_dim() > problem.head_dim)
      layers.fail("kv-latent", "V has more columns than K; allowed: head-dim-v up to head-dim = " +
                                   std::to_string(problem.head_dim));
    if (problem.pass == Pass::backward &&
        (problem.kv_latent || problem.kv_element_bytes() < 2 || problem.dtype == ElementType::fp8))
      layers.fail("pass",
                  "backward has K and V of its own, and no type of 8 bits; allowed with "
                  "kv-latent, kv-dtype and dtype = fp8: forward");
    if (keys.ring && !problem.rows_alike())
      layers.fail("ring",
                  "has rows of one width; allowed: without head-dim-v, kv-latent, kv-dtype "
                  "and fp8");
  }

  bool in_use() const { return head_dim_v || kv_latent || kv_dtype != KvType::as_q; }
  static constexpr bool own_kernels = true;
};

}  // namespace sawtooth::experiments
