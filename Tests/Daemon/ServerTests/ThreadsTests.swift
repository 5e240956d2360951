import Basics
import Glibc
import Testing

@testable import Server

/// Threads of the control plane, one per command, must not leak.
@Suite("Threads", .serialized)
struct ThreadsTests {
    /// The size of the process's address space in bytes.
    private func addressSpace() throws -> Int {
        let file = try #require(fopen("/proc/self/statm", "r"))
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        try #require(fgets(&line, 256, file) != nil)
        return (Int(String(decoding: line.prefix { $0 > 0x20 }.map { UInt8($0) }, as: UTF8.self)) ?? 0)
            * Int(getpagesize())
    }

    private func run(_ count: Int) throws {
        for _ in 0..<count {
            let latch = Latch<Bool>()
            try Threads.start(name: "test") { latch.fulfil(true) }
            #expect(latch.wait() == true)
        }
    }

    @Test("an ended thread frees its stack")
    func nothingLeft() throws {
        try run(10)
        let before = try addressSpace()
        try run(400)
        // A stack has 8 MiB; the C library caches a few for new threads, and other tests run in parallel.
        #expect(try addressSpace() - before < 1 << 30)
    }

    @Test("canary: running threads increase the address space")
    func canary() throws {
        let before = try addressSpace()
        let end = Latch<Bool>()
        let hold = Monitor(false)
        for number in 0..<200 {
            try Threads.start(name: "test") {
                hold.wait { $0 ? .done(()) : .wait(until: .distantFuture) }
                hold.change { $0 = true }
                if number == 0 { end.fulfil(true) }
            }
        }
        #expect(try addressSpace() - before > 1 << 29)
        hold.change { $0 = true }
        #expect(end.wait() == true)
    }
}
