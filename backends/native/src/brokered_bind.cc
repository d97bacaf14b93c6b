#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <utility>

#include "brokered.h"
#include "file_observe.h"
#include "file_place.h"

// The names that bind(2) makes for unix sockets, where policy denies places (docs/decisions/0029).
namespace aasm::backend_native {

using schema::Error;
using schema::ErrorCode;
using schema::Result;
using wire::BrokerKind;

namespace {

// Names that keep changing what they lead to are looked up no more often than this.
constexpr int kMaxTurns = 64;
constexpr std::size_t kFamilySize = sizeof(sa_family_t);

// Of a name, the directory that it is in.
ResolvedFile directory_of(const ResolvedFile& file) {
  ResolvedFile directory;
  const std::size_t slash = file.path.rfind('/');
  directory.path = slash == 0 ? "/" : file.path.substr(0, slash);
  directory.directory = true;
  directory.id = file.parents.front();
  directory.parents.assign(file.parents.begin() + 1, file.parents.end());
  return directory;
}

bool is_above_denied(const FileSpec& spec, const ResolvedFile& directory) {
  return std::any_of(spec.denials.begin(), spec.denials.end(),
                     [&directory](const FileDenial& denial) {
                       return standing_to(denial, directory) == Standing::kAbove;
                     });
}

// What the kernel makes nothing of, whatever it leads to.
bool ends_as_directory(const std::string& last) {
  return last.empty() || last.back() == '/' || last == "." || last == "..";
}

}  // namespace

// The name is looked up first.
Result<void> BrokerCalls::order_bind_place(Brokered& call, const std::string& path) {
  call.path = path;
  call.bind.address = call.order.name;
  call.resolving = BrokerKind::kBind;
  find_bind_place(call);
  return {};
}

void BrokerCalls::find_bind_place(Brokered& call) {
  wire::BrokerFile wanted{};
  wanted.call = static_cast<std::uint32_t>(wire::BrokerFileCall::kMakeNode);
  wanted.mode = S_IFSOCK;
  wanted.own[0] = static_cast<std::uint32_t>(::getpid());
  wanted.own[1] = static_cast<std::uint32_t>(warden_pid_);
  call.order.flags &= ~(wire::kBrokerBelow | wire::kBrokerSayFile);
  order_look_up(call, wanted, call.path, call.directory.get(), call.order);
  dispatch(call);
}

// The directory is held by a descriptor now, and the name judged as one in it.
Result<void> BrokerCalls::bind_in_place(Brokered& call, FileAnswer& file) {
  Brokered::Bind& bind = call.bind;
  FileCall& described = bind.described;
  described.operations = {FileOperation::kMakeNode};
  const process::Fd none;
  described.file =
      resolved_file(file.places[0], call.path, call.path[0] == '/' ? none : call.directory);
  if (file.ours) {
    FileVerdict verdict = refuse_own_process(files_, described);
    end_bind(call, std::move(verdict), EACCES);
    return {};
  }
  if (file.result < 0) {
    return kernel_answer(static_cast<int>(-file.result));
  }
  if (!files_.denies()) {
    order_bind(call, file);
    bind.address.clear();  // whether it may be is Landlock's to say, as of other names
    dispatch(call);
    return {};
  }
  described.file.parents = AASM_TRY(directories_above(file.places[0], file.first));
  if (described.file.parents.empty()) {
    return Error(ErrorCode::kConflict, "it is no longer where it was found", EACCES);
  }
  FileVerdict verdict = judge_file(files_, described);
  if (!verdict.perform) {
    end_bind(call, std::move(verdict), EACCES);
    return {};
  }
  const FileId before = std::exchange(bind.at, described.file.parents.front());
  if (bind.turns > 0 && before == bind.at) {
    end_bind(call, judge_outcome(files_, described, EACCES), EACCES);
    return {};
  }
  order_bind(call, file);
  dispatch(call);
  return {};
}

// The kernel looks the name up anew, from the text that the socket keeps as its address. Landlock
// holds that to the directory that was judged and what is below it. Where a denied place is below
// it, the text has to be one that nobody in the tree can turn elsewhere: a name without a directory
// before it, or the path free of links, whose directories are above the denied place and therefore
// kept where they are (decision 0020). So it has where a link of proc(5) is on the way, which would
// be one of the broker's.
void BrokerCalls::order_bind(Brokered& call, FileAnswer& found) {
  constexpr std::size_t kMaxPath = 107;
  const FoundPlace& place = found.places[0];
  const bool whole = !ends_as_directory(place.last);
  const bool beyond_process =
      (place.found.flags & wire::kPlaceBeyondProcess) != 0 && !place.last.empty();
  Brokered::Bind& bind = call.bind;
  bind.directory = std::move(found.first);
  say_bound_file(call);
  BrokerOrder& order = call.order;
  const ResolvedFile& file = bind.described.file;
  bool above_denied = false;
  if (files_.denies()) {
    above_denied = whole && is_above_denied(files_, directory_of(file));
    order.rights = {bind.directory.get()};
    order.flags |= wire::kBrokerBelow;
  }
  order.directory = call.directory.get();
  order.name = bind.address;
  if (call.path.find('/') == std::string::npos) {
    order.directory = bind.directory.get();
  } else if (beyond_process || above_denied) {
    const bool fits = whole && file.path.size() <= kMaxPath;
    order.directory = bind.directory.get();
    order.name = bind.address.substr(0, kFamilySize) + (fits ? file.path : place.last) + '\0';
  }
}

// False: it is looked up again, since a name that was turned elsewhere is refused like one that may
// not be made there.
bool BrokerCalls::is_bind_over(Brokered& call, std::int64_t os_errno) {
  const FileVerdict blamed = blame_refusal(files_, call.bind.described, EACCES);
  if (os_errno != EACCES || blamed.event.cause == schema::DecisionCause::kPolicy ||
      ++call.bind.turns > kMaxTurns) {
    return true;
  }
  find_bind_place(call);
  return false;
}

void BrokerCalls::end_bind(Brokered& call, FileVerdict verdict, std::int64_t os_errno) {
  if (verdict.recorded) {
    call.events.push_back(std::move(verdict.event));
  }
  finish(call, 0, os_errno);
}

}  // namespace aasm::backend_native
