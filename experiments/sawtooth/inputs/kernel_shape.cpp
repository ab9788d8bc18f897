#include "experiments/sawtooth/inputs/kernel_shape.hpp"

#include <charconv>

namespace sawtooth::experiments {
namespace {

// Takes `before` and a whole number above 0 from the front of `text`.
bool take(std::string_view& text, char before, int64_t& number) {
  if (text.empty() || text.front() != before) return false;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + 1, end, number);
  if (error != std::errc{} || number < 1) return false;
  text.remove_prefix(static_cast<size_t>(stop - text.data()));
  return true;
}

}  // namespace

std::optional<KernelShape> parse_kernel_shape(std::string_view name) {
  KernelShape shape;
  const bool is_shape = take(name, 'd', shape.head_dim) && take(name, '-', shape.tiling.q_rows) &&
                        take(name, 'x', shape.tiling.kv_rows) && name.empty();
  return is_shape ? std::optional(shape) : std::nullopt;
}

SectionName split_section_name(std::string_view name) {
  const size_t blank = name.find(' ');
  if (blank == std::string_view::npos) return {name, {}};
  return {name.substr(0, blank), name.substr(blank + 1)};
}

}  // namespace sawtooth::experiments
