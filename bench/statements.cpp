/*
 * statements.cpp - runs the same statements on several servers in turns and measures what they cost each server.
 *
 *   statements compare WORKLOAD PROTOCOL CLIENTS ROUND COUNT NAME=CONNINFO...
 *   statements run WORKLOAD PROTOCOL COUNT NAME=CONNINFO
 *   statements memory WORKLOAD COUNT NAME=CONNINFO
 *
 * `compare` is one round, which bears a number: every server gets fresh connections and COUNT statements that only warm
 * up. Then the servers take turns, in an order that changes, in slices of a twentieth of COUNT statements until each has
 * run COUNT more, so that a machine that is slower for a millisecond or a second is so for all. Per server one line is
 * printed, fields parted by tabs:
 *   name, round, CPU of the backends, CPU of the library's background processes, time that passed; nanoseconds a
 *   statement.
 * CPU time is read from the clocks of the server's processes, which go on at nanoseconds: on a busy machine it tells
 * far smaller differences than throughput does. `run` only runs, for a server that is itself being measured, and prints
 * the process id of the backend. `memory` prints the bytes of memory of its own that the backend has before and after
 * COUNT statements.
 *
 * WORKLOAD is one of kWorkloads; PROTOCOL `simple` or `prepared`. Statements follow from their number alone, so all
 * servers get the same ones.
 */
#include <poll.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <libpq-fe.h>

namespace {

constexpr int kAccounts = 100000;
constexpr int kPatients = 2000;
constexpr int kWideColumns = 12;
constexpr int kPool = 401;          // a prime: see Pooled
constexpr int kBaselinePool = 101;  // a prime; all pairs are 10,100
constexpr int kBaselineFirst = 1000;
constexpr int kSlices = 20;

// A statement with its parameters; `form` tells which prepared statement it is.
struct Statement {
  int form = 0;
  std::string text;  // with $1, $2, ...
  std::vector<long> parameters;
};

long Random(std::uint64_t number, std::uint64_t salt, long limit) {
  std::uint64_t word = (number + 1) * 0x9e3779b97f4a7c15U + salt * 0xd1342543de82ef95U;
  word = (word ^ word >> 30U) * 0xbf58476d1ce4e5b9U;
  word = (word ^ word >> 27U) * 0x94d049bb133111ebU;
  return static_cast<long>((word ^ word >> 31U) % static_cast<std::uint64_t>(limit)) + 1;
}

Statement One(std::uint64_t) { return {0, "SELECT 1", {}}; }

// What pgbench -S sends.
Statement Point(std::uint64_t number) {
  return {0, "SELECT abalance FROM pgbench_accounts WHERE aid = $1", {Random(number, 1, kAccounts)}};
}

// The same, always of one row.
Statement Row(std::uint64_t) { return Point(1); }

Statement Join(std::uint64_t number) {
  return {0,
          "SELECT p.name, v.at, d.title, w.name, g.code, m.dose FROM clinic.patients p "
          "JOIN clinic.visits v ON v.patient_id = p.id JOIN clinic.doctors d ON d.id = v.doctor_id "
          "JOIN clinic.wards w ON w.id = v.ward_id JOIN clinic.diagnoses g ON g.visit_id = v.id "
          "JOIN clinic.medications m ON m.visit_id = v.id "
          "WHERE p.id = $1 AND v.cost > $2 AND m.dose < $3 AND w.floor <> $4 AND g.code LIKE 'c%' ORDER BY v.at LIMIT 5",
          {Random(number, 1, kPatients), Random(number, 2, 50), Random(number, 3, 1000) + 1000, Random(number, 4, 9)}};
}

// The columns of clinic.wide that the bits of `form` name, and a filter: each form is an abstraction of its own.
Statement Wide(std::uint64_t form) {
  const std::uint64_t sets = std::uint64_t{1} << kWideColumns;
  std::string columns;
  for (int i = 0; i < kWideColumns; ++i)
    if ((form >> i & 1U) != 0) columns += (columns.empty() ? "c" : ", c") + std::to_string(i + 1);
  if (columns.empty()) columns = "id";
  const std::uint64_t filter = form / sets % kWideColumns + 1;
  return {static_cast<int>(form),
          "SELECT " + columns + " FROM clinic.wide WHERE c" + std::to_string(filter) + " = -1",
          {}};
}

// A form that the session has not had before.
Statement First(std::uint64_t number) { return Wide(number + 1); }

// Goes through `size` forms so that each ordered pair of them stands side by side once before any comes again: in step
// widths of 1, 2, ... around a circle of prime length.
std::uint64_t Pooled(std::uint64_t number, std::uint64_t size) {
  const std::uint64_t lap = number / size % (size - 1);
  return number % size * (lap + 1) % size;
}

Statement Pair(std::uint64_t number) { return Wide(Pooled(number, kPool) + 1); }
Statement Same(std::uint64_t number) { return Wide(number % kPool + 1); }
Statement Baseline(std::uint64_t number) { return Wide(kBaselineFirst + Pooled(number, kBaselinePool)); }

struct Workload {
  const char* name;
  Statement (*statement)(std::uint64_t);
};
constexpr Workload kWorkloads[] = {
    {"one", One},            // SELECT 1
    {"point", Point},        // pgbench -S
    {"row", Row},            // the same, of one and the same row
    {"join", Join},          // six tables, five filters
    {"first", First},        // a new statement each time
    {"pair", Pair},          // known statements, each n-gram of length 2 is new
    {"same", Same},          // the same statements, in one order that repeats
    {"baseline", Baseline},  // what a role's baseline is made of
};

std::int64_t Nanoseconds(clockid_t clock) {
  timespec at{};
  if (clock_gettime(clock, &at) != 0) throw std::runtime_error("cannot read the clock of a process");
  return std::int64_t{at.tv_sec} * 1000000000 + at.tv_nsec;
}

std::int64_t CpuOf(int pid) {
  clockid_t clock{};
  if (clock_getcpuclockid(pid, &clock) != 0) return 0;
  return Nanoseconds(clock);
}

class Connection {
 public:
  Connection(const std::string& conninfo, const Workload& workload, bool prepared)
      : connection_(PQconnectdb(conninfo.c_str())), workload_(&workload), prepared_(prepared) {
    if (PQstatus(connection_) != CONNECTION_OK) throw std::runtime_error(PQerrorMessage(connection_));
  }
  Connection(Connection&& other) noexcept
      : connection_(std::exchange(other.connection_, nullptr)),
        workload_(other.workload_),
        prepared_(other.prepared_),
        forms_(std::move(other.forms_)) {}
  Connection& operator=(Connection&& other) noexcept {
    std::swap(connection_, other.connection_);
    workload_ = other.workload_;
    prepared_ = other.prepared_;
    forms_ = std::move(other.forms_);
    return *this;
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() {
    if (connection_ != nullptr) PQfinish(connection_);
  }

  int pid() const { return PQbackendPID(connection_); }
  int socket() const { return PQsocket(connection_); }

  void Send(std::uint64_t number) {
    const Statement statement = workload_->statement(number);
    if (prepared_)
      SendPrepared(statement);
    else
      Check(PQsendQuery(connection_, WithLiterals(statement).c_str()) == 1);
  }

  // Takes what has arrived; true when the answer is complete.
  bool Receive() {
    Check(PQconsumeInput(connection_) == 1);
    while (PQisBusy(connection_) == 0) {
      PGresult* result = PQgetResult(connection_);
      if (result == nullptr) return true;
      const ExecStatusType status = PQresultStatus(result);
      PQclear(result);
      Check(status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK);
    }
    return false;
  }

  void Run(std::uint64_t number) {
    Send(number);
    while (!Receive()) Wait();
  }

  // The first field of the first row.
  std::string Ask(const char* sql) {
    PGresult* result = PQexec(connection_, sql);
    std::string answer = PQntuples(result) > 0 ? PQgetvalue(result, 0, 0) : "";
    PQclear(result);
    return answer;
  }

 private:
  void Check(bool well) {
    if (!well) throw std::runtime_error(PQerrorMessage(connection_));
  }
  void Wait() {
    pollfd waited = {socket(), POLLIN, 0};
    (void)poll(&waited, 1, -1);
  }

  void SendPrepared(const Statement& statement) {
    const auto form = static_cast<std::size_t>(statement.form);
    if (forms_.size() <= form) forms_.resize(form + 1);
    const std::string name = "s" + std::to_string(form);
    if (!forms_[form]) {
      PGresult* result = PQprepare(connection_, name.c_str(), statement.text.c_str(), 0, nullptr);
      const bool well = PQresultStatus(result) == PGRES_COMMAND_OK;
      PQclear(result);
      Check(well);
      forms_[form] = true;
    }
    std::vector<std::string> texts;
    std::vector<const char*> values;
    for (const long parameter : statement.parameters) texts.push_back(std::to_string(parameter));
    for (const std::string& text : texts) values.push_back(text.c_str());
    Check(PQsendQueryPrepared(connection_, name.c_str(), static_cast<int>(values.size()), values.data(), nullptr,
                              nullptr, 0) == 1);
  }

  static std::string WithLiterals(const Statement& statement) {
    std::string text;
    for (std::size_t i = 0; i < statement.text.size(); ++i) {
      if (statement.text[i] == '$')
        text += std::to_string(statement.parameters[static_cast<std::size_t>(statement.text[++i] - '1')]);
      else
        text += statement.text[i];
    }
    return text;
  }

  PGconn* connection_;
  const Workload* workload_;
  bool prepared_;
  std::vector<bool> forms_;
};

struct Server {
  std::string name;
  std::string conninfo;
};

// COUNT statements on each connection, of which each has one under way.
void RunAll(std::vector<Connection>& connections, std::uint64_t first, std::uint64_t count) {
  std::vector<std::uint64_t> next(connections.size(), first);
  std::vector<pollfd> waited;
  for (Connection& connection : connections) waited.push_back({connection.socket(), POLLIN, 0});
  for (std::size_t i = 0; i < connections.size(); ++i) connections[i].Send(next[i]++);
  std::size_t running = connections.size();
  while (running > 0) {
    if (poll(waited.data(), waited.size(), -1) < 0) throw std::runtime_error("poll failed");
    for (std::size_t i = 0; i < connections.size(); ++i) {
      if (waited[i].revents == 0 || !connections[i].Receive()) continue;
      if (next[i] < first + count) {
        connections[i].Send(next[i]++);
      } else {
        waited[i].fd = -1;
        --running;
      }
    }
  }
}

// The background processes of this library on a server.
std::vector<int> BackgroundProcesses(Connection& control) {
  const std::string pids = control.Ask(
      "SELECT pg_catalog.string_agg(pid::text, ' ') FROM pg_catalog.pg_stat_activity WHERE backend_type LIKE "
      "'privacy_score%'");
  std::vector<int> result;
  for (const char* at = pids.c_str(); *at != '\0';) {
    char* end = nullptr;
    result.push_back(static_cast<int>(std::strtol(at, &end, 10)));
    at = *end == ' ' ? end + 1 : end;
  }
  return result;
}

std::int64_t CpuOfAll(const std::vector<int>& pids) {
  std::int64_t sum = 0;
  for (const int pid : pids) sum += CpuOf(pid);
  return sum;
}

// Ties a process to one processor; 0 is this one.
void Pin(int pid, int processor) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(processor), &set);
  if (sched_setaffinity(pid, sizeof set, &set) != 0) throw std::runtime_error("cannot tie a process to a processor");
}

// The client and backends in turns on all processors. What waking a process costs depends on where it runs, many times
// as much as any library costs; so one client and its backend share a processor.
void PinAll(const std::vector<int>& backends) {
  const auto processors = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  const int last = processors - 1;
  Pin(0, last);
  for (std::size_t i = 0; i < backends.size(); ++i)
    Pin(backends[i], (last + static_cast<int>(i)) % processors);
}

// The connections to one server in one round, and what its statements have cost so far.
struct Turn {
  Turn(const Server& of, const Workload& workload, bool prepared, int clients) : server(&of) {
    for (int i = 0; i < clients; ++i) {
      connections.emplace_back(of.conninfo, workload, prepared);
      backends.push_back(connections.back().pid());
    }
    Connection control(of.conninfo + " user=postgres", workload, false);
    background = BackgroundProcesses(control);
    PinAll(backends);
  }

  // Runs `count` statements on each connection and adds up what they cost.
  void Measure(std::uint64_t count) {
    const std::int64_t background_before = CpuOfAll(background);
    const std::int64_t backends_before = CpuOfAll(backends);
    const std::int64_t before = Nanoseconds(CLOCK_MONOTONIC);
    RunAll(connections, next, count);
    passed += Nanoseconds(CLOCK_MONOTONIC) - before;
    backends_cpu += CpuOfAll(backends) - backends_before;
    background_cpu += CpuOfAll(background) - background_before;
    next += count;
  }

  const Server* server;
  std::vector<Connection> connections;
  std::vector<int> backends;
  std::vector<int> background;
  std::uint64_t next = 0;
  std::int64_t backends_cpu = 0;
  std::int64_t background_cpu = 0;
  std::int64_t passed = 0;
};

const Workload& FindWorkload(const char* name) {
  for (const Workload& workload : kWorkloads)
    if (std::strcmp(workload.name, name) == 0) return workload;
  throw std::runtime_error(std::string("unknown workload ") + name);
}

std::vector<Server> Servers(int count, char** arguments) {
  std::vector<Server> servers;
  for (int i = 0; i < count; ++i) {
    const std::string argument = arguments[i];
    const std::size_t at = argument.find('=');
    if (at == std::string::npos) throw std::runtime_error("a server is given as NAME=CONNINFO, not " + argument);
    servers.push_back({argument.substr(0, at), argument.substr(at + 1)});
  }
  return servers;
}

bool IsPrepared(const char* protocol) {
  if (std::strcmp(protocol, "prepared") == 0) return true;
  if (std::strcmp(protocol, "simple") == 0) return false;
  throw std::runtime_error(std::string("unknown protocol ") + protocol);
}

void Compare(const Workload& workload, bool prepared, int clients, int round, std::uint64_t count,
             std::vector<Server> servers) {
  std::mt19937 random(static_cast<unsigned>(round));
  std::shuffle(servers.begin(), servers.end(), random);
  std::vector<Turn> turns;
  for (const Server& server : servers) {
    turns.emplace_back(server, workload, prepared, clients);
    RunAll(turns.back().connections, 0, count);
    turns.back().next = count;
  }
  for (int slice = 0; slice < kSlices; ++slice) {
    std::shuffle(turns.begin(), turns.end(), random);
    for (Turn& turn : turns) turn.Measure(count / kSlices);
  }
  const double statements = static_cast<double>(count / kSlices * kSlices) * clients;
  for (const Turn& turn : turns)
    std::printf("%s\t%d\t%.1f\t%.1f\t%.1f\n", turn.server->name.c_str(), round,
                static_cast<double>(turn.backends_cpu) / statements,
                static_cast<double>(turn.background_cpu) / statements, static_cast<double>(turn.passed) / statements);
}

// Memory of a process that is neither shared nor mapped from files, in bytes.
long OwnMemory(int pid) {
  std::FILE* status = std::fopen(("/proc/" + std::to_string(pid) + "/status").c_str(), "r");
  if (status == nullptr) throw std::runtime_error("cannot read the status of a process");
  char line[256];
  long kilobytes = 0;
  while (std::fgets(line, sizeof line, status) != nullptr) (void)std::sscanf(line, "RssAnon: %ld", &kilobytes);
  std::fclose(status);
  return kilobytes * 1024;
}

void Main(int argc, char** argv) {
  if (argc == 6 && std::strcmp(argv[1], "run") == 0) {
    Connection connection(Servers(1, argv + 5)[0].conninfo, FindWorkload(argv[2]), IsPrepared(argv[3]));
    const std::uint64_t count = std::strtoull(argv[4], nullptr, 10);
    for (std::uint64_t number = 0; number < count; ++number) connection.Run(number);
    std::printf("%d\n", connection.pid());
  } else if (argc == 5 && std::strcmp(argv[1], "memory") == 0) {
    Connection connection(Servers(1, argv + 4)[0].conninfo, FindWorkload(argv[2]), false);
    connection.Run(0);
    const long before = OwnMemory(connection.pid());
    const std::uint64_t count = std::strtoull(argv[3], nullptr, 10);
    for (std::uint64_t number = 1; number <= count; ++number) connection.Run(number);
    std::printf("%ld %ld\n", before, OwnMemory(connection.pid()));
  } else if (argc >= 8 && std::strcmp(argv[1], "compare") == 0) {
    Compare(FindWorkload(argv[2]), IsPrepared(argv[3]), std::atoi(argv[4]), std::atoi(argv[5]),
            std::strtoull(argv[6], nullptr, 10), Servers(argc - 7, argv + 7));
  } else {
    throw std::runtime_error(
        "usage: statements compare WORKLOAD PROTOCOL CLIENTS ROUND COUNT NAME=CONNINFO...\n"
        "       statements run WORKLOAD PROTOCOL COUNT NAME=CONNINFO\n"
        "       statements memory WORKLOAD COUNT NAME=CONNINFO");
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    Main(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "statements: %s\n", error.what());
    return 1;
  }
  return 0;
}
