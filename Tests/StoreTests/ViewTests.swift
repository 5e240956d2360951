import Basics
import Delivery
import Foundation
import Store
import Synchronization
import Testing

@testable import RocksStore

/// Reading while messages leave memory for the engine.
@Suite struct ViewTests {
    private final class Progress: Sendable {
        let committed = Atomic<UInt64>(0)
        let isDone = Atomic<Bool>(false)
    }

    @Test("A page that is asked for after a commit has its message, wherever that stands just now")
    func moves() throws {
        let directory = ScratchDirectory()
        var sizes = EngineSizes()
        // Some stay young for a few commits, so that each is on its way to the engine once.
        sizes.young = 1_000
        let store = try RocksStore(path: directory.path + "/db", sizes: sizes)
        let progress = Progress()
        let ended = DispatchSemaphore(value: 0)
        let problems = Mutex<[String]>([])
        Thread.detachNewThread {
            while !progress.isDone.load(ordering: .sequentiallyConsistent),
                problems.withLock({ $0.count }) < 3
            {
                let least = progress.committed.load(ordering: .sequentiallyConsistent)
                // Those that are near the place between both.
                let after = least > 40 ? least - 40 : 0
                let page = (try? store.mailbox(5, after: after, limit: 100))?.map(\.sequence.number) ?? []
                let expected = Array(after + 1..<after + 1 + UInt64(page.count))
                if page != expected || UInt64(page.count) < least - after {
                    problems.withLock { $0.append("\(page), \(least) were committed") }
                }
            }
            ended.signal()
        }
        for sequence in 1...1_500 as ClosedRange<UInt64> {
            try store.apply(.putMessage(Samples.message(5, sequence)), durable: false)
            progress.committed.store(sequence, ordering: .sequentiallyConsistent)
        }
        progress.isDone.store(true, ordering: .sequentiallyConsistent)
        ended.wait()
        #expect(problems.withLock { $0 }.isEmpty)
    }
}
