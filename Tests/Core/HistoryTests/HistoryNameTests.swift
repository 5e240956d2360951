import Basics
import Delivery
import History
import Testing

/// What a message is asked for by, and by whom.
@Suite struct HistoryNameTests {
    private typealias World = HistoryWorld

    private func step(
        _ kind: HistoryStep.Kind = .downstream, _ step: TraceRecord.Step = .stored, sender: UInt64,
        sequence: UInt64, id: String = ""
    ) -> World.Given {
        var given = World.step(step, sequence: sequence, id: id)
        given.step.kind = kind
        given.step.sender = sender
        return given
    }

    private func found(
        _ search: HistorySearch, _ text: String, sender: UInt64? = nil
    ) -> [HistoryRecord] {
        var search = search
        let name = MessageName(Array(text.utf8))
        return search.messages(name, of: sender.map { SenderID($0) }, limit: 9).messages.map(\.record)
    }

    @Test func aSenderFindsItsOwnMessagesAlone() {
        let world = World()
        world.write([
            step(sender: 7, sequence: 1, id: "same"), step(sender: 8, sequence: 2, id: "same"),
            step(sender: 8, sequence: 3, id: "other"), step(sender: 0, sequence: 4, id: "same"),
        ])
        let search = world.search()
        #expect(found(search, "same", sender: 7).map(\.sequence) == [1])
        #expect(found(search, "same").map(\.sequence) == [4, 2, 1], "canary")
        #expect(found(search, "other", sender: 7).isEmpty)
        let id = PersistentID(sequence: SequenceNumber(3), salt: 99).text
        #expect(found(search, id, sender: 7).isEmpty)
        let apple = PersistentID(sequence: SequenceNumber(3), salt: 99).appleID(for: DeviceID(1))
        #expect(found(search, apple, sender: 7).isEmpty && found(search, apple, sender: 8).count == 1)
        #expect(found(search, apple.uppercased(), sender: 8).count == 1)
        #expect(found(search, id, sender: 8).map(\.id) == [Array("other".utf8)])
    }

    @Test func aNumberNamesAMessageToATopic() {
        let world = World()
        world.write([
            step(.topic, sender: 7, sequence: 500), step(.topic, sender: 8, sequence: 600),
            step(sender: 7, sequence: 700), step(sender: 7, sequence: 9, id: "600"),
        ])
        let search = world.search()
        #expect(found(search, "500", sender: 7).map(\.kind) == [.topic])
        #expect(found(search, "500", sender: 8).isEmpty)
        #expect(found(search, "600", sender: 7).map(\.sequence) == [9], "an ID comes first")
        #expect(found(search, "600", sender: 8).map(\.kind) == [.topic])
        #expect(found(search, "700").isEmpty)
        #expect(found(search, "0500x").isEmpty && found(search, "99999999999999999999999").isEmpty)
    }

    @Test func aNameOfHTTPv1EndsWithTheID() {
        let world = World()
        world.write([
            step(sender: 7, sequence: 1, id: "m/1"), step(sender: 7, sequence: 2, id: "a/b/c/d"),
            step(sender: 7, sequence: 3),
        ])
        let search = world.search()
        #expect(found(search, "projects/p/messages/m/1").map(\.sequence) == [1])
        #expect(found(search, "messages/p/messages/m/1").isEmpty)
        #expect(found(search, "a/b/c/d").map(\.sequence) == [2])
        #expect(found(search, "projects/p/messages/").isEmpty, "a message without an ID is not named by that")
    }

    /// Positions come again after the clock was set back.
    @Test func stepsOfAnotherSendersMessageAreNotAdded() {
        let world = World()
        world.write([step(sender: 7, sequence: 1, id: "first")])
        world.write([step(.downstream, .sent, sender: 0, sequence: 1)])
        world.write([step(sender: 8, sequence: 1, id: "second")])
        #expect(found(world.search(), "first", sender: 7).map { $0.steps.map(\.step) } == [[.stored, .sent]])
    }

    @Test func aSearchReadsNoMoreBlocksThanItMay() {
        let world = World()
        for number in 1...20 as ClosedRange<UInt64> {
            world.write([step(sender: 7, sequence: number, id: number == 1 ? "old" : "new")])
        }
        func count(blocks: Int) -> (Int, Bool) {
            var search = world.search(blocks: blocks)
            let found = search.messages(MessageName(Array("new".utf8)), limit: 100)
            return (found.messages.count, found.isCut)
        }
        #expect(count(blocks: 40) == (19, false))
        #expect(count(blocks: 5) == (5, true))
    }
}
