#pragma once
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "cli/app.h"

namespace bk::cli {

/// The shared vocabulary, by group. A program registers the groups that it uses and no other.
enum class Common {
  kConnection,  ///< --base-url --model --api-key-env --api-key-file --header --ca-file --unix-socket
  kExtraBody,   ///< --extra-body
  kMetrics,     ///< --metrics-url
  kSeed,        ///< --seed
  kReps,        ///< --reps
  kWarmup,      ///< --warmup
  kDb,          ///< --db
  kProfile,     ///< --profile
  kFormat,      ///< --format, --json
  kOut,         ///< --out
  kDryRun,      ///< --dry-run
  kQuiet,       ///< --quiet
};

/// How to reach a server, as the command line gave it; programs turn it into an engine::Endpoint.
struct ConnectionFlags {
  std::string base_url = "http://127.0.0.1:8000";  ///< a trailing slash or /v1 is taken off by read_connection()
  std::string model;                               ///< empty: resolved from the server
  std::string api_key_env;                         ///< name of the variable that holds the key; empty: none
  std::string api_key_file;                        ///< file that holds the key; empty: none
  std::vector<std::string> header;                 ///< "Name: value"
  std::string extra_body;                          ///< a JSON object; empty: none
  std::string ca_file;
  std::string metrics_url;  ///< empty: base_url + /metrics
  std::string unix_socket;
};

/// A connection that has been checked: what ConnectionFlags says, with the key read and the headers split.
struct Connection {
  std::string base_url;
  std::string model;
  std::string api_key;  ///< empty: none
  std::vector<std::pair<std::string, std::string>> headers;
  std::string extra_body;  ///< empty, or the text of a JSON object
  std::string ca_file;
  std::string metrics_url;  ///< empty: base_url + /metrics
  std::string unix_socket;
  /// What no output may show: the key, and the values of credential headers. For bk::redact().
  std::vector<std::string> secrets;
};

/// The values of the shared flags. Set other defaults before add_to().
struct CommonFlags {
  ConnectionFlags connection;
  std::uint64_t seed = 1;
  std::int64_t reps = 5;
  std::int64_t warmup = 1;
  std::string db = "results.db";
  std::string profile;
  std::string format = "table";  ///< table, json, jsonl, csv or md; after parse(), --json has set it to json
  std::string out;               ///< empty: standard output
  bool dry_run = false;
  bool quiet = false;

  /// Registers the groups' flags, bound to the members above; the object has to outlive the App.
  void add_to(App& app, std::initializer_list<Common> groups);
};

/// The key that the flags name: from the file when one is named, else from the variable. Empty when none is named.
/// kUsage: variable not set or empty, file empty, more than one line, bytes that a header cannot carry, a file that
/// others may read, both ways named at once. kIo: file unreadable. One line end (LF or CR LF) after the key is dropped.
/// The key itself is in no error.
[[nodiscard]] Result<std::string> load_key(const ConnectionFlags& flags);

/// Checks the flags, reads the key and adds the secrets to `streams`, so that no error line shows them. kUsage for a
/// URL that is not http(s) or carries a password, a header without a colon or with control characters, an extra body
/// that is no JSON object; load_key()'s errors.
[[nodiscard]] Result<Connection> read_connection(const ConnectionFlags& flags, Streams& streams);

}  // namespace bk::cli
