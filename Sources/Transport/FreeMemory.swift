import Basics
import CLinux

/// Gives memory that is free back to the system.
///
/// What a storm of connections held is free when they are gone, in pieces between others that live on: malloc keeps it, and
/// the process stays as large as it ever was.
package struct FreeMemory: ~Copyable {
    /// Free octets after the last time: those are given back already, or too small.
    private var floor = 0

    /// Nothing was given back yet.
    package init() {}

    /// Looks how much is free, and gives it back where that is worth it; holds malloc's locks for a moment.
    package mutating func giveBack() {
        let free = clinux_free_octets()
        floor = min(floor, free)
        guard free > floor + Limits.freeMemoryBytes else { return }
        clinux_give_back()
        floor = clinux_free_octets()
    }
}
