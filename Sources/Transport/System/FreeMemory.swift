import Basics
import CLinux
import Glibc

/// Whether free memory is worth giving back to the system; numbers in, yes or no out.
///
/// What malloc calls free may have been given back already: it counts both alike. So memory must have grown as well since it was
/// looked at after the last time, which what a storm adds to a process whose memory is back does; or more must be free than
/// then, which is so where it was given back while the storm still held most of it.
public struct FreeMemoryRule: Sendable {
    /// Resident bytes after the last time, or less where less was seen since; nil: nothing was given back yet.
    private var floor: Int?
    /// Free bytes after the last time, or less where less was seen since.
    private var freeFloor = 0

    /// Nothing was given back yet.
    public init() {}

    /// Whether it is worth it now, with so many bytes resident and so many that malloc calls free.
    public mutating func isWorthIt(resident: Int, free: Int) -> Bool {
        floor = floor.map { min($0, resident) }
        freeFloor = min(freeFloor, free)
        let growth = max(resident - (floor ?? 0), free - freeFloor)
        return free > Limits.Connection.freeMemoryBytes && growth > Limits.Connection.grownMemoryBytes
    }

    /// Memory was given back, and so many bytes are resident now, and so many called free.
    public mutating func gaveBack(resident: Int, free: Int) {
        floor = resident
        freeFloor = free
    }
}

/// Gives memory that is free back to the system.
///
/// What a storm of connections held is free when they are gone, in pieces between others that live on: malloc keeps it, and
/// the process stays as large as it ever was.
public struct FreeMemory: ~Copyable {
    private var rule = FreeMemoryRule()

    /// Nothing was given back yet.
    public init() {}

    /// Looks how much is free and how much resident, and gives back where that is worth it; holds malloc's locks for a moment.
    ///
    /// Where the kernel does not say how much is resident (no descriptor is left to ask by), the next look does it.
    public mutating func giveBack() {
        guard let resident = Self.residentBytes,
            rule.isWorthIt(resident: resident, free: clinux_free_octets())
        else { return }
        clinux_give_back()
        rule.gaveBack(resident: Self.residentBytes ?? resident, free: clinux_free_octets())
    }

    /// Resident bytes of this process that no file stands behind (proc(5), statm: resident less shared).
    public static var residentBytes: Int? {
        guard let bytes = try? SmallFile.read("/proc/self/statm") else { return nil }
        let pages = String(decoding: bytes, as: UTF8.self).split(separator: " ")
        guard pages.count > 2, let resident = Int(pages[1]), let shared = Int(pages[2]) else { return nil }
        return max(0, resident - shared) * sysconf(Int32(_SC_PAGESIZE))
    }
}
