import Basics
import CLinux
import Glibc

/// How many descriptors the process may have.
public enum DescriptorLimit {
    /// Raises the limit as far as the system allows, and gives it.
    @discardableResult
    public static func raise() -> Int {
        var limit = rlimit()
        let kind = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        guard unsafe getrlimit(kind, &limit) == 0 else { return 1_024 }
        limit.rlim_cur = limit.rlim_max
        _ = unsafe setrlimit(kind, &limit)
        return current ?? Int(clamping: limit.rlim_cur)
    }

    /// The limit that holds now; nil: the system does not say.
    private static var current: Int? {
        var limit = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return nil }
        return Int(clamping: limit.rlim_cur)
    }

    /// The number from which on a descriptor is left to other uses than connections, by the limit that holds now.
    ///
    /// The kernel gives the lowest number that is free: as many are open as it says.
    public static var ceiling: Int { current.map { ceiling(of: $0) } ?? .max }

    /// The same for a limit; where that is tiny, half of it.
    public static func ceiling(of limit: Int) -> Int {
        limit - min(Limits.Connection.descriptorsSpared, limit / 2)
    }

    /// Lets a process of the same user have so many, or as many as its hard limit allows; for the tools that attack it.
    @discardableResult
    public static func set(process: Int32, to count: Int) -> Bool {
        clinux_limit_descriptors(process, UInt64(max(0, count))) == 0
    }
}
