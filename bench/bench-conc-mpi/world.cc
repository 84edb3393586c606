#include "world.h"

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>

#include "base/text.h"

namespace bk::bench_conc_mpi {
namespace {

constexpr int kPings = 64, kTag = 7;

void send(std::int64_t value, int to) { MPI_Send(&value, 1, MPI_INT64_T, to, kTag, MPI_COMM_WORLD); }

std::int64_t receive(int from) {
  std::int64_t value = 0;
  MPI_Recv(&value, 1, MPI_INT64_T, from, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return value;
}

/// Rank 0's side: {rank's clock - ours, half the way} of the shortest of all pings.
std::array<Nanos, 2> ping(int rank) {
  Nanos best = INT64_MAX, offset = 0;
  for (int i = 0; i < kPings; ++i) {
    const Nanos sent = monotonic_now();
    send(0, rank);
    const Nanos theirs = receive(rank);
    const Nanos way = monotonic_now() - sent;
    if (way >= best) continue;
    best = way;
    offset = theirs - (sent + way / 2);
  }
  return {offset, best / 2};
}

}  // namespace

World::World() {
  MPI_Init(nullptr, nullptr);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &size_);
}

World::~World() { MPI_Finalize(); }

Status World::together(const Status& mine) {
  const std::string text = mine ? "" : mine.error().text();
  const int failed = mine ? size_ : rank_;
  int first = size_;
  MPI_Allreduce(&failed, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (first == size_) return {};
  int code = mine ? 0 : static_cast<int>(mine.error().code);
  int length = static_cast<int>(text.size());
  MPI_Bcast(&code, 1, MPI_INT, first, MPI_COMM_WORLD);
  MPI_Bcast(&length, 1, MPI_INT, first, MPI_COMM_WORLD);
  std::string shared = rank_ == first ? text : std::string(static_cast<std::size_t>(length), ' ');
  MPI_Bcast(shared.data(), length, MPI_CHAR, first, MPI_COMM_WORLD);
  return fail(static_cast<Errc>(code), shared, fmt::format("rank {} of {}", first, size_));
}

bool World::any(bool mine) {
  const int said = mine ? 1 : 0;
  int all = 0;
  MPI_Allreduce(&said, &all, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  return all != 0;
}

std::vector<std::string> World::gather(const std::string& mine) {
  const int length = static_cast<int>(mine.size());
  std::vector<int> lengths(static_cast<std::size_t>(size_)), starts(static_cast<std::size_t>(size_));
  MPI_Gather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, 0, MPI_COMM_WORLD);
  int total = 0;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    starts[i] = total;
    total += lengths[i];
  }
  std::string all(static_cast<std::size_t>(rank_ == 0 ? total : 0), ' ');
  MPI_Gatherv(mine.data(), length, MPI_CHAR, all.data(), lengths.data(), starts.data(), MPI_CHAR, 0, MPI_COMM_WORLD);
  std::vector<std::string> texts;
  if (rank_ != 0) return texts;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    texts.push_back(all.substr(static_cast<std::size_t>(starts[i]), static_cast<std::size_t>(lengths[i])));
  }
  return texts;
}

Nanos World::common_start(Nanos ahead) {
  std::int64_t start = monotonic_now() + ahead;
  MPI_Bcast(&start, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
  return start + offset_;
}

void World::measure_clocks() {
  if (rank_ == 0) {
    for (int other = 1; other < size_; ++other) {
      const auto [offset, error] = ping(other);
      send(offset, other);
      send(error, other);
    }
    return;
  }
  for (int i = 0; i < kPings; ++i) {
    receive(0);
    send(monotonic_now(), 0);
  }
  offset_ = receive(0);
  error_ = receive(0);
}

int launched_rank() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"}) {
    if (const char* text = std::getenv(name)) return static_cast<int>(parse_int(text).value_or(0));
  }
  return 0;
}

}  // namespace bk::bench_conc_mpi
