import CLinux
import Glibc

/// How many descriptors the process may have.
package enum DescriptorLimit {
    /// Raises the limit as far as the system allows, and gives it.
    @discardableResult
    package static func raise() -> Int {
        var limit = rlimit()
        let kind = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        guard unsafe getrlimit(kind, &limit) == 0 else { return 1_024 }
        limit.rlim_cur = limit.rlim_max
        _ = unsafe setrlimit(kind, &limit)
        _ = unsafe getrlimit(kind, &limit)
        return Int(clamping: limit.rlim_cur)
    }

    /// Lets a process of the same user have so many, or as many as its hard limit allows; for the tools that attack it.
    @discardableResult
    package static func set(process: Int32, to count: Int) -> Bool {
        clinux_limit_descriptors(process, UInt64(max(0, count))) == 0
    }
}
