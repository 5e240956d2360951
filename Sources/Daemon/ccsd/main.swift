import Glibc
import Server

let code = DaemonProgram.run(vector: ProcessArguments.vector)
// Not `exit`, which destroys globals that threads of the storage engine may still use if the store was not closed in time.
_exit(code)
