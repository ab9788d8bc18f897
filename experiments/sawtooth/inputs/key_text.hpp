// Typed values of keys from text and back, and the names of those that have names.
#pragma once

#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "experiments/sawtooth/inputs/keys.hpp"
#include "experiments/sawtooth/inputs/option_values.hpp"
#include "scheduler/dq_names.hpp"

namespace sawtooth::experiments {

template <class Value>
using ValueNames = std::vector<std::pair<std::string_view, Value>>;

inline ValueNames<bool> value_names(bool*) {
  return {{"off", false}, {"on", true}};
}
inline ValueNames<ElementType> value_names(ElementType*) {
  return {{"bf16", ElementType::bf16}, {"fp16", ElementType::fp16}, {"fp32", ElementType::fp32}};
}
inline ValueNames<Pass> value_names(Pass*) {
  return {{"forward", Pass::forward}, {"backward", Pass::backward}};
}
inline ValueNames<RingLayout> value_names(RingLayout*) {
  return {{"zigzag", RingLayout::zigzag}, {"plain", RingLayout::plain}};
}
inline ValueNames<Exchange> value_names(Exchange*) {
  return {
      {"none", Exchange::none}, {"megatron", Exchange::megatron}, {"ulysses", Exchange::ulysses}};
}
inline ValueNames<RingMover> value_names(RingMover*) {
  return {{"copy", RingMover::copy}, {"nccl", RingMover::nccl}};
}
inline ValueNames<Tiles> value_names(Tiles*) {
  return {{"64x64", Tiles::of_64}, {"kernel", Tiles::of_the_kernel}};
}
inline ValueNames<HeadOrder> value_names(HeadOrder*) {
  return {{"batch-major", HeadOrder::batch_major}, {"head-major", HeadOrder::head_major}};
}
inline ValueNames<Loop> value_names(Loop*) {
  return {{"kv-inner", Loop::kv_inner}, {"kv-outer", Loop::kv_outer}};
}
inline ValueNames<L2Content> value_names(L2Content*) {
  return {{"cold", L2Content::cold}, {"warm", L2Content::warm}, {"as-is", L2Content::as_is}};
}
inline ValueNames<Hints> value_names(Hints*) {
  constexpr auto first = sim::Priority::evict_first, last = sim::Priority::evict_last;
  return {{"q-first", {.q = first}},
          {"k-last-v-last", {.k = last, .v = last}},
          {"q-first-k-last-v-last", {.q = first, .k = last, .v = last}},
          {"k-first-v-first", {.k = first, .v = first}}};
}
inline ValueNames<sim::MechanismSet> value_names(sim::MechanismSet*) {
  ValueNames<sim::MechanismSet> names{{without_nothing, {}}};
  for (const auto& entry : sim::mechanism_names) {
    names.emplace_back(entry.name, sim::MechanismSet{static_cast<uint32_t>(entry.mechanism)});
  }
  return names;
}
inline ValueNames<const L2Model*> value_names(const L2Model**) {
  ValueNames<const L2Model*> names;
  for (const L2Model& model : l2_models) names.emplace_back(model.name, &model);
  return names;
}

template <class Value, class Table, class Member>
ValueNames<Value> names_from(const Table& table, Member member) {
  ValueNames<Value> names;
  for (const auto& entry : table) names.emplace_back(entry.name, entry.*member);
  return names;
}
inline ValueNames<Dq> value_names(Dq*) {
  return names_from<Dq>(dq_names, &DqName::dq);
}
inline ValueNames<sim::Timing> value_names(sim::Timing*) {
  return names_from<sim::Timing>(timing_models, &TimingModel::timing);
}
inline ValueNames<sim::HashKind> value_names(sim::HashKind*) {
  return names_from<sim::HashKind>(l2_hashes, &HashName::hash);
}
inline ValueNames<sim::SetPolicy> value_names(sim::SetPolicy*) {
  return names_from<sim::SetPolicy>(l2_policies, &PolicyName::policy);
}

template <class Id, class List>
ValueNames<Id> names_of_policies() {
  ValueNames<Id> names;
  for (const PolicyInfo& policy : List::info()) {
    names.emplace_back(policy.name, Id{static_cast<int32_t>(names.size())});
  }
  return names;
}
inline ValueNames<QOrderId> value_names(QOrderId*) {
  return names_of_policies<QOrderId, QOrders>();
}
inline ValueNames<SequenceOrderId> value_names(SequenceOrderId*) {
  return names_of_policies<SequenceOrderId, SequenceOrders>();
}
inline ValueNames<LaunchId> value_names(LaunchId*) {
  return names_of_policies<LaunchId, Launches>();
}
inline ValueNames<ScanId> value_names(ScanId*) {
  return names_of_policies<ScanId, Scans>();
}

template <class Value>
concept HasNames = requires(Value* value) {
  value_names(value);
};

/// What stands in an optional.
template <class Value>
struct ValueOf {
  using Type = Value;
};
template <class Value>
struct ValueOf<std::optional<Value>> {
  using Type = Value;
};

/// The value that canonical text means (option_values.hpp), and its text; a value that is none of
/// its names cannot be read.
template <HasNames Value>
void read_value(std::string_view text, Value& value) {
  for (const auto& [name, named] : value_names(&value)) {
    if (name == text) value = named;
  }
}
template <HasNames Value>
std::string value_text(const Value& value) {
  for (const auto& [name, named] : value_names(static_cast<Value*>(nullptr))) {
    if (named == value) return std::string(name);
  }
  return {};
}

template <class Number>
requires(std::is_arithmetic_v<Number> &&
         !std::is_same_v<Number, bool>) void read_value(std::string_view text, Number& value) {
  std::from_chars(text.data(), text.data() + text.size(), value);
}
inline std::string value_text(int64_t value) {
  return std::to_string(value);
}
inline std::string value_text(uint64_t value) {
  return std::to_string(value);
}
inline std::string value_text(double value) {
  return shortest(value);
}

inline void read_value(std::string_view text, std::string& value) {
  value = text;
}
inline std::string value_text(const std::string& value) {
  return value;
}

inline void read_value(std::string_view text, Mask& mask) {
  mask = parse_mask(text);
}
inline std::string value_text(const Mask& mask) {
  if (mask.kind == MaskKind::window)
    return std::string(window_prefix) + std::to_string(mask.window);
  return mask.kind == MaskKind::causal ? "causal" : "none";
}

inline void read_value(std::string_view text, Section& section) {
  section = parse_section(text);
}
inline std::string value_text(const Section& section) {
  if (section.all) return "all";
  if (section.auto_bytes > 0) return std::string(auto_prefix) + std::to_string(section.auto_bytes);
  return std::to_string(section.heads);
}

inline void read_value(std::string_view text, KvSplit& split) {
  split = {};
  split.shares = text == automatic;
  if (!split.shares) read_value(text, split.parts);
}
inline std::string value_text(const KvSplit& split) {
  return split.shares ? std::string(automatic) : std::to_string(split.parts);
}

template <class Value>
void read_value(std::string_view text, std::optional<Value>& value) {
  value.reset();
  if (text != automatic) read_value(text, value.emplace());
}
template <class Value>
std::string value_text(const std::optional<Value>& value) {
  return value ? value_text(*value) : std::string();
}

}  // namespace sawtooth::experiments
