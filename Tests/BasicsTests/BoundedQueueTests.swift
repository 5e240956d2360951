import Basics
import Testing

@Suite struct BoundedQueueTests {
    @Test("first in, first out, and the one too many is refused")
    func order() {
        var queue = BoundedQueue<Int>(limit: 3)
        #expect(queue.isEmpty && queue.first == nil)
        var taken = (1...4).map { queue.append($0) }
        #expect(taken == [true, true, true, false])
        #expect(queue.isFull && queue.first == 1)
        #expect(queue.popFirst() == 1)
        taken = [queue.append(5)]
        let rest = (0..<4).map { _ in queue.popFirst() }
        #expect(taken == [true] && rest == [2, 3, 5, nil])
    }

    @Test(
        "it behaves like an array under random use, round the ring and through growth",
        arguments: [1, 2, 7, 8, 9, 100])
    func model(limit: Int) {
        var random = SeededRandom(seed: UInt64(limit))
        var queue = BoundedQueue<Int>(limit: limit)
        var model: [Int] = []
        for step in 0..<5_000 {
            if Bool.random(using: &random) {
                let isTaken = queue.append(step)
                #expect(isTaken == (model.count < limit))
                if isTaken { model.append(step) }
            } else {
                let expected = model.isEmpty ? nil : model.removeFirst()
                #expect(queue.popFirst() == expected)
            }
            #expect(queue.count == model.count)
            if step % 1_000 == 999 {
                queue.removeAll()
                model = []
            }
        }
    }

    @Test("it lets go of what was taken out")
    func releases() {
        final class Token {}
        weak var token: Token?
        var queue = BoundedQueue<Token>(limit: 2)
        do {
            let strong = Token()
            token = strong
            queue.append(strong)
        }
        #expect(token != nil)
        _ = queue.popFirst()
        #expect(token == nil)
    }

    @Test("canary: a queue without limit would be seen")
    func canary() {
        var queue = BoundedQueue<Int>(limit: 1)
        queue.append(1)
        let isTaken = queue.append(2)
        #expect(!isTaken && queue.count == 1)
    }
}
