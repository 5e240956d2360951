import Basics
import Testing

/// Arrays whose elements are moved out.
@Suite struct DrainTests {
    private final class Journal {
        var words: [String] = []
    }

    private final class Item {
        let number: Int
        let journal: Journal

        init(_ number: Int, _ journal: Journal) {
            self.number = number
            self.journal = journal
        }

        deinit { journal.words.append("end \(number)") }
    }

    @Test(
        "a drained array has passed on each element once, in order, and keeps its storage",
        arguments: [0, 1, 2, 7, 100])
    func order(_ count: Int) {
        var numbers = Array(0..<count)
        let storage = numbers.capacity
        var found: [Int] = []
        numbers.drain { found.append($0) }
        #expect(found == Array(0..<count))
        #expect(numbers.isEmpty && numbers.capacity == storage)
    }

    @Test("an element is released before the next one is passed on, which the elements of a loop are not")
    func moves() {
        let journal = Journal()
        var items = (0..<3).map { Item($0, journal) }
        items.drain { journal.words.append("begin \($0.number)") }
        #expect(journal.words == (0..<3).flatMap { ["begin \($0)", "end \($0)"] })
        journal.words = []
        items = (0..<3).map { Item($0, journal) }
        for item in items { journal.words.append("begin \(item.number)") }
        items = []
        #expect(journal.words.prefix(3) == ["begin 0", "begin 1", "begin 2"], "canary")
    }
}
