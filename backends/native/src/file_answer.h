#pragma once

#include <array>
#include <string>
#include <vector>

#include "aasm/schema/result.h"
#include "aasm/wire/broker_file.h"

#include "broker_client.h"
#include "file_judge.h"

// What the broker answers to a call on names (aasm/wire/broker_file.h).
namespace aasm::backend_native {

struct FoundPlace {
  wire::BrokerPlace found{};
  std::string path;  // empty: it could not be found
  std::string last;
};

struct FileAnswer {
  std::int64_t result = 0;
  bool ours = false;  // refused by the broker: it was about a process of aasm's own
  std::array<FoundPlace, 2> places;
  // Those that wire::kGiven* says, empty where it does not.
  process::Fd first;
  process::Fd target;
  process::Fd second;
  process::Fd opened;
};

// kResourceExhausted (EMFILE): descriptors that should have come with it did not, for want of room
// in the table of this process. kIntegrity: malformed.
schema::Result<FileAnswer> read_file_answer(BrokerAnswer answer);

// What a name that begins at `start` was found to be, without the directories above it.
ResolvedFile resolved_file(const FoundPlace& place, std::string name, const process::Fd& start);

// The directories above a place, nearest first, by identity; as far up as this process may look.
// kResourceExhausted: there is no room for the descriptors that it takes, and what is above would
// be missing from what is judged.
schema::Result<std::vector<FileId>> directories_above(const FoundPlace& place,
                                                      const process::Fd& directory);

}  // namespace aasm::backend_native
