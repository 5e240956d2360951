import Basics
import CLinux
import Glibc

/// The limit of file descriptors of a process.
public enum DescriptorLimit {
    /// Raises the limit as far as the system allows, and returns it.
    @discardableResult
    public static func raise() -> Int {
        var limit = rlimit()
        let kind = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        guard unsafe getrlimit(kind, &limit) == 0 else { return 1_024 }
        limit.rlim_cur = limit.rlim_max
        _ = unsafe setrlimit(kind, &limit)
        return current ?? Int(clamping: limit.rlim_cur)
    }

    /// The current limit; `nil` if the system call fails.
    public static var current: Int? {
        var limit = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return nil }
        return Int(clamping: limit.rlim_cur)
    }

    /// The number from which on descriptors are reserved for other uses than connections, by the current limit.
    ///
    /// The kernel assigns the lowest free number, so a new descriptor's number is at most the count of open ones.
    public static var ceiling: Int { current.map { ceiling(of: $0) } ?? .max }

    /// The same for a given limit; at least half of the limit is available to connections.
    public static func ceiling(of limit: Int) -> Int {
        limit - min(Limits.Connection.alwaysFreeDescriptors, limit / 2)
    }

    /// Sets the limit of a process of the same user, up to its hard limit; for the tools that attack it.
    @discardableResult
    public static func set(process: Int32, to count: Int) -> Bool {
        clinux_limit_descriptors(process, UInt64(max(0, count))) == 0
    }
}
