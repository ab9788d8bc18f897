// MPI behind MessagePassing: a library of its own, so that the program needs no MPI to run.
#include <mpi.h>

#include "experiments/sawtooth/ranks/ranks.hpp"

namespace sawtooth::experiments {
namespace {

constexpr int tag = 0;

void send(int to, const char* bytes, size_t count) {
  MPI_Send(bytes, static_cast<int>(count), MPI_BYTE, to, tag, MPI_COMM_WORLD);
}

long probe(int* from) {
  MPI_Status status;
  int there = 0;
  MPI_Iprobe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &there, &status);
  if (there == 0) return -1;
  int count = 0;
  MPI_Get_count(&status, MPI_BYTE, &count);
  *from = status.MPI_SOURCE;
  return count;
}

void receive(int from, char* bytes, size_t count) {
  MPI_Recv(bytes, static_cast<int>(count), MPI_BYTE, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

void finish() {
  MPI_Finalize();
}

}  // namespace
}  // namespace sawtooth::experiments

extern "C" const sawtooth::experiments::MessagePassing* sawtooth_message_passing() {
  using namespace sawtooth::experiments;
  static MessagePassing table{0, 1, send, probe, receive, finish};
  int provided = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &table.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &table.size);
  return &table;
}
