import Glibc
import Server

let code = DaemonProgram.run(Array(CommandLine.arguments.dropFirst()))
// Not by `exit`: it takes down what the engine's threads may still be looking things up in, where the store was not closed in time.
fflush(nil)
_exit(code)
