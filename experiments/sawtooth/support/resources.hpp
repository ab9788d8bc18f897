// Where the GPU profiles and the known systems lie: in $SAWTOOTH_EXPERIMENTS if that is set, else
// in experiments/ or share/sawtooth/experiments/ of the nearest folder above the program that has
// one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sawtooth::experiments {

/// From now on `folder` is experiments/ where $SAWTOOTH_EXPERIMENTS is not set: for a library,
/// whose program is someone else's.
void use_resources(const std::string& folder);

/// The file of `name` in `folder` ("gpus", "systems"): a known name, the family of one (h100 of
/// h100-sxm), or a path with a '/' or an ending ".ini". Throws UsageError that begins with `place`
/// and lists the known names.
std::string resource_path(std::string_view folder, const std::string& name,
                          const std::string& place);

/// Names of the files NAME.ini in `folder`, sorted.
std::vector<std::string> resource_names(std::string_view folder);

/// The file at `path` from the experiments folder on, "../plots/plot.py" too; it may not be there.
std::string resource_file(std::string_view path);

/// A library of this project beside the program, or in lib/sawtooth/ beside its folder; empty where
/// there is none.
std::string library_beside_program(std::string_view name);

/// NAME of "some/path/NAME.ini".
std::string stem_of(const std::string& path);

}  // namespace sawtooth::experiments
