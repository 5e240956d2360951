import Basics
import Delivery
import History
import Testing

/// Lists of messages by sender, time and outcome.
@Suite struct HistoryFilterTests {
    private typealias World = HistoryWorld
    private static let start: Int64 = 1_700_000_000_000

    private func step(
        _ step: TraceRecord.Step, _ sequence: UInt64, sender: UInt64 = 7, device: UInt64 = 5,
        after milliseconds: Int64? = nil
    ) -> World.Given {
        var given = World.step(
            step, device: device, sequence: sequence, at: Self.start + (milliseconds ?? Int64(sequence)),
            id: step == .stored ? "m-\(sequence)" : "")
        given.step.sender = sender
        return given
    }

    /// Messages 1 to 12: each third was delivered, each fourth has expired later, and odd ones are of sender 8.
    private func world() -> World {
        let world = World()
        for number in 1...12 as ClosedRange<UInt64> {
            let sender = 7 + number % 2
            var steps = [step(.stored, number, sender: sender)]
            if number % 3 == 0 {
                steps += [step(.sent, number, sender: sender), step(.delivered, number, sender: sender)]
            }
            world.write(steps)
            if number % 5 == 0 { world.roll() }
        }
        world.write([4, 8].map { step(.expired, $0, sender: 0, after: 500) })
        return world
    }

    /// The positions of all pages.
    private func list(_ world: World, limit: Int = 3, _ change: (inout HistoryFilter) -> Void) -> [UInt64] {
        var filter = HistoryFilter()
        change(&filter)
        var found: [UInt64] = []
        var before: HistoryPosition?
        repeat {
            var search = world.search()
            let page = search.messages(filter, before: before, limit: limit)
            #expect(page.messages.count <= limit)
            found += page.messages.map(\.record.sequence)
            before = page.next
        } while before != nil
        return found
    }

    @Test(arguments: [1, 3, 100]) func pagesHaveEachMessageOnceNewestFirst(_ limit: Int) {
        let world = world()
        let all = (1...12).reversed().map { UInt64($0) }
        #expect(list(world, limit: limit) { _ in } == all)
        #expect(list(world, limit: limit) { $0.sender = SenderID(7) } == all.filter { $0 % 2 == 0 })
        #expect(list(world, limit: limit) { $0.sender = SenderID(9) }.isEmpty)
        #expect(list(world, limit: limit) { $0.state = .ended(.delivered) } == [12, 9, 6, 3])
        #expect(list(world, limit: limit) { $0.state = .ended(.expired) } == [8, 4])
        #expect(list(world, limit: limit) { $0.state = .open } == [11, 10, 7, 5, 2, 1])
        #expect(list(world, limit: limit) { $0.since = Self.start + 9 } == [12, 11, 10, 9])
        #expect(list(world, limit: limit) { $0.until = Self.start + 4 } == [4, 3, 2, 1])
        let both = list(world, limit: limit) { filter in
            (filter.since, filter.until) = (Self.start + 4, Self.start + 9)
            (filter.sender, filter.state) = (SenderID(8), .open)
        }
        #expect(both == [7, 5])
        #expect(list(world, limit: limit) { $0.name = MessageName(Array("m-4".utf8)) } == [4])
        let other = list(world) { ($0.name, $0.sender) = (MessageName(Array("m-4".utf8)), SenderID(8)) }
        #expect(other.isEmpty)
    }

    @Test func aMessageThatBeginsInTwoFilesIsListedOnceWithItsEnd() {
        let world = World()
        world.write([step(.stored, 1)])
        world.roll()
        world.write([step(.accepted, 2)])
        world.roll()
        world.write([step(.stored, 2)])
        world.roll()
        world.write([step(.stored, 3)])
        world.roll()
        world.write([1, 2].map { step(.delivered, $0, after: 500) })
        #expect(list(world) { _ in } == [3, 2, 1])
        #expect(list(world) { $0.state = .ended(.delivered) } == [2, 1])
        var search = world.search()
        let steps = search.messages(HistoryFilter(), limit: 9).messages.map { $0.record.steps.map(\.step) }
        #expect(steps == [[.stored], [.accepted, .stored, .delivered], [.stored, .delivered]])
    }

    @Test func whatIsNewIsListedWithAllSteps() throws {
        let world = world()
        var search = world.search()
        let latest = try #require(search.latest)
        var filter = HistoryFilter()
        filter.device = 5
        #expect(search.messages(filter, after: latest, limit: 9).messages.isEmpty)
        world.write([step(.delivered, 2, sender: 0, after: 600), step(.stored, 20), step(.sent, 20)])
        world.write([step(.stored, 21, device: 6), step(.delivered, 20, after: 700)])
        func news(_ filter: HistoryFilter) -> [[TraceRecord.Step]] {
            var search = world.search()
            return search.messages(filter, after: latest, limit: 9).messages.map {
                $0.record.steps.map(\.step)
            }
        }
        #expect(news(filter) == [[.stored, .sent, .delivered], [.stored, .delivered]])
        #expect(news(HistoryFilter()).count == 3)
        filter.registration = 4
        #expect(news(filter).isEmpty)
        // Also when a new file has nothing yet.
        world.roll()
        let next = try #require(world.search().latest)
        #expect(next > latest)
        world.write([step(.stored, 30)])
        search = world.search()
        #expect(
            search.messages(HistoryFilter(), after: next, limit: 9).messages.map(\.record.sequence) == [30])
    }

    @Test func aPageEndsWhenItHasReadEnough() throws {
        let world = World()
        for number in 1...30 as ClosedRange<UInt64> { world.write([step(.stored, number)]) }
        var filter = HistoryFilter()
        filter.state = .ended(.refused)
        var search = world.search(blocks: 8)
        let page = search.messages(filter, limit: 5)
        #expect(page.messages.isEmpty)
        let next = try #require(page.next, "it goes on")
        search = world.search(blocks: 100)
        #expect(search.messages(filter, before: next, limit: 5).next == nil)
    }

    @Test("canary: a list without a filter has a message that was written last") func canary() {
        let world = world()
        world.write([step(.stored, 99)])
        #expect(list(world) { _ in }.first == 99)
    }
}
