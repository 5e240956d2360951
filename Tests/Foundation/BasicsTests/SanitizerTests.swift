import Glibc
import Synchronization
import Testing

/// Faults that `Scripts/test --sanitize` plants to check that the sanitizers report them; inactive in any other run.
@Suite struct SanitizerTests {
    /// The planted fault: `race`, `use-after-free`, or nothing.
    static let planted = getenv("CCS_PLANT").map { String(cString: $0) } ?? ""

    /// Two numbers that threads increment.
    private final class Counters: Sendable {
        let guarded = Mutex(0)
        nonisolated(unsafe) var bare = 0

        /// Increments; now and then it sleeps while holding the lock, so that other threads must wait in the kernel.
        func count() {
            for _ in 0..<2_000 {
                guarded.withLock { value in
                    value += 1
                    if value % 64 == 0 { usleep(1) }
                }
                if SanitizerTests.planted == "race" { bare += 1 }
            }
        }
    }

    @Test(
        "The sanitizer reports no race when threads wait for a lock, and a planted race (canary)"
    )
    func race() {
        let counters = Counters()
        var threads: [pthread_t] = []
        for _ in 0..<4 {
            var thread = pthread_t()
            let context = Unmanaged.passRetained(counters).toOpaque()
            let code = pthread_create(
                &thread, nil,
                { context in
                    guard let context else { return nil }
                    Unmanaged<Counters>.fromOpaque(context).takeRetainedValue().count()
                    return nil
                }, context)
            #expect(code == 0)
            threads.append(thread)
        }
        for thread in threads { pthread_join(thread, nil) }
        #expect(counters.guarded.withLock { $0 } == 8_000)
    }

    @Test("The sanitizer reports a use after free when one is planted (canary)")
    func useAfterFree() {
        let bytes = UnsafeMutablePointer<UInt8>.allocate(capacity: 64)
        bytes.initialize(repeating: 7, count: 64)
        let at = SanitizerTests.planted.isEmpty ? 1 : 2
        #expect(bytes[at] == 7)
        bytes.deallocate()
        if SanitizerTests.planted == "use-after-free" { #expect(bytes[at] >= 0) }
    }
}
