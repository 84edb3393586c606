#include "share.h"

#include <catch2/catch.hpp>
#include <set>

#include "tool/load_figures.h"

namespace bk::bench_conc_mpi {
namespace {

leg::ConcurrencyPlan closed(int concurrency, int requests) {
  leg::ConcurrencyPlan plan;
  plan.concurrency = {concurrency};
  plan.requests = requests;
  return plan;
}

/// Requests as several streams would have made them, one failed.
load::Sample sample_of(int requests) {
  load::Sample sample;
  sample.leg = "concurrency";
  sample.cell = "C=6";
  sample.concurrency = 6;
  for (int i = 0; i < requests; ++i) {
    stream::RequestRecord r;
    r.scheduled = kSecond + i * 10 * kMillisecond;
    r.sent = r.scheduled + i * 100 * kMicrosecond;
    if (i == 4) {
      r.outcome = stream::Outcome::kHttpStatus;
      r.reason = "status 503";
      sample.requests.push_back(r);
      continue;
    }
    r.ttft = (100 + 7 * i) * kMillisecond;
    r.end = (900 + 3 * i) * kMillisecond;
    r.completion_tokens = 60 + i;
    r.decode_tok_s = stream::Figure::of(70.0 + i / 3.0);
    r.tpot_ms = stream::Figure::of(1000 / (70.0 + i / 3.0));
    sample.requests.push_back(r);
  }
  leg::fill_load_metrics({150, 15}, &sample);
  return sample;
}

TEST_CASE("the ranks' shares add up to the cell, each with prompts of its own") {
  struct Case {
    int concurrency, requests, size;
  };
  for (const Case& c : {Case{16, 64, 2}, Case{16, 64, 3}, Case{2, 5, 4}, Case{1, 8, 3}, Case{7, 7, 7}, Case{4, 2, 4}}) {
    CAPTURE(c.concurrency, c.requests, c.size);
    int streams = 0, requests = 0;
    std::set<std::uint64_t> seeds;
    for (int rank = 0; rank < c.size; ++rank) {
      const auto share = share_of(closed(c.concurrency, c.requests), rank, c.size);
      if (!share) continue;
      streams += share->plan.concurrency.front();
      requests += share->plan.requests;
      seeds.insert(share->plan.seed);
    }
    CHECK(requests <= c.requests);
    CHECK(requests >= std::min(c.requests, c.concurrency));
    CHECK(streams <= c.concurrency);
    CHECK_FALSE(seeds.empty());
    if (c.size <= c.concurrency && c.size <= c.requests) {
      CHECK(requests == c.requests);
      CHECK(streams == c.concurrency);
      CHECK(seeds.size() == static_cast<std::size_t>(c.size));
    }
  }
}

TEST_CASE("a rate is shared evenly, and constant arrivals take turns") {
  leg::ConcurrencyPlan plan;
  plan.rates = {8};
  plan.requests = 10;
  plan.arrivals = leg::Arrivals::kConstant;
  int requests = 0;
  for (int rank = 0; rank < 4; ++rank) {
    const auto share = share_of(plan, rank, 4);
    REQUIRE(share);
    CHECK(share->plan.rates == std::vector<double>{2});
    CHECK(share->delay == rank * 125 * kMillisecond);
    requests += share->plan.requests;
  }
  CHECK(requests == 10);
  plan.arrivals = leg::Arrivals::kPoisson;
  CHECK(share_of(plan, 3, 4)->delay == 0);
}

TEST_CASE("a sweep is cut into cells with their requests counted out") {
  leg::ConcurrencyPlan plan;
  plan.concurrency = {1, 4};
  const auto cells = cells_of(plan);
  REQUIRE(cells.size() == 2);
  CHECK(cells[1].concurrency == std::vector<int>{4});
  CHECK(cells[1].requests == 32);
  CHECK(cells[1].warmup == 0);
  plan.rates = {2.5};
  REQUIRE(cells_of(plan).size() == 1);
  CHECK(cells_of(plan)[0].requests == 32);
}

TEST_CASE("merged parts give the figures of one process, also over clocks that differ") {
  const load::Sample whole = sample_of(40);
  std::vector<load::Sample> parts;
  const Nanos clocks[] = {0, 5 * kSecond, -3 * kMillisecond};
  for (int rank = 0; rank < 3; ++rank) {
    load::Sample part;
    for (std::size_t i = 0; i < whole.requests.size(); ++i) {
      if (static_cast<int>(i % 3) != rank) continue;
      stream::RequestRecord r = whole.requests[i];
      r.scheduled += clocks[rank], r.sent += clocks[rank];  // as that rank's clock tells it
      part.requests.push_back(r);
    }
    part.client.cpu_share = 0.1 * rank;
    const auto back = from_text(to_text(part, clocks[rank]), 0);
    REQUIRE(back);
    parts.push_back(*back);
  }
  leg::ConcurrencyPlan cell = closed(6, 40);
  cell.limits = {150, 15};
  const load::Sample sum = merged(cell, parts);
  CHECK(sum.cell == "C=6");
  CHECK(sum.client.cpu_share == 0.2);
  const tool::CellFigures one = tool::load_figures(whole), several = tool::load_figures(sum);
  CHECK(several.requests == one.requests);
  CHECK(several.failed == 1);
  CHECK(several.aggregate_tok_s == one.aggregate_tok_s);
  CHECK(several.requests_per_s == one.requests_per_s);
  CHECK(several.goodput_per_s == one.goodput_per_s);
  CHECK(several.good_share == one.good_share);
  CHECK(*several.stream_tok_s == Approx(*one.stream_tok_s).epsilon(1e-12));
  CHECK(several.ttft_ms.p50.value == one.ttft_ms.p50.value);
  CHECK(several.ttft_ms.p99.value == one.ttft_ms.p99.value);
  CHECK(several.latency_ms.p90.value == one.latency_ms.p90.value);
  CHECK(several.tpot_ms.p99.value == one.tpot_ms.p99.value);
  CHECK(several.queued_ms_max == one.queued_ms_max);
  CHECK_FALSE(from_text("{}", 0));
  CHECK_FALSE(from_text("x", 0));
}

TEST_CASE("the line for Slurm") {
  CHECK(srun_line(4, {"--base-url", "http://head:8000", "-C", "64,256", "--header", "X-Team: it's us"}) ==
        "srun --mpi=pmix --nodes=4 --ntasks=4 --ntasks-per-node=1 bench-conc-mpi --base-url http://head:8000 -C 64,256 "
        "--header 'X-Team: it'\\''s us'");
}

}  // namespace
}  // namespace bk::bench_conc_mpi
