#include "launch_harness.h"

#include <fcntl.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <utility>

#include "aasm/process/pidfd.h"

namespace aasm::test {

using backend_native::FrameSpec;
using backend_native::HelperClient;
using backend_native::HelperSpec;
using process::Fd;
using schema::Error;
using schema::ErrorCode;
using schema::Result;

std::vector<sock_filter> small_filter(const std::vector<int>& notified) {
  std::vector<unsigned> numbers = {wire::kRendezvousCall};
  for (const int number : notified) {
    numbers.push_back(static_cast<unsigned>(number));
  }
  std::vector<sock_filter> program = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
  for (const unsigned number : numbers) {
    program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1));
    program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF));
  }
  program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  return program;
}

Answerer::Answerer(Fd listener)
    : listener_(std::move(listener)),
      stop_(std::move(process::make_pipe()).value()),
      go_(std::move(process::make_pipe()).value()),
      thread_([this] { run(); }) {}

Answerer::~Answerer() {
  stop_.write_end.reset();
  thread_.join();
}

bool Answerer::wait_ready() const {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (!ready_ && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return ready_;
}

void Answerer::release(int os_errno) {
  static_cast<void>(::write(go_.write_end.get(), &os_errno, sizeof(os_errno)) == 0);
}

void Answerer::answer(unsigned long long id, int os_errno) const {
  seccomp_notif_resp response = {};
  response.id = id;
  response.error = -os_errno;
  ::ioctl(listener_.get(), SECCOMP_IOCTL_NOTIF_SEND, &response);
}

void Answerer::run() {
  unsigned long long waiting = 0;
  for (;;) {
    std::array<pollfd, 3> entries = {pollfd{listener_.get(), POLLIN, 0},
                                     pollfd{stop_.read_end.get(), POLLIN, 0},
                                     pollfd{go_.read_end.get(), POLLIN, 0}};
    ::poll(entries.data(), entries.size(), -1);
    if (entries[1].revents != 0 || (entries[0].revents & POLLHUP) != 0) {
      return;
    }
    if (entries[2].revents != 0 && waiting != 0) {
      int os_errno = 0;
      static_cast<void>(::read(go_.read_end.get(), &os_errno, sizeof(os_errno)) == 0);
      answer(std::exchange(waiting, 0), os_errno);
    }
    seccomp_notif call = {};
    if (entries[0].revents == 0 || ::ioctl(listener_.get(), SECCOMP_IOCTL_NOTIF_RECV, &call) != 0) {
      continue;
    }
    if (call.data.nr != static_cast<int>(wire::kRendezvousCall)) {
      answer(call.id, EPERM);
    } else if (call.data.args[0] == static_cast<unsigned>(wire::RendezvousPhase::kCanaries)) {
      saw_canaries_ = true;
      answer(call.id, 0);
    } else {
      waiting = call.id;
      ready_ = true;
    }
  }
}

ProbeProgram open_probe_program() {
  return {std::move(process::open_file(AASM_LAUNCH_PROBE, O_PATH)).value()};
}

FrameSpec ProbeProgram::spec(const std::vector<std::string>& args) const {
  FrameSpec spec;
  spec.argv = {"probe"};
  spec.argv.insert(spec.argv.end(), args.begin(), args.end());
  spec.exec_fd = fd.get();
  spec.descriptors = {1, 2};
  spec.filter = small_filter();
  spec.seccomp_flags = SECCOMP_FILTER_FLAG_NEW_LISTENER;
  return spec;
}

Result<Launch> start_launch(const FrameSpec& spec, const std::string& helper_path,
                            const std::vector<int>& passed_unlisted) {
  const Fd helper = AASM_TRY(process::open_file(helper_path, O_PATH));
  HelperSpec request;
  request.helper = helper.borrow();
  request.frame = spec;
  request.passed_unlisted = passed_unlisted;
  Launch launch;
  launch.client = std::make_unique<HelperClient>(AASM_TRY(HelperClient::spawn(request, kPatience)));
  auto listener = AASM_TRY(launch.client->wait_filter_installed(kPatience));
  if (listener) {
    launch.answerer = std::make_unique<Answerer>(std::move(*listener));
  }
  return launch;
}

Result<Finished> run_launch(const FrameSpec& spec, const std::string& helper_path,
                            const std::vector<int>& passed_unlisted) {
  const Launch launch = AASM_TRY(start_launch(spec, helper_path, passed_unlisted));
  if (launch.answerer && launch.answerer->wait_ready()) {
    launch.answerer->release();
  }
  const auto exit = AASM_TRY(launch.client->wait_exit(kPatience));
  if (!exit) {
    return Error(ErrorCode::kUnavailable, "the program did not end");
  }
  return Finished{*exit, launch.client->results()};
}

Result<ProbeDump> run_dump(FrameSpec spec, const std::string& helper_path,
                           const std::vector<int>& passed_unlisted) {
  process::Pipe pipe = AASM_TRY(process::make_pipe());
  const int number = pipe.write_end.get();
  spec.argv.insert(spec.argv.begin() + 1, {"dump", std::to_string(number)});
  spec.descriptors.push_back(number);
  const Launch launch = AASM_TRY(start_launch(spec, helper_path, passed_unlisted));
  pipe.write_end.reset();
  if (!launch.answerer || !launch.answerer->wait_ready()) {
    return Error(ErrorCode::kUnavailable, "the child did not ask for its program");
  }
  launch.answerer->release();
  if (!AASM_TRY(process::wait_readable(pipe.read_end.borrow(), kPatience))) {
    return Error(ErrorCode::kUnavailable, "the program wrote nothing");
  }
  const std::string text = AASM_TRY(process::read_all(pipe.read_end.borrow(), 4U << 20));
  return parse_probe_dump(text);
}

}  // namespace aasm::test
