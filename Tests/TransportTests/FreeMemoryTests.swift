import Basics
import Testing

@testable import Transport

/// When memory goes back to the system, in MiB.
@Suite struct FreeMemoryTests {
    private static let mebibyte = 1_048_576
    private static let limit = Limits.Connection.freeMemoryBytes / mebibyte

    /// What the rule says to a process with so many MiB resident and so many free.
    private func isWorthIt(_ rule: inout FreeMemoryRule, resident: Int, free: Int) -> Bool {
        rule.isWorthIt(resident: resident * Self.mebibyte, free: free * Self.mebibyte)
    }

    @Test("nothing goes back until enough is free, and then all at once")
    func first() {
        var rule = FreeMemoryRule()
        #expect(!isWorthIt(&rule, resident: 100, free: Self.limit))
        #expect(isWorthIt(&rule, resident: 100, free: Self.limit + 1))
    }

    @Test("what was given back and is still called free does not go back again")
    func givenBack() {
        var rule = FreeMemoryRule()
        #expect(isWorthIt(&rule, resident: 100, free: 60))
        rule.gaveBack(resident: 50 * Self.mebibyte, free: 60 * Self.mebibyte)
        // malloc calls all of it free still; now and then a little is taken and let go.
        for resident in [50, 52, 51, 50 + Self.limit] {
            #expect(!isWorthIt(&rule, resident: resident, free: 60), "\(resident)")
        }
    }

    @Test("a second storm, however soon, goes back as the first did, though no more is free than before it")
    func secondStorm() {
        var rule = FreeMemoryRule()
        for _ in 0..<3 {
            #expect(isWorthIt(&rule, resident: 100, free: 60))
            rule.gaveBack(resident: 45 * Self.mebibyte, free: 60 * Self.mebibyte)
        }
    }

    @Test("growth is counted from the least that was seen since")
    func floor() {
        var rule = FreeMemoryRule()
        #expect(isWorthIt(&rule, resident: 200, free: 60))
        rule.gaveBack(resident: 150 * Self.mebibyte, free: 60 * Self.mebibyte)
        #expect(!isWorthIt(&rule, resident: 100, free: 10), "what lived has gone by itself")
        #expect(isWorthIt(&rule, resident: 101 + Self.limit, free: 60))
    }

    @Test("What a storm still held when memory was given back goes back when the storm is over")
    func midStorm() {
        var rule = FreeMemoryRule()
        #expect(isWorthIt(&rule, resident: 130, free: 20))
        rule.gaveBack(resident: 110 * Self.mebibyte, free: 20 * Self.mebibyte)
        #expect(!isWorthIt(&rule, resident: 110, free: 20 + Self.limit))
        #expect(isWorthIt(&rule, resident: 110, free: 80), "nothing has grown but what is free")
    }

    @Test("a process that grows by what lives in it has nothing to give back")
    func living() {
        var rule = FreeMemoryRule()
        rule.gaveBack(resident: 50 * Self.mebibyte, free: Self.limit * Self.mebibyte)
        for resident in stride(from: 50, to: 5_000, by: 100) {
            #expect(!isWorthIt(&rule, resident: resident, free: Self.limit))
        }
    }

    @Test("the kernel says how much is resident")
    func resident() throws {
        let before = try #require(FreeMemory.residentBytes)
        #expect(before > Self.mebibyte)
        let pages = [UInt8](repeating: 1, count: 64 * Self.mebibyte)
        let during = try #require(FreeMemory.residentBytes)
        #expect(during > before + 32 * Self.mebibyte && pages.last == 1)
    }
}
