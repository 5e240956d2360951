import CLinux
import Glibc

/// Keeps the secrets of a process to itself, also if it was not started by the unit of the package: by another service manager, a container or a shell.
public enum ProcessSecrecy {
    /// The variable that names a file to which TLS libraries write the keys of all connections.
    public static let keyLogVariable = "SSLKEYLOGFILE"

    /// Forbids core files and reading of memory by other processes of the same user, and removes the variable that makes libraries write
    /// the keys of TLS connections to a file. Call before any thread starts. Throws if the system refuses.
    public static func begin() throws(TransportError) {
        _ = unsafe unsetenv(keyLogVariable)
        guard clinux_forbid_dumps() == 0 else { throw SystemCall.failure("forbid core files") }
    }
}
