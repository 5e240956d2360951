import Glibc

/// How much room the device of a folder has.
public struct DeviceSpace: Sendable {
    /// Bytes that may still be written.
    public var free: Int
    /// Bytes in all.
    public var size: Int

    /// That of the device on which a path lies; `nil` where the system does not tell.
    public init?(of path: String) {
        var system = statvfs()
        guard unsafe statvfs(path, &system) == 0 else { return nil }
        free = Int(clamping: UInt64(system.f_bavail) * UInt64(system.f_frsize))
        size = Int(clamping: UInt64(system.f_blocks) * UInt64(system.f_frsize))
    }
}
