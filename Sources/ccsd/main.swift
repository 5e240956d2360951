import Glibc
import Server

exit(DaemonProgram.run(Array(CommandLine.arguments.dropFirst())))
