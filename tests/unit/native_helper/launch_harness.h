#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "aasm/process/fd.h"
#include "aasm/schema/result.h"

#include "helper_client.h"
#include "probe_dump.h"

// What launch tests share: a small filter, the supervisor that answers it, a whole launch.
namespace aasm::test {

inline constexpr std::chrono::milliseconds kPatience{10'000};

// Allows everything but the rendezvous call and `notified`, which go to the listener.
std::vector<sock_filter> small_filter(const std::vector<int>& notified = {});

// Answers a listener from a thread of its own: the rendezvous of the canaries with 0, that of the
// program with what release() says, every other call with EPERM.
class Answerer {
 public:
  explicit Answerer(process::Fd listener);
  ~Answerer();
  Answerer(const Answerer&) = delete;
  Answerer& operator=(const Answerer&) = delete;

  // Waits until the child asks for the program; false when it has not within the patience.
  bool wait_ready() const;

  // Answers that with `os_errno`; 0 starts the program.
  void release(int os_errno = 0);

  // Whether the canaries' rendezvous came first.
  bool saw_canaries() const { return saw_canaries_; }

 private:
  void run();
  void answer(unsigned long long id, int os_errno) const;

  process::Fd listener_;
  process::Pipe stop_;
  process::Pipe go_;
  std::atomic<bool> saw_canaries_{false};
  std::atomic<bool> ready_{false};
  std::thread thread_;
};

// One launch in progress.
struct Launch {
  std::unique_ptr<backend_native::HelperClient> client;
  std::unique_ptr<Answerer> answerer;  // empty when there is no listener
};

// A launch of the probe program with `args` behind its name, through the small filter. Nothing else
// is restricted. The descriptors 1 and 2 are kept.
struct ProbeProgram {
  process::Fd fd;
  backend_native::FrameSpec spec(const std::vector<std::string>& args) const;
};
ProbeProgram open_probe_program();

// Starts `spec` with the helper at `helper_path` and takes its listener.
schema::Result<Launch> start_launch(const backend_native::FrameSpec& spec,
                                    const std::string& helper_path = AASM_HELPER,
                                    const std::vector<int>& passed_unlisted = {});

// The whole way of a launch that is let go: its end, and what the program wrote to `dump_fd` of the
// spec (-1: nothing is read).
struct Finished {
  backend_native::ChildExit exit;
  backend_native::HelperResults results;
};
schema::Result<Finished> run_launch(const backend_native::FrameSpec& spec,
                                    const std::string& helper_path = AASM_HELPER,
                                    const std::vector<int>& passed_unlisted = {});

// Runs the probe's dump in the boundary of `spec`, whose argv is completed, and reads it.
schema::Result<ProbeDump> run_dump(backend_native::FrameSpec spec,
                                   const std::string& helper_path = AASM_HELPER,
                                   const std::vector<int>& passed_unlisted = {});

}  // namespace aasm::test
