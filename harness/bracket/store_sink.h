#pragma once
#include "leg/sink.h"
#include "store/store.h"

namespace bk::bracket {

/// Writes what a leg measures into results.db as it is measured, then hands it on: a sample that `next` has seen is on
/// disk. Warnings and progress go to `next` alone. Both must outlive the sink.
class StoreSink final : public leg::Sink {
 public:
  StoreSink(store::Database& database, store::RowId leg, leg::Sink& next)
      : database_(database), leg_(leg), next_(next) {}
  Status sample(const load::Sample& sample) override;
  Status gate(const leg::GateResult& gate) override;
  void warn(const std::string& text) override { next_.warn(text); }
  void progress(const std::string& what, int done, int total) override { next_.progress(what, done, total); }

 private:
  store::Database& database_;
  store::RowId leg_;
  leg::Sink& next_;
};

}  // namespace bk::bracket
