import Glibc

/// Free and total space of the file system that contains a path.
public struct DeviceSpace: Sendable {
    /// Bytes available to unprivileged users.
    public var free: Int
    /// Total size in bytes.
    public var size: Int

    /// Reads the file system of a path. Returns `nil` if the system call fails.
    public init?(of path: String) {
        var system = statvfs()
        guard unsafe statvfs(path, &system) == 0 else { return nil }
        free = Int(clamping: UInt64(system.f_bavail) * UInt64(system.f_frsize))
        size = Int(clamping: UInt64(system.f_blocks) * UInt64(system.f_frsize))
    }
}
