// A program that uses CUDA as its arguments say, on the fake driver:
//   launch NAME GRID, graph, capture on|off, stream N, context N, push NAME, pop, thread NAME GRID,
//   run COMMAND (a shell's), fork, crash, wait, exit CODE,
//   once FILE (stops here unless FILE is there, which it creates)
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <list>
#include <string>
#include <thread>

#include <cuda.h>
#include <dlfcn.h>
#include <nvtx3/nvToolsExt.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/cupti/fake/fake.hpp"

namespace {

void* driver = nullptr;

template <class Function>
Function* call(const char* name, Function* = nullptr) {
  return reinterpret_cast<Function*>(dlsym(driver, name));
}

void launch(const std::string& name, unsigned grid, CUstream stream) {
  static auto* const go = call<decltype(cuLaunchKernel)>("cuLaunchKernel");
  // Reachable to the end: the injected library may ask for names while the program exits.
  static auto& functions = *new std::list<sawtooth::fake::Function>;
  auto* function = &functions.emplace_back(sawtooth::fake::Function{name});
  go(reinterpret_cast<CUfunction>(function), grid, 1, 1, 128, 1, 1, 512, stream, nullptr, nullptr);
}

}  // namespace

int main(int count, char** words) {
  driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
  if (driver == nullptr || call<decltype(cuInit)>("cuInit")(0) != CUDA_SUCCESS) return 9;
  const auto use_context = [](uintptr_t number) {
    call<decltype(cuCtxSetCurrent)>("cuCtxSetCurrent")(reinterpret_cast<CUcontext>(number));
  };
  use_context(0x10);
  CUstream stream = nullptr;
  std::puts("the program's output");
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    const auto next = [&] { return std::string(i + 1 < count ? words[++i] : ""); };
    if (word == "launch") {
      const std::string name = next();
      launch(name, static_cast<unsigned>(std::stoi(next())), stream);
    } else if (word == "thread") {
      const std::string name = next();
      const auto grid = static_cast<unsigned>(std::stoi(next()));
      CUcontext context = nullptr;
      call<decltype(cuCtxGetCurrent)>("cuCtxGetCurrent")(&context);
      std::thread([&] {
        call<decltype(cuCtxSetCurrent)>("cuCtxSetCurrent")(context);
        launch(name, grid, stream);
      }).join();
    } else if (word == "graph") {
      call<decltype(cuGraphLaunch)>("cuGraphLaunch")(nullptr, stream);
    } else if (word == "capture") {
      call<void(int)>("sawtooth_fake_capture")(next() == "on");
    } else if (word == "stream") {
      stream = reinterpret_cast<CUstream>(std::stoul(next()) * 0x100);
    } else if (word == "context") {
      use_context(std::stoul(next()) * 0x10);
    } else if (word == "push") {
      nvtxRangePushA(next().c_str());
    } else if (word == "pop") {
      nvtxRangePop();
    } else if (word == "run") {
      if (std::system(next().c_str()) != 0) return 8;
    } else if (word == "fork") {
      const pid_t child = fork();
      if (child == 0) {
        launch("in_a_fork", 3, nullptr);
        _exit(0);
      }
      waitpid(child, nullptr, 0);
    } else if (word == "crash") {
      std::signal(SIGSEGV, SIG_DFL);  // a sanitizer would end the program with a code
      std::raise(SIGSEGV);
    } else if (word == "wait") {
      pause();
    } else if (word == "exit") {
      return std::stoi(next());
    } else if (word == "once") {
      const std::string file = next();
      if (!std::ifstream(file)) return std::ofstream(file) << "x", 0;
    }
  }
  return 0;
}
