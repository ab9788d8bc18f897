// What a lockstep replay touches, as a text that a test can state.
#pragma once

#include <string>

#include "sim/request.hpp"
#include "sim/schedule/wavefront.hpp"
#include "tests/support/atom_table.hpp"

namespace sawtooth::tests {

/// Touches in their order, separated by blanks: the worker, R (reads), W (writes), P (prefetches)
/// or A (adds), the tensor, and the number of the atom in it, such as "0Rq0".
inline std::string visit_script(const sim::Request& request) {
  struct Script : sim::WavefrontSink {
    explicit Script(const sim::AtomTable& table) : atoms(table) {}
    const sim::AtomTable& atoms;
    std::string text;
    void touch(int64_t worker, sim::AtomId atom, sim::Access access) {
      const sim::Tensor tensor = atoms.tensor_of(atom);
      if (!text.empty()) text += ' ';
      text += std::to_string(worker);
      text += access == sim::Access::write      ? 'W'
              : access == sim::Access::prefetch ? 'P'
              : access == sim::Access::reduce   ? 'A'
                                                : 'R';
      text += sim::tensor_names[static_cast<size_t>(tensor)];
      text += std::to_string(atom - atoms.id(tensor, 0, 0));
    }
  };
  const sim::AtomTable atoms(request);
  Script sink(atoms);
  sim::LockstepWavefront(request, atoms, sink).run();
  return sink.text;
}

}  // namespace sawtooth::tests
