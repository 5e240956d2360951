import Basics
import CLinux
import Glibc

/// Decides whether free memory should be returned to the system, from numbers alone.
///
/// malloc counts free memory that was already returned as free too. So resident memory must also have grown since the lowest
/// value after the last return, as it does in a storm; or more must be free than at that time, as it is if memory was returned
/// while most of a storm was still open.
public struct FreeMemoryRule: Sendable {
    /// Resident bytes after the last return, or the lowest value since; `nil` before the first return.
    private var lowestResident: Int?
    /// Free bytes after the last return, or the lowest value since.
    private var lowestFree = 0

    public init() {}

    /// Updates the lowest values and returns whether free memory should be returned, given the resident bytes and malloc's free
    /// bytes.
    public mutating func observe(resident: Int, free: Int) -> Bool {
        lowestResident = lowestResident.map { min($0, resident) }
        lowestFree = min(lowestFree, free)
        let growth = max(resident - (lowestResident ?? 0), free - lowestFree)
        return free > Limits.Connection.freeMemoryBytes && growth > Limits.Connection.grownMemoryBytes
    }

    /// Records that memory was returned, with the numbers afterwards.
    public mutating func recordReturn(resident: Int, free: Int) {
        lowestResident = resident
        lowestFree = free
    }
}

/// Returns free memory to the system.
///
/// After a storm, the memory of its connections is free, but in fragments between live allocations: malloc keeps it, and the
/// process would stay at its largest size.
public struct FreeMemory: ~Copyable {
    private var rule = FreeMemoryRule()

    public init() {}

    /// Returns free memory to the system if the rule asks for it; holds malloc's locks for a moment.
    ///
    /// If the kernel does not report the resident memory (no free descriptor), the next call does it.
    public mutating func returnToSystem() {
        guard let resident = Self.residentBytes,
            rule.observe(resident: resident, free: clinux_free_bytes())
        else { return }
        clinux_trim_memory()
        rule.recordReturn(resident: Self.residentBytes ?? resident, free: clinux_free_bytes())
    }

    /// Resident anonymous bytes of this process (proc(5), statm: resident less shared).
    public static var residentBytes: Int? {
        guard let bytes = try? SmallFile.read("/proc/self/statm") else { return nil }
        let pages = String(decoding: bytes, as: UTF8.self).split(separator: " ")
        guard pages.count > 2, let resident = Int(pages[1]), let shared = Int(pages[2]) else { return nil }
        return max(0, resident - shared) * sysconf(Int32(_SC_PAGESIZE))
    }
}
