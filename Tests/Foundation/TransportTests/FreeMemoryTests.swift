import Basics
import Testing

@testable import Transport

/// When memory is returned to the system; numbers are MiB.
@Suite struct FreeMemoryTests {
    private static let mebibyte = 1_048_576
    private static let limit = Limits.Connection.freeMemoryBytes / mebibyte

    /// Returns the rule's decision for a process with these resident and free MiB.
    private func observe(_ rule: inout FreeMemoryRule, resident: Int, free: Int) -> Bool {
        rule.observe(resident: resident * Self.mebibyte, free: free * Self.mebibyte)
    }

    @Test("memory is returned when enough is free, and not before")
    func first() {
        var rule = FreeMemoryRule()
        #expect(!observe(&rule, resident: 100, free: Self.limit))
        #expect(observe(&rule, resident: 100, free: Self.limit + 1))
    }

    @Test("memory is not returned again when malloc still counts it as free")
    func givenBack() {
        var rule = FreeMemoryRule()
        #expect(observe(&rule, resident: 100, free: 60))
        rule.recordReturn(resident: 50 * Self.mebibyte, free: 60 * Self.mebibyte)
        // malloc still counts all of it as free; now and then a little is allocated and freed.
        for resident in [50, 52, 51, 50 + Self.limit] {
            #expect(!observe(&rule, resident: resident, free: 60), "\(resident)")
        }
    }

    @Test("memory of a second storm is returned when it follows soon and no more is free than before")
    func secondStorm() {
        var rule = FreeMemoryRule()
        for _ in 0..<3 {
            #expect(observe(&rule, resident: 100, free: 60))
            rule.recordReturn(resident: 45 * Self.mebibyte, free: 60 * Self.mebibyte)
        }
    }

    @Test("growth is counted from the lowest value since the last return")
    func floor() {
        var rule = FreeMemoryRule()
        #expect(observe(&rule, resident: 200, free: 60))
        rule.recordReturn(resident: 150 * Self.mebibyte, free: 60 * Self.mebibyte)
        #expect(!observe(&rule, resident: 100, free: 10), "live memory was freed by itself")
        #expect(observe(&rule, resident: 101 + Self.limit, free: 60))
    }

    @Test("memory that a storm still held at the last return is returned when the storm is over")
    func midStorm() {
        var rule = FreeMemoryRule()
        #expect(observe(&rule, resident: 130, free: 20))
        rule.recordReturn(resident: 110 * Self.mebibyte, free: 20 * Self.mebibyte)
        #expect(!observe(&rule, resident: 110, free: 20 + Self.limit))
        #expect(observe(&rule, resident: 110, free: 80), "only the free memory has grown")
    }

    @Test("memory is not returned when only live memory has grown")
    func living() {
        var rule = FreeMemoryRule()
        rule.recordReturn(resident: 50 * Self.mebibyte, free: Self.limit * Self.mebibyte)
        for resident in stride(from: 50, to: 5_000, by: 100) {
            #expect(!observe(&rule, resident: resident, free: Self.limit))
        }
    }

    @Test("the kernel reports the resident memory")
    func resident() throws {
        #expect(try #require(FreeMemory.residentBytes) > Self.mebibyte)
        // Other tests of the process may free as much at the same time, so one of many measurements must show it.
        let isSeen = try (0..<50).contains { _ in
            let before = try #require(FreeMemory.residentBytes)
            let pages = [UInt8](repeating: 1, count: 64 * Self.mebibyte)
            let during = try #require(FreeMemory.residentBytes)
            return pages.last == 1 && during > before + 32 * Self.mebibyte
        }
        #expect(isSeen)
    }
}
