import Basics
import Delivery
import Foundation
import Store
import Synchronization
import Testing

@testable import RocksStore

/// Loads while messages move from memory to the engine.
@Suite struct ViewTests {
    private final class Progress: Sendable {
        let committed = Atomic<UInt64>(0)
        let isDone = Atomic<Bool>(false)
    }

    @Test("A page after a commit contains its message while messages move to the engine")
    func moves() throws {
        let directory = ScratchDirectory()
        var sizes = EngineSizes()
        // Messages stay in memory for a few commits, so that each of them moves once.
        sizes.recent = 1_000
        let store = try RocksStore(path: directory.path + "/db", sizes: sizes)
        let progress = Progress()
        let ended = DispatchSemaphore(value: 0)
        let problems = Mutex<[String]>([])
        Thread.detachNewThread {
            while !progress.isDone.load(ordering: .sequentiallyConsistent),
                problems.withLock({ $0.count }) < 3
            {
                let least = progress.committed.load(ordering: .sequentiallyConsistent)
                // The messages that are about to move.
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
