#pragma once

#include <string>

#include "aasm/schema/digest.h"

namespace aasm::cli {

// "the last run under this document (RUN, not verified) ended by signal 11 after `mmap` was
// refused", of the newest of the ledger's last runs whose policy has this digest, when its program
// ended by a signal or with 127 and the last that was recorded of it is a refused call. Empty:
// there is none, or no ledger that can be read.
std::string last_death(const std::string& ledger, const schema::Sha256& document);

}  // namespace aasm::cli
