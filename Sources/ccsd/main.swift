import Glibc
import Server

let code = DaemonProgram.run(vector: ProcessArguments.vector)
// Not by `exit`: it takes down what the engine's threads may still be looking things up in, where the store was not closed in time.
fflush(nil)
_exit(code)
