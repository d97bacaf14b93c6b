#include "file_call.h"

#include <linux/fcntl.h>

#include "file_act.h"
#include "file_reply.h"
#include "file_scoped.h"

namespace aasm::helper {

namespace {

using wire::BrokerFileCall;
using wire::BrokerTurn;

constexpr long kUnnamed = -4097;  // not an errno, as kMustWait

// Whether the second section is a name to be looked up.
bool has_second_place(const wire::BrokerFile& file) {
  return file.second_size != 0 && (file.call == static_cast<uint32_t>(BrokerFileCall::kRename) ||
                                   file.call == static_cast<uint32_t>(BrokerFileCall::kLink));
}

void close_if_open(int fd) {
  if (fd >= 0) {
    close_fd(fd);
  }
}

// All but what came with the request.
void close_places(const FileTurn& turn) {
  const FilePlaces& places = turn.places;
  const uint32_t theirs = is_turn(turn, BrokerTurn::kAct) ? turn.file.given : 0;
  close_if_open((theirs & wire::kGivenFirst) != 0 ? -1 : places.first.parent);
  close_if_open((theirs & wire::kGivenTarget) != 0 ? -1 : places.target);
  close_if_open((theirs & wire::kGivenSecond) != 0 ? -1 : places.second.parent);
  close_if_open(places.opened);
}

long keep_name(const char* name, int fd, Place& place) {
  for (size_t i = 0; i + 1 < sizeof(place.last) && name[i] != '\0'; ++i) {
    place.last[i] = name[i];
  }
  place.parent = fd;
  return fd < 0 ? -kEinval : 0;
}

// The descriptors that kResolve gave.
long take_places(FileTurn& turn) {
  uint32_t next = 0;
  const auto take = [&turn, &next](uint32_t what) {
    return (turn.file.given & what) != 0 ? turn.call.fds[next++] : -1;
  };
  const int first = take(wire::kGivenFirst);
  turn.places.target = take(wire::kGivenTarget);
  const int second = take(wire::kGivenSecond);
  turn.places.first.looked_at = true;
  long result =
      turn.places.target >= 0 && first < 0 ? 0 : keep_name(turn.names[0], first, turn.places.first);
  if (result >= 0 && second >= 0) {
    result = keep_name(turn.names[1], second, turn.places.second);
  }
  if (turn.places.target >= 0) {
    look_at(turn.places.target, "", AT_EMPTY_PATH, turn.places.first.found);
  }
  return result;
}

// The first name is empty and stands for the descriptor itself.
bool is_descriptor(const FileTurn& turn) {
  constexpr uint32_t kLink = static_cast<uint32_t>(BrokerFileCall::kLink);
  const bool may =
      turn.file.call == kLink || executes(turn.file) || wire::changes_attributes(turn.file.call);
  return may && (turn.file.how & AT_EMPTY_PATH) != 0 && *turn.names[0] == '\0' &&
         (turn.file.given & wire::kGivenFirst) != 0;
}

// Whether the last part is followed to the end whatever the call says: one that is only looked at,
// and ends in a slash or dots.
bool leads_on(const wire::BrokerFile& file, const char* name) {
  const bool opens = file.call <= static_cast<uint32_t>(BrokerFileCall::kOpenHow);
  return (wire::changes_attributes(file.call) || (opens && (file.flags & O_CREAT) == 0)) &&
         ends_as_directory(name);
}

// Whether a call on a file that is there changes it.
bool changes_file(const wire::BrokerFile& file) {
  const bool opens = file.call <= static_cast<uint32_t>(BrokerFileCall::kOpenHow);
  return !opens || (file.flags & (O_ACCMODE | O_TRUNC)) != 0;
}

long find_places(FileTurn& turn) {
  const wire::BrokerFile& file = turn.file;
  const int* fds = turn.call.fds;
  const int first = (file.given & wire::kGivenFirst) != 0 ? *fds++ : -1;
  const int second = (file.given & wire::kGivenSecond) != 0 ? *fds : -1;
  const bool follow = follows_first(file) || leads_on(file, turn.names[0]);
  const uint32_t* own = changes_file(file) ? file.own : nullptr;
  Reading reading = {first, follow, creates_first(file), file.tgid, file.tid, own};
  long result = 0;
  if (is_descriptor(turn)) {
    constexpr int kDuplicate = 1030;  // F_DUPFD_CLOEXEC
    result = control_fd(first, kDuplicate);
    turn.places.target = result < 0 ? -1 : static_cast<int>(result);
  } else {
    result = find_place(reading, turn.names[0], turn.call.walk, turn.places.first);
  }
  if (result < 0 || !has_second_place(file)) {
    return result;
  }
  reading.start = second;
  reading.follow = false;
  return find_place(reading, turn.names[1], turn.call.walk, turn.places.second);
}

// A negative errno where no call could get as far as the name.
long look_at_name(Place& place) {
  if (place.parent < 0 || place.looked_at) {
    return 0;
  }
  const long looked = look_at(place.parent, place.last, AT_SYMLINK_NOFOLLOW, place.found);
  place.exists = looked >= 0;
  return looked == -kEnametoolong || looked == -kEacces ? looked : 0;
}

// Identities, and of what a call opens or follows a descriptor.
long hold_places(FileTurn& turn) {
  FilePlaces& places = turn.places;
  long result = look_at_name(places.first);
  if (result >= 0) {
    result = look_at_name(places.second);
  }
  if (result < 0) {
    return result;
  }
  const bool acts_on_it = turn.file.call <= static_cast<uint32_t>(BrokerFileCall::kTruncate) ||
                          executes(turn.file) || wire::changes_attributes(turn.file.call);
  if (places.first.parent < 0 || !places.first.exists ||
      !(acts_on_it || follows_first(turn.file))) {
    return 0;
  }
  result = open_target(places);
  if (result < 0) {
    return result;
  }
  look_at(places.target, "", AT_EMPTY_PATH, places.first.found);
  const bool became_link =
      !places.first.through_link && (places.first.found.mode & kTypeMask) == kTypeLink;
  return became_link && follows_first(turn.file) ? -kEagain : 0;
}

long find_and_tell(FileTurn& turn) {
  const Place& first = turn.places.first;
  long result = find_places(turn);
  if (result >= 0 && (is_turn(turn, BrokerTurn::kResolve) || executes(turn.file))) {
    result = hold_places(turn);
  } else if (result >= 0 && first.through_link) {
    result = open_target(turn.places);
  }
  const bool named = tell_places(turn);
  return result >= 0 && !named ? kUnnamed : result;
}

long make_in_one_piece(FileTurn& turn) {
  const wire::BrokerFile& file = turn.file;
  const int start = (file.given & wire::kGivenFirst) != 0 ? turn.call.fds[0] : -1;
  const bool whole = is_turn(turn, BrokerTurn::kWhole);
  const long result =
      whole ? act_in_one_piece(file, start, turn.names[0], turn.places)
            : find_in_one_piece(file, start, turn.names[0], turn.call.walk, turn.places);
  return tell_places(turn) || result < 0 ? result : kUnnamed;
}

long make_turn(FileTurn& turn, bool may_wait) {
  const wire::BrokerFile& file = turn.file;
  const long valid = check_how(file);
  if (valid < 0) {
    return valid;
  }
  if (file.resolve != 0 && !is_turn(turn, BrokerTurn::kAct)) {
    return may_wait ? make_in_one_piece(turn) : kMustWait;
  }
  const bool acts = is_turn(turn, BrokerTurn::kAct);
  const long result = acts ? take_places(turn) : find_and_tell(turn);
  return result < 0 || is_turn(turn, BrokerTurn::kResolve)
             ? result
             : act(file, turn.names[1], turn.places, may_wait);
}

// A name that became a link after it was looked at is looked up anew.
long make_steady_turn(FileTurn& turn, bool may_wait) {
  constexpr int kTries = 64;
  for (int i = 0;; ++i) {
    const long result = make_turn(turn, may_wait);
    const bool moved =
        follows_first(turn.file) && turn.file.resolve == 0 && turn.places.first.parent >= 0 &&
        ((is_turn(turn, BrokerTurn::kWhole) && result == -kEloop) ||
         ((is_turn(turn, BrokerTurn::kResolve) || executes(turn.file)) && result == -kEagain));
    if (!moved || i == kTries) {
      return result;
    }
    close_places(turn);
    turn.places = FilePlaces{};
  }
}

}  // namespace

bool check_file_call(const BrokerCall& call) {
  const FileSections sections = file_sections(call);
  const auto& request = call.request;
  if (request.control_size != sizeof(wire::BrokerFile)) {
    return false;
  }
  const wire::BrokerFile& file = *sections.file;
  const uint32_t given = (file.given & 1U) + ((file.given >> 1) & 1U) + ((file.given >> 2) & 1U);
  const bool names = !wire::changes_attributes(file.call);
  const uint32_t longest = kMaxName;
  return file.given <= 7 && request.num_rights == given && file.first_size > 0 &&
         file.first_size <= longest &&
         file.second_size <= (names ? longest : wire::kMaxBrokerFileData) &&
         request.data_size == file.first_size + file.second_size &&
         sections.names[file.first_size - 1] == '\0' &&
         (file.second_size == 0 || !names || sections.names[request.data_size - 1] == '\0');
}

bool make_file_call(BrokerCall& call, bool may_wait) {
  const FileSections sections = file_sections(call);
  const wire::BrokerFile& file = *sections.file;
  FileTurn turn = {call, file, {sections.names, sections.names + file.first_size}, {}, 0};
  *reply_of(turn) = {};
  turn.told = sizeof(wire::BrokerFileReply);
  raw_call(__NR_umask, call.request.mode_mask);
  const long result = make_steady_turn(turn, may_wait);
  if (result == kUnnamed) {
    answer_fault(call, -kEnametoolong);
  } else if (result == kOurs) {
    reply_of(turn)->flags |= wire::kReplyOurs;
    answer_turn(turn, -kEacces);
  } else if (result != kMustWait) {
    answer_turn(turn, result);
  }
  close_places(turn);
  if (turn.held) {
    tell_let_go(turn);
  }
  return result != kMustWait;
}

}  // namespace aasm::helper
