#include "measures.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <utility>

#include "aasm/crypto/ed25519.h"
#include "aasm/ledger/keystore.h"
#include "aasm/ledger/store.h"
#include "aasm/ledger_format/merkle.h"
#include "aasm/ledger_format/pae.h"
#include "aasm/sqlite/connection.h"

#include "record_rows.h"
#include "record_view.h"
#include "workers.h"

namespace aasm::bench {
namespace {

double now_us(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) / 1e3;
}

double us(const timeval& time) {
  return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_usec);
}

[[noreturn]] void become(const std::string& aasm, const char* command, const std::string& home) {
  const int out = open((home + ".out").c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  dup2(out, STDOUT_FILENO);
  setenv("AASM_HOME", home.c_str(), 1);
  execl(aasm.c_str(), aasm.c_str(), command, nullptr);
  _exit(127);
}

struct Tree {
  ledger_format::CompactRange range;
  std::optional<schema::LeafHash> last;

  void add(const verifier::RecordView& record) {
    if (record.leaf != record.raw.leaf || (last && record.raw.prev != *last) ||
        record.raw.seq != static_cast<std::int64_t>(range.size())) {
      throw std::runtime_error("the made ledger is not in order");
    }
    range.append(record.leaf);
    last = record.leaf;
  }
};

}  // namespace

Cost cost_of(const std::function<void()>& work) {
  const double wall = now_us(CLOCK_MONOTONIC);
  const double cpu = now_us(CLOCK_PROCESS_CPUTIME_ID);
  work();
  return {now_us(CLOCK_MONOTONIC) - wall, now_us(CLOCK_PROCESS_CPUTIME_ID) - cpu};
}

Ended run_aasm(const std::string& aasm, const char* command, const std::string& home) {
  const double wall = now_us(CLOCK_MONOTONIC);
  const pid_t child = fork();
  if (child == 0) {
    become(aasm, command, home);
  }
  int status = 0;
  rusage used{};
  if (wait4(child, &status, 0, &used) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    throw std::runtime_error("aasm " + std::string(command) + " did not end with 0: see " + home +
                             ".out");
  }
  return {{now_us(CLOCK_MONOTONIC) - wall, us(used.ru_utime) + us(used.ru_stime)}, used.ru_maxrss};
}

Cost guarded_verify_on(const std::vector<SignedRow>& rows, int threads) {
  verifier::Workers workers(threads);
  std::atomic<std::size_t> good{0};
  const Cost cost = cost_of([&] {
    workers.for_each(rows.size(), [&](std::size_t i) {
      good += crypto::verify(rows[i].signer, rows[i].pae, rows[i].signature) ? 1 : 0;
    });
  });
  if (good != rows.size()) {
    throw std::runtime_error("a signature of the made ledger is not good");
  }
  return cost;
}

Cost pass(const std::string& ledger, std::uint64_t& records) {
  sqlite::Connection connection =
      sqlite::Connection::open(ledger, sqlite::OpenMode::kReadWrite).value();
  connection.keep_wal_on_close().value();
  Tree tree;
  const Cost cost = cost_of([&] {
    verifier::RecordRows rows = verifier::RecordRows::open(connection).value();
    verifier::RecordView record;
    while (rows.next(record.raw).value()) {
      verifier::hash_record(record);
      tree.add(record);
    }
  });
  records = tree.range.size();
  return cost;
}

Cost opening(const ledger::LedgerPaths& paths) {
  ledger::KeySet keys = ledger::load_keys(paths.keys).value();
  std::optional<ledger::Store> store;
  return cost_of([&] { store.emplace(ledger::Store::open(paths, std::move(keys)).value()); });
}

}  // namespace aasm::bench
