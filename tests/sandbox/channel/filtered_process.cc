#include "filtered_process.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include <gtest/gtest.h>

#include "aasm/process/pidfd.h"
#include "aasm/wire/helper_wire.h"

#include "bpf.h"

namespace aasm::backend_native {
namespace {

constexpr std::size_t kListenerWord = 0;
constexpr std::size_t kFailureWord = 1;
constexpr std::chrono::seconds kPatience{20};

// The kernel gives the listener's number back; -1 with errno otherwise.
int install(const FilterSpec& spec) {
  std::vector<sock_filter> program = build_filter(spec);
  sock_fprog filter{};
  filter.len = static_cast<unsigned short>(program.size());
  filter.filter = program.data();
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
    return -1;
  }
  return static_cast<int>(::syscall(
      SYS_seccomp, SECCOMP_SET_MODE_FILTER,
      SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, &filter));
}

long rendezvous(wire::RendezvousPhase phase) {
  return raw_syscall(wire::kRendezvousCall, static_cast<long>(phase));
}

// Before a call that does not return, the address sanitizer makes system calls of its own, which
// the policy of a test need not list.
#define AASM_WITHOUT_SANITIZER_CALLS __attribute__((no_sanitize("address")))

[[noreturn]] AASM_WITHOUT_SANITIZER_CALLS void leave(int status) {
  for (;;) {
    raw_syscall(SYS_exit_group, status);
  }
}

}  // namespace

long raw_syscall(long number, long a, long b, long c, long d, long e, long f) {
  const long result = ::syscall(number, a, b, c, d, e, f);
  return result == -1 ? -errno : result;
}

SharedWords::SharedWords(std::size_t count) : bytes_(count * sizeof(std::int64_t)) {
  void* memory = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  EXPECT_NE(memory, MAP_FAILED);
  words_ = static_cast<std::int64_t*>(memory);
}

SharedWords::~SharedWords() {
  ::munmap(words_, bytes_);
}

FilteredProcess::FilteredProcess(FilterSpec spec, std::function<int()> workload,
                                 FilteredOptions options)
    : shared_(8) {
  shared_[kListenerWord] = -1;
  process::Pipe report = process::make_pipe().value();
  pid_ = ::fork();
  EXPECT_GE(pid_, 0);
  if (pid_ == 0) {
    be_child(spec, workload, options, report.write_end.get());
  }
  report.write_end.reset();
  for (int tries = 0; tries < 5000; ++tries) {
    if (__atomic_load_n(&shared_[kListenerWord], __ATOMIC_ACQUIRE) >= 0) {
      break;
    }
    ::usleep(1000);
  }
  EXPECT_EQ(shared_[kFailureWord], 0) << "installing the filter";
  const process::Fd pidfd = process::pidfd_open(pid_).value();
  ChannelSetup setup;
  setup.listener =
      process::pidfd_getfd(pidfd.borrow(), static_cast<int>(shared_[kListenerWord])).value();
  setup.report_pipe = std::move(report.read_end);
  setup.spec = std::move(spec);
  setup.script = options.script;
  setup.child = pid_;
  setup.warden = ::getpid();
  setup.limits = options.limits;
  channel_ = Channel::open(std::move(setup)).value();
}

FilteredProcess::~FilteredProcess() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    wait();
  }
}

AASM_WITHOUT_SANITIZER_CALLS void FilteredProcess::be_child(const FilterSpec& spec,
                                                            const std::function<int()>& workload,
                                                            const FilteredOptions& options,
                                                            int report_fd) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int listener = install(spec);
  if (listener < 0) {
    shared_[kFailureWord] = errno;
  }
  __atomic_store_n(&shared_[kListenerWord], listener, __ATOMIC_RELEASE);
  rendezvous(wire::RendezvousPhase::kCanaries);
  raw_syscall(SYS_close, listener);
  if (options.canaries) {
    options.canaries();
  }
  if (rendezvous(wire::RendezvousPhase::kProgram) != 0) {
    leave(wire::kHelperExitStatus);
  }
  if (options.before_exec) {
    options.before_exec();
  }
  raw_syscall(SYS_close, report_fd);
  leave(workload());
}

void FilteredProcess::go() {
  const auto reports = channel_->await_canaries(kPatience);
  ASSERT_TRUE(reports) << reports.error().message();
  const auto released = channel_->release_go([this](schema::RecordBody body) {
    const std::lock_guard lock(mutex_);
    batches_.push_back(std::get<schema::DecisionBatch>(std::move(body)));
  });
  ASSERT_TRUE(released) << released.error().message();
}

int FilteredProcess::wait() {
  int status = 0;
  EXPECT_EQ(::waitpid(pid_, &status, 0), pid_);
  pid_ = 0;
  return status;
}

schema::ChannelTotals FilteredProcess::finish() {
  totals_ = channel_->finish(kPatience);
  std::int64_t next = 1;
  std::int64_t actions = 0;
  for (const schema::EventBatch& batch : batches_) {
    EXPECT_TRUE(batch.check());
    EXPECT_EQ(batch.first, next);
    next += static_cast<std::int64_t>(batch.events.size());
    for (const schema::Event& event : batch.events) {
      EXPECT_TRUE(event.check());
      EXPECT_TRUE(event.object.check());
      actions += event.count;
    }
  }
  EXPECT_EQ(totals_.events, next - 1);
  EXPECT_EQ(totals_.actions, actions);
  EXPECT_TRUE(totals_.check());
  return totals_;
}

int FilteredProcess::run() {
  go();
  const int status = wait();
  finish();
  EXPECT_TRUE(totals_.closed);
  EXPECT_EQ(totals_.dropped, 0);
  EXPECT_FALSE(channel_->failure().has_value());
  return status;
}

std::vector<schema::Event> FilteredProcess::events() const {
  const std::lock_guard lock(mutex_);
  std::vector<schema::Event> all;
  for (const schema::EventBatch& batch : batches_) {
    all.insert(all.end(), batch.events.begin(), batch.events.end());
  }
  return all;
}

std::vector<schema::Event> FilteredProcess::events_on(std::string_view name) const {
  std::vector<schema::Event> found;
  for (schema::Event& event : events()) {
    if (event.object.name == name) {
      found.push_back(std::move(event));
    }
  }
  return found;
}

std::int64_t FilteredProcess::actions_on(std::string_view name) const {
  std::int64_t count = 0;
  for (const schema::Event& event : events_on(name)) {
    count += event.count;
  }
  return count;
}

}  // namespace aasm::backend_native
