#include "ipc_canary.h"

#include <signal.h>
#include <sys/ipc.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <utility>

#include "classify.h"
#include "left_behind.h"
#include "syscall_names.h"

namespace aasm::backend_native {
namespace {

using schema::Domain;
using schema::Purpose;

constexpr std::string_view kPrefix = "socket.";

// A bound datagram socket and its address; no descriptor where that fails.
process::Fd bind_socket(const sockaddr_un& asked, socklen_t size, std::string& address) {
  process::Fd fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_un bound{};
  socklen_t length = sizeof bound;
  if (!fd || ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&asked), size) != 0 ||
      ::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&bound), &length) != 0) {
    return {};
  }
  address.assign(reinterpret_cast<const char*>(&bound), length);
  return fd;
}

class IpcCanaryPlanner {
 public:
  IpcCanaryPlanner(const CanaryContext& context, CanaryPlan& plan)
      : context_(context), names_(context.ipc), plan_(plan) {}

  void add() {
    const IpcSpec& ipc = context_.filter.ipc;
    if (ipc.sockets_stated) {
      add_connect("unix_socket", "seccomp", "connect(a socket file of the supervisor)",
                  names_.path_address, EACCES);
    }
    if (!ipc.abstract_rule.empty()) {
      add_connect("abstract_socket", "landlock", "connect(an abstract socket of the supervisor)",
                  names_.abstract_address, EPERM);
      add_floor();
    }
    if (!ipc.signals_rule.empty()) {
      add_judged("signal", "tkill(supervisor, 0)",
                 call_of(SYS_tkill, {value_arg(context_.supervisor_pid), value_arg(0)}), EPERM);
    }
    if (!ipc.memory_rule.empty()) {
      add_memory();
    }
  }

 private:
  static ScriptCall call_of(long number, std::vector<ScriptArg> args) {
    ScriptCall call;
    call.number = number;
    call.args = std::move(args);
    return call;
  }

  // Whether it is this domain that answers the call, and no rule on system calls.
  bool answers(long number) const {
    NotifiedCall call;
    call.data.nr = static_cast<int>(number);
    call.data.arch = kNativeAuditArch;
    const Classification answer = classify(call, context_.filter);
    return answer.answer == AnswerKind::kBroker || answer.answer == AnswerKind::kUnlessInside;
  }

  void add_none(const std::string& id, const std::string& reason) {
    plan_.none.push_back({Domain::kIpc, "ipc." + id + ": " + reason});
  }

  ScriptedCanary& add_canary(const std::string& id, const std::string& step,
                             const std::string& action, const ScriptCall& call, int refusal) {
    ScriptedCanary scripted;
    scripted.canary.id = "ipc." + id;
    scripted.canary.domain = Domain::kIpc;
    scripted.canary.purpose = Purpose::kPolicy;
    scripted.canary.step = step;
    scripted.canary.action = action;
    scripted.entry = plan_.script.add(call);
    scripted.refusals = {refusal};
    scripted.missing_control = MissingControl::kNoCanary;
    plan_.canaries.push_back(std::move(scripted));
    return plan_.canaries.back();
  }

  void report(ScriptedCanary& scripted) {
    scripted.must_be_reported = true;
    plan_.forbidden_entries.push_back(scripted.entry);
  }

  void add_judged(const std::string& id, const std::string& action, const ScriptCall& call,
                  int refusal) {
    if (answers(call.number)) {
      report(add_canary(id, "seccomp", action, call, refusal));
    } else {
      add_none(id, "a rule on system calls refuses what could be tried");
    }
  }

  ScriptArg make_socket() {
    return result_arg(plan_.script.add(call_of(
        SYS_socket, {value_arg(AF_UNIX), value_arg(SOCK_DGRAM | SOCK_CLOEXEC), value_arg(0)})));
  }

  void add_connect(const std::string& id, const std::string& step, const std::string& action,
                   const std::string& address, int refusal) {
    if (address.empty() || !answers(SYS_connect)) {
      add_none(id, address.empty() ? "the supervisor could not make a socket to try"
                                   : "a rule on system calls refuses connect");
      return;
    }
    const ScriptArg socket = make_socket();
    report(add_canary(id, step, action,
                      call_of(SYS_connect, {socket, plan_.script.blob(address),
                                            value_arg(static_cast<std::int64_t>(address.size()))}),
                      refusal));
    plan_.script.add(call_of(SYS_close, {socket}));
  }

  // An empty message that nobody judges before the program runs, so that Landlock has to refuse it.
  void add_floor() {
    const std::string& address = names_.abstract_address;
    if (address.empty()) {
      return;
    }
    const ScriptArg socket = make_socket();
    add_canary("abstract_floor", "landlock",
               "sendto(an abstract socket of the supervisor) as if it were not judged",
               call_of(SYS_sendto, {socket, plan_.script.text(""), value_arg(0),
                                    value_arg(MSG_DONTWAIT), plan_.script.blob(address),
                                    value_arg(static_cast<std::int64_t>(address.size()))}),
               EPERM);
    plan_.script.add(call_of(SYS_close, {socket}));
  }

  void add_memory() {
    if (names_.memory < 0) {
      add_none("shared_memory", "the supervisor could not make shared memory to try");
      return;
    }
    add_judged("shared_memory", "shmctl(shared memory of the supervisor, IPC_STAT)",
               call_of(SYS_shmctl, {value_arg(names_.memory), value_arg(IPC_STAT), scratch_arg(0)}),
               EACCES);
  }

  const CanaryContext& context_;
  const IpcCanaryNames& names_;
  CanaryPlan& plan_;
};

}  // namespace

IpcCanaryObjects::IpcCanaryObjects(const IpcSpec& spec, const std::string& directory) {
  if (spec.sockets_stated) {
    bind_path(directory);
  }
  if (!spec.abstract_rule.empty()) {
    bind_abstract();
  }
  if (!spec.memory_rule.empty()) {
    make_memory();
  }
}

void IpcCanaryObjects::bind_path(const std::string& directory) {
  remove_left_behind(directory, kPrefix, ::unlink);
  const std::string path = directory + "/" + std::string(kPrefix) + std::to_string(::getpid());
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) {
    return;
  }
  std::memcpy(static_cast<char*>(address.sun_path), path.c_str(), path.size() + 1);
  ::unlink(path.c_str());
  path_socket_ = bind_socket(address, sizeof address, names_.path_address);
  path_ = path_socket_ ? path : "";
}

void IpcCanaryObjects::bind_abstract() {
  // The kernel chooses a name where none is given (unix(7), autobind).
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  abstract_socket_ = bind_socket(address, sizeof(sa_family_t), names_.abstract_address);
}

// Removed at once, so that it is gone with the last process that has it, which is this one.
void IpcCanaryObjects::make_memory() {
  constexpr std::size_t kPage = 4096;
  const int id = ::shmget(IPC_PRIVATE, kPage, 0600);
  if (id < 0) {
    return;
  }
  void* attached = ::shmat(id, nullptr, SHM_RDONLY);
  ::shmctl(id, IPC_RMID, nullptr);
  // NOLINTNEXTLINE(performance-no-int-to-ptr): shmat(2) says failure so
  if (attached != reinterpret_cast<void*>(-1)) {
    memory_ = attached;
    names_.memory = id;
  }
}

IpcCanaryObjects::IpcCanaryObjects(IpcCanaryObjects&& other) noexcept {
  *this = std::move(other);
}

IpcCanaryObjects& IpcCanaryObjects::operator=(IpcCanaryObjects&& other) noexcept {
  path_socket_ = std::move(other.path_socket_);
  abstract_socket_ = std::move(other.abstract_socket_);
  std::swap(path_, other.path_);
  std::swap(memory_, other.memory_);
  std::swap(names_, other.names_);
  return *this;
}

IpcCanaryObjects::~IpcCanaryObjects() {
  if (!path_.empty()) {
    ::unlink(path_.c_str());
  }
  if (memory_ != nullptr) {
    ::shmdt(memory_);
  }
}

void add_ipc_canaries(const CanaryContext& context, CanaryPlan& plan) {
  IpcCanaryPlanner(context, plan).add();
}

}  // namespace aasm::backend_native
