#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "aasm/ledger/pending_record.h"
#include "aasm/schema/digest.h"
#include "aasm/schema/result.h"
#include "aasm/schema/uuid.h"

namespace aasm::ledger {

// The runs a store opened and who may sign what for them (docs/spec/ledger-format.md section 5).
// A value: the store works on a copy during a transaction and keeps it on COMMIT.
class RunStates {
 public:
  // Checks one record against the state so far and moves the state on. kConflict after a run's
  // end, kInvalidArgument for anything else that is out of order or signed by the wrong key.
  schema::Result<void> accept(const PendingRecord& record, const schema::PublicKey& host);

  // Takes in a run that another writer opened and left, so that its run.recovered is accepted.
  void adopt(const schema::RunId& run, const schema::PublicKey& key);

  // Looks at a record of another writer: one that ends a run of ours closes it here.
  void observe(std::string_view payload);

 private:
  struct Run {
    schema::PublicKey key;
    std::string ended_by;  // kind of the record that ended it; empty while open
    bool started = false;  // has its process.started
  };
  schema::Result<void> open_run(const PendingRecord& record);

  std::map<schema::RunId, Run> runs_;
};

// run.closed and run.recovered.
bool ends_run(std::string_view kind);

}  // namespace aasm::ledger
