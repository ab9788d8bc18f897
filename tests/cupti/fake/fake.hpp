// What the fake libcuda, libcupti and their test program share.
#pragma once

#include <string>

namespace sawtooth::fake {

struct Function {  // behind a CUfunction
  std::string name;
};

}  // namespace sawtooth::fake
