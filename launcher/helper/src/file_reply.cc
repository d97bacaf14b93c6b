#include "file_reply.h"

#include <linux/fcntl.h>

#include "text.h"

namespace aasm::helper {

using wire::BrokerTurn;

namespace {

// "." stands for the directory itself, and a slash behind a name for nothing more than the name.
size_t shown_size(const char* last) {
  const size_t size = length_of(last);
  if (size == 1 && (last[0] == '.' || last[0] == '/')) {
    return 0;
  }
  return size > 0 && last[size - 1] == '/' ? size - 1 : size;
}

size_t path_of_descriptor(int fd, char* to) {
  const long size =
      raw_call(__NR_readlinkat, AT_FDCWD, address(own_link(fd).bytes), address(to), kMaxName);
  return size > 0 ? static_cast<size_t>(size) : 0;
}

// getcwd(2) costs a quarter of the way to our own link of proc(5). It has no path of what was
// removed or is not below the root.
size_t path_of_directory(int fd, char* to) {
  const long moved = raw_call(__NR_fchdir, fd);
  const long size = moved < 0 ? moved : raw_call(__NR_getcwd, address(to), kMaxName);
  raw_call(__NR_chdir, address("/"));  // nobody's directory is kept
  return size > 1 && to[0] == '/' ? static_cast<size_t>(size - 1) : path_of_descriptor(fd, to);
}

// Writes the path of a name in its directory to `to`, which holds kMaxBrokerPlacePath bytes. Its
// size; 0: the kernel does not write paths of that length, or there is no way to it from the root.
size_t path_of_name(const Place& place, char* to) {
  size_t size = path_of_directory(place.parent, to);
  if (size == 0 || to[0] != '/') {
    return 0;
  }
  const size_t last = shown_size(place.last);
  if (last != 0 && to[size - 1] != '/') {
    to[size++] = '/';
  }
  for (size_t i = 0; i < last; ++i) {
    to[size++] = place.last[i];
  }
  return size;
}

// What the first name led to, where no look at the name itself can be trusted to lead there again:
// a link of proc(5) goes on to what its descriptor is by then, and of attributes the kernel judges
// nothing.
int held_of(const FileTurn& turn) {
  const FilePlaces& places = turn.places;
  const bool attributes = wire::changes_attributes(turn.file.call) && places.target >= 0;
  const bool by_name = places.first.parent >= 0 && !places.first.through_link && !attributes;
  return by_name ? -1 : places.opened >= 0 ? places.opened : places.target;
}

// Descriptors that go back with a reply.
struct Given {
  int fds[wire::kMaxBrokerGiven + 1];
  uint32_t count;

  void add(uint32_t what, int fd, wire::BrokerFileReply& reply) {
    if (fd >= 0) {
      fds[count++] = fd;
      reply.given |= what;
    }
  }
};

bool writes_what_it_opened(const FileTurn& turn) {
  return turn.places.opened >= 0 && (turn.file.flags & O_ACCMODE) != O_RDONLY;
}

}  // namespace

wire::BrokerFileReply* reply_of(const FileTurn& turn) {
  // SAFETY: the buffer is aligned to eight and larger.
  return reinterpret_cast<wire::BrokerFileReply*>(turn.call.places);
}

bool tell_places(FileTurn& turn) {
  const FilePlaces& places = turn.places;
  wire::BrokerFileReply* reply = reply_of(turn);
  *reply = {};
  turn.told = sizeof(*reply);
  const Place* found[2] = {&places.first, &places.second};
  bool named = true;
  for (uint32_t i = 0; i < 2; ++i) {
    wire::BrokerPlace& place = reply->places[i];
    char* text = turn.call.places + turn.told;
    const int held = i == 0 ? held_of(turn) : -1;
    if (held >= 0) {
      look_at(held, "", AT_EMPTY_PATH, place);
      place.path_size = static_cast<uint32_t>(path_of_descriptor(held, text));
      named = named && place.path_size > 0;
    } else if (found[i]->parent >= 0) {
      place = found[i]->found;
      place.path_size = static_cast<uint32_t>(path_of_name(*found[i], text));
      named = named && place.path_size > 0;
    }
    place.flags |= found[i]->through_link ? wire::kPlaceByProcess : 0U;
    place.flags |= found[i]->beyond_process ? wire::kPlaceBeyondProcess : 0U;
    turn.told += place.path_size;
    if (is_turn(turn, BrokerTurn::kResolve)) {
      const char* last = found[i]->last;
      place.last_size = length_of(last);
      for (; *last != '\0'; ++last) {
        turn.call.places[turn.told++] = *last;
      }
    }
  }
  return named;
}

void tell_let_go(const FileTurn& turn) {
  wire::BrokerReply header = {};
  header.flags = wire::kBrokerLetGo;
  send_reply(turn.call, header, {nullptr, 0}, nullptr, 0);
}

void answer_turn(FileTurn& turn, long result) {
  const FilePlaces& places = turn.places;
  wire::BrokerFileReply* reply = reply_of(turn);
  Given given = {};
  if (is_turn(turn, BrokerTurn::kResolve) && result >= 0) {
    given.add(wire::kGivenFirst, places.first.parent, *reply);
    given.add(wire::kGivenTarget, places.target, *reply);
    given.add(wire::kGivenSecond, places.second.parent, *reply);
  }
  if (result >= 0) {
    given.add(wire::kGivenOpened, places.opened, *reply);
  }
  wire::BrokerReply header = {};
  const bool holds = result >= 0 && writes_what_it_opened(turn);
  header.flags = holds ? wire::kBrokerHolds : 0U;
  header.result = result;
  turn.held =
      send_reply(turn.call, header, {turn.call.places, turn.told}, given.fds, given.count) && holds;
}

}  // namespace aasm::helper
