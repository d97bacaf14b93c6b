#pragma once

#include "broker_call.h"
#include "file_act.h"

// What a call on names is answered with.
namespace aasm::helper {

// One request of the kind and what comes of it.
struct FileTurn {
  BrokerCall& call;
  const wire::BrokerFile& file;
  const char* names[2];
  FilePlaces places;
  size_t told;        // bytes of the reply so far
  bool held = false;  // the supervisor keeps the answer until it is told to let go
};

inline bool is_turn(const FileTurn& turn, wire::BrokerTurn wanted) {
  return turn.file.turn == static_cast<uint32_t>(wanted);
}

wire::BrokerFileReply* reply_of(const FileTurn& turn);

// Writes what has been found into the reply. False: the path of some of it cannot be said, so it
// can be neither judged by that nor recorded.
bool tell_places(FileTurn& turn);

// Nobody can execute a file that is open for writing anywhere, so the caller's own descriptor has
// to be the last before it goes on: for when ours is closed.
void tell_let_go(const FileTurn& turn);

void answer_turn(FileTurn& turn, long result);

}  // namespace aasm::helper
