// The format of what is known of a GPU or a kernel (experiments/profiles): a value a line,
// with its source (datasheet, measured, published, assumed) and a note on where it is from.
//
//   [gpu]
//   description = NVIDIA GB10 (DGX Spark)
//   l2-bytes = 24 MiB; published; arXiv 2601.16032
//
// The first section has what the file is of, and may name a base, a file of the same folder: what
// no line says is as there, but for [judged], [judged-FAMILY] and [pace]. Files of kernels
// go on with sections of kernels: [every] for all of them, [d>64] for those above a head dim,
// [d128-128x64] for the kernel of the file's family (kernels/mma where it names none) of head dim
// 128 with 128 rows of Q and 64 of K/V a tile.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/tiling.hpp"
#include "sim/gpu.hpp"

namespace sawtooth::experiments {

struct Parameter {
  std::string key, value, source, note;
  int line = 0;
};

struct ProfileSection {
  std::string name;
  std::vector<Parameter> parameters;
  int line = 0;
};

struct ProfileFile {
  std::string path;
  std::vector<Parameter> words;          // of the first section, such as its description
  std::vector<ProfileSection> sections;  // the first one with its parameters as well
  std::string content = {};              // a hash of its parameters; notes and words do not count

  std::string word(std::string_view key) const;  // empty: not there
};

/// The first section is called `kind`. Throws UsageError with file, line and what is allowed; keys
/// and values are not looked at.
ProfileFile read_profile_file(const std::string& path, std::string_view kind);

/// What read_profile_file() reads, behind a comment line.
std::string profile_text(const ProfileFile& file, const std::string& comment);

/// Which kernels a section is of.
struct KernelScope {
  int64_t head_dim = 0;          // of this one, or of larger ones
  std::optional<Tiling> tiling;  // and of this one; empty: of any kernel of a larger head dim

  /// `of_family`: whether the kernel is of the family that the sections of shapes are of.
  bool holds(int64_t other_head_dim, const Tiling& other, bool of_family) const;
};

/// Nothing where `section` names none.
std::optional<KernelScope> parse_kernel_scope(std::string_view section);

/// The name of a kernel's section, such as d64-128x128.
std::string kernel_section(int64_t head_dim, const Tiling& tiling);

inline constexpr std::string_view every_kernel = "every";

// Values of a profile's keys: what kinds there are, what they allow, and how they are read.

using sim::ProfilePlace;
using sim::ProfileUnit;

/// What a key allows. The least and the most are of a number.
struct ProfileBounds {
  ProfileUnit unit;
  double low;
  double high;
};

/// Puts what `text` says in its place. Throws std::invalid_argument: which part of it is not
/// allowed, and what is.
void read_profile_value(std::string_view text, const ProfileBounds& bounds, ProfilePlace place);

}  // namespace sawtooth::experiments
