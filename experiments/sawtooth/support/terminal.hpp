// Whether people read an output, and how wide and in which colours.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sawtooth::experiments {

enum class Output { standard, error };

bool is_terminal(Output output);

/// Characters a line: of the terminal, else $COLUMNS, else 80; 40 to 100.
size_t line_width();

/// Words of `text` in lines of at most `width`; `indent` blanks begin each line but the first.
std::string wrapped(std::string_view text, size_t width, size_t indent);

/// `text` in bold or red where `output` is a terminal and $NO_COLOR (no-color.org) is not set.
std::string bold(std::string_view text, Output output);
std::string red(std::string_view text, Output output);

}  // namespace sawtooth::experiments
