// Completions of shells and man pages, printed from the tables of commands and options.
#pragma once

#include <string>
#include <string_view>

namespace sawtooth::experiments {

/// The completion of `shell`: bash, zsh or fish. Throws UsageError for another one.
std::string completion(std::string_view shell);

/// The man page, in roff, of the program (empty name) or of a command. Throws UsageError.
std::string man_page(std::string_view command);

}  // namespace sawtooth::experiments
