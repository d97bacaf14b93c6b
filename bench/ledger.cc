// What a ledger costs, as ratios of what it must cost, all measured in one run (bench/README.md).

#include <malloc.h>
#include <stdlib.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <exception>
#include <filesystem>
#include <iostream>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "aasm/ledger/keystore.h"
#include "aasm/ledger/store.h"
#include "aasm/schema/json_write.h"
#include "aasm/verifier/verifier.h"

#include "appends.h"
#include "measures.h"
#include "result.h"
#include "signed_rows.h"
#include "support/temp_dir.h"
#include "unit/verifier/long_run.h"

namespace aasm::bench {
namespace {

using schema::JsonValue;

constexpr std::size_t kRecordsOfARun = 2000;

struct Options {
  std::uint64_t records = 100000;
  int rounds = 5;
  std::string aasm = AASM_BINARY_DIR "/bin/aasm";
  std::string only;    // "appends", or one shape of a transaction
  std::string make;    // only make a ledger in this home,
  std::string pass;    // only pass over the ledger of this home, or
  std::string verify;  // only verify it, in this process and on one thread: for a profiler; or
  std::string open;    // only open it to append
  std::string folder;
};

const std::array<AppendShape, 3> kShapes = {AppendShape{"one_record", 1, 500},
                                            AppendShape{"ten", 10, 200},
                                            AppendShape{"flush_of_256", 256, 10}};

bool is_wanted(const std::string& only, const AppendShape& shape) {
  return only.empty() || only == "appends" || only == shape.name;
}

bool parse(const std::vector<std::string>& args, Options& options) {
  std::string records = "100000";
  std::string rounds = "5";
  const std::map<std::string, std::string*> known = {
      {"--records", &records},       {"--rounds", &rounds},     {"--aasm", &options.aasm},
      {"--only", &options.only},     {"--make", &options.make}, {"--pass", &options.pass},
      {"--verify", &options.verify}, {"--open", &options.open}};
  for (std::size_t i = 0; i < args.size(); i += 2) {
    const auto found = known.find(args[i]);
    if (found == known.end() || i + 1 == args.size()) {
      return false;
    }
    *found->second = args[i + 1];
  }
  options.records = std::strtoull(records.c_str(), nullptr, 10);
  options.rounds = static_cast<int>(std::strtol(rounds.c_str(), nullptr, 10));
  return options.records >= 1000 && options.rounds >= 1 &&
         std::any_of(kShapes.begin(), kShapes.end(), [&options](const AppendShape& shape) {
           return is_wanted(options.only, shape);
         });
}

std::int64_t whole(double value) {
  return std::llround(value);
}

struct Reading {
  std::vector<double> guarded_cpu, guarded_wall, guarded_all, of_guarded_cpu, of_guarded_wall,
      of_guarded_all, pass_cpu, pass_wall, open;
  long peak_kib = 0;
};

double mean_of(double before, double after) {
  return (before + after) / 2;
}

// verify between two measurements of what it is compared with. Times are for one record.
void add_verify(const Options& options, const std::vector<SignedRow>& rows, Reading& reading) {
  const auto count = static_cast<double>(rows.size());
  const auto records = static_cast<double>(options.records);
  const double cores = std::thread::hardware_concurrency();
  const Cost one = guarded_verify_on(rows, 1);
  const Cost all = guarded_verify_on(rows, 0);
  const Ended verified = run_aasm(options.aasm, "verify", options.folder + "/home");
  const Cost all_after = guarded_verify_on(rows, 0);
  const Cost one_after = guarded_verify_on(rows, 1);
  const double cpu = mean_of(one.cpu_us, one_after.cpu_us) / count;
  const double wall = mean_of(one.wall_us, one_after.wall_us) / count;
  const double wall_all = mean_of(all.wall_us, all_after.wall_us) / count;
  reading.guarded_cpu.push_back(cpu);
  reading.guarded_wall.push_back(wall);
  reading.guarded_all.push_back(wall_all);
  reading.of_guarded_cpu.push_back(cpu * records / verified.cost.cpu_us);
  reading.of_guarded_wall.push_back(wall / cores * records / verified.cost.wall_us);
  reading.of_guarded_all.push_back(wall_all * records / verified.cost.wall_us);
  reading.peak_kib = std::max(reading.peak_kib, verified.peak_kib);
}

void add_round(const Options& options, const ledger::LedgerPaths& paths,
               const std::vector<SignedRow>& rows, Reading& reading) {
  add_verify(options, rows, reading);
  std::uint64_t passed = 0;
  const Cost walked = pass(paths.ledger, passed);
  reading.pass_cpu.push_back(walked.cpu_us / static_cast<double>(passed));
  reading.pass_wall.push_back(walked.wall_us / static_cast<double>(passed));
  reading.open.push_back(opening(paths).wall_us);
}

JsonValue reading_json(const Reading& reading, const std::vector<SignedRow>& rows) {
  return JsonValue(JsonValue::Object{
      {"guarded_ns_cpu", whole(1000 * median(reading.guarded_cpu))},
      {"guarded_ns_wall", whole(1000 * median(reading.guarded_wall))},
      {"guarded_on_all_cores_ns_wall", whole(1000 * median(reading.guarded_all))},
      {"opening_us", whole(median(reading.open))},
      {"pass_ns_cpu", whole(1000 * median(reading.pass_cpu))},
      {"pass_records_a_second", whole(1e6 / median(reading.pass_wall))},
      {"payload_bytes", static_cast<std::int64_t>(rows.back().payload.size())},
      {"peak_kib", static_cast<std::int64_t>(reading.peak_kib)},
      {"verify_per_mille_of_guarded_cpu", whole(1000 * median(reading.of_guarded_cpu))},
      {"verify_per_mille_of_guarded_on_all_cores", whole(1000 * median(reading.of_guarded_all))},
      {"verify_per_mille_of_guarded_times_cores", whole(1000 * median(reading.of_guarded_wall))},
  });
}

void make_ledger(const Options& options, const std::string& home) {
  const ledger::LedgerPaths paths = ledger::LedgerPaths::in_home(home);
  run_aasm(options.aasm, "init", home);
  std::cerr << "making a ledger of " << options.records << " records\n";
  ledger::Store store = ledger::Store::open(paths, ledger::load_keys(paths.keys).value()).value();
  verifier::test::fill_ledger(store, options.records, kRecordsOfARun);
}

void verify_here(const std::string& home) {
  verifier::VerifyRequest request;
  request.target = ledger::LedgerPaths::in_home(home).ledger;
  request.threads = 1;
  std::cout << verifier::verify(request).text;
}

void pass_here(const std::string& home) {
  std::uint64_t records = 0;
  const Cost cost = pass(ledger::LedgerPaths::in_home(home).ledger, records);
  std::cout << records << " records, " << whole(1000 * cost.cpu_us / double(records))
            << " ns each\n";
}

void open_here(const std::string& home) {
  const Cost cost = opening(ledger::LedgerPaths::in_home(home));
  std::cout << "opened in " << whole(cost.wall_us) << " us, processor " << whole(cost.cpu_us)
            << " us\n";
}

JsonValue measure_reading(const Options& options) {
  const std::string home = options.folder + "/home";
  const ledger::LedgerPaths paths = ledger::LedgerPaths::in_home(home);
  make_ledger(options, home);
  const std::vector<SignedRow> rows = read_rows(paths.ledger, 1500);
  Reading reading;
  for (int round = 0; round < options.rounds; ++round) {
    add_round(options, paths, rows, reading);
  }
  return reading_json(reading, rows);
}

// Memory that one side has touched stays for the other: else the first of the two, appending, pays
// for the page faults of both.
void keep_memory() {
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
}

JsonValue measure_append(const Options& options, const AppendShape& shape) {
  std::vector<double> with_making;
  std::vector<double> cpu;
  std::vector<double> wall;
  for (int round = -1; round < options.rounds; ++round) {
    const std::string folder = options.folder + "/append";
    const AppendCost cost = measure_appends(folder, shape);
    std::filesystem::remove_all(folder);
    if (round < 0) {
      continue;  // warms up
    }
    cpu.push_back(cost.plain.cpu_us / cost.append.cpu_us);
    wall.push_back(cost.plain.wall_us / cost.append.wall_us);
    with_making.push_back(cost.plain.wall_us / (cost.append.wall_us + cost.made.wall_us));
  }
  return JsonValue(JsonValue::Object{
      {"commits", static_cast<std::int64_t>(shape.commits)},
      {"per_mille_of_plain_cpu", whole(1000 * median(cpu))},
      {"per_mille_of_plain_wall", whole(1000 * median(wall))},
      {"per_mille_of_plain_wall_made_too", whole(1000 * median(with_making))},
      {"records_a_commit", static_cast<std::int64_t>(shape.records_a_commit)},
  });
}

void run(Options options) {
  if (!options.make.empty()) {
    return make_ledger(options, options.make);
  }
  if (!options.pass.empty()) {
    return pass_here(options.pass);
  }
  if (!options.open.empty()) {
    return open_here(options.open);
  }
  if (!options.verify.empty()) {
    return verify_here(options.verify);
  }
  const test::TempDir dir;
  options.folder = dir.path().string();
  JsonValue::Object result = circumstances();
  result.emplace_back("records", static_cast<std::int64_t>(options.records));
  result.emplace_back("rounds", static_cast<std::int64_t>(options.rounds));
  if (options.only.empty()) {
    result.emplace_back("reading", measure_reading(options));
  }
  JsonValue::Object appends;
  for (const AppendShape& shape : kShapes) {
    if (is_wanted(options.only, shape)) {
      appends.emplace_back(shape.name, measure_append(options, shape));
    }
  }
  result.emplace_back("appends", JsonValue(std::move(appends)));
  std::cout << schema::json_write(JsonValue(std::move(result))) << "\n";
}

}  // namespace
}  // namespace aasm::bench

int main(int argc, char** argv) {
  aasm::bench::Options options;
  if (!aasm::bench::parse({argv + 1, argv + argc}, options)) {
    std::cerr << "usage: ledger_bench [--records N] [--rounds N] [--aasm FILE] [--only "
                 "appends|one_record|ten|flush_of_256]\n"
                 "       ledger_bench [--records N] --make HOME | --pass HOME | --verify HOME | "
                 "--open HOME\n";
    return 2;
  }
  aasm::bench::keep_memory();
  setenv("TMPDIR", "/var/tmp", 0);  // a disk, where /tmp may be memory
  try {
    aasm::bench::run(options);
  } catch (const std::exception& error) {
    std::cerr << "ledger_bench: " << error.what() << "\n";
    return 1;
  }
  return 0;
}
