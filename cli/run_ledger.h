#pragma once

#include <memory>
#include <string>

#include "aasm/ledger/ledger_sink.h"
#include "aasm/ledger/paths.h"

#include "home.h"
#include "options.h"

namespace aasm::cli {

// The files of the ledger that the command line names, or of the home.
ledger::LedgerPaths ledger_paths(const Home& home, const CommonOptions& common);

// The ledger as one run uses it: the sink, and the receipt at the end.
class RunLedger {
 public:
  // Begins to open it on the thread that will write to it. Nothing else is to be asked of it before
  // wait_open() has returned success.
  static schema::Result<RunLedger> begin(const Home& home, const CommonOptions& common);

  // Until the ledger can be read beside the opening, or the opening has failed.
  void wait_readable() { sink_->wait_readable(); }
  // kNotFound with the hint to run `aasm init` when there is no ledger; any other failure means
  // that evidence could not be written (keys or file refused, rolled back, busy).
  schema::Result<void> wait_open() { return sink_->wait_open(); }

  schema::EvidenceSink& sink() { return *sink_; }

  // For a run without a receipt: the ledger is closed while what else it had is taken down.
  void close_when_done() const { sink_->close_when_done(); }
  // Waits until the closed run has no work of the ledger's left behind it.
  void settle() const { static_cast<void>(sink_->head_lag()); }

  // The receipt of a run that was closed through this sink.
  schema::Result<std::string> receipt(const schema::RunId& run) const;

 private:
  ledger::LedgerPaths paths_;
  std::unique_ptr<ledger::LedgerSink> sink_;
};

}  // namespace aasm::cli
