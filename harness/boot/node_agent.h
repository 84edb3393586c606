#pragma once

namespace bk::boot {

/// The shell script that keeps a node for one boot. Arguments: run lock file ("" when the lane is not exclusive), lane,
/// "user@host" of who boots, folder of the deployed overlay ("" without one). Its requests, one a line, each answered
/// by lines and a closing "ok" or "no REASON":
///   look             "release ID", "row …" lines of the deployed manifest, "hash …" lines of the deployed files
///   run N            runs the N shell words lines that follow as one command line, its output as lines
///   folder ro|rw P   the folder is there; with rw it is made
///   take             the run lock: refused when another lane holds it, also when that one is stale
///   free             frees memory: drops the page cache where allowed, and says so
///   forget FILE      removes an older boot's process id
///   started FILE     waits until an engine wrote its process id, at most 30 s
///   environ FILE     the environment of the process whose id stands in the file
/// At the end of its input it gives the lock back.
[[nodiscard]] const char* keeper_script();

/// The shell script that runs an engine on a node. Arguments: file that gets the engine's process id, folder to run in,
/// grace in whole seconds, command line that stops it ("" to signal its process group), then the engine's argv. Reads
/// NAME=value lines for the environment up to an empty line; at the end of its input, however that came, it stops the
/// engine. Its exit code is the engine's.
[[nodiscard]] const char* engine_script();

}  // namespace bk::boot
