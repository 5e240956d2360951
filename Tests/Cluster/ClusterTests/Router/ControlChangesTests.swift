import Basics
import ClusterLog
import Delivery
import Testing

@testable import Cluster

@Suite("changes that other nodes write")
struct ControlChangesTests {
    private let noon = Instant(nanoseconds: 0)
    private let two = NodeNumber(2)
    private let three = NodeNumber(3)

    private func open(_ changes: inout ControlChanges) throws -> UInt64 {
        let change = ControlChange(WriteBatch(batchNumber: 0, mutations: [], isDurable: true), of: 4)
        let number = changes.open(HeldChange(change, .here(71), 4, now: noon), 71, for: two, now: noon)
        return try #require(number)
    }

    @Test("only the node that was to write a change can fail it, and only once")
    func failed() throws {
        var changes = ControlChanges(after: .max)
        let number = try open(&changes)
        var effects: [NodeRouterEffect] = []
        changes.fail(number, at: three, &effects)
        changes.fail(number &+ 1, at: two, &effects)
        #expect(effects.isEmpty && changes.count == 1)
        changes.fail(number, at: two, &effects)
        #expect(changes.count == 0 && isChanged(effects, false))
        changes.fail(number, at: two, &effects)
        #expect(effects.count == 1)
        let next = try open(&changes)
        #expect(next != number)
        effects = []
        let partition = changes.written(next, at: nil, by: two, now: noon, &effects)
        #expect(partition == nil && isChanged(effects, false) && changes.count == 0)
    }

    @Test("a change counts as written once this node has applied it, and a later failure changes nothing")
    func written() throws {
        var changes = ControlChanges(after: 9)
        let number = try open(&changes)
        var effects: [NodeRouterEffect] = []
        let other = changes.written(number, at: LogPosition(5), by: three, now: noon, &effects)
        let own = changes.written(number, at: LogPosition(5), by: two, now: noon, &effects)
        #expect(other == nil && own == 4)
        changes.fail(number, at: two, &effects)
        changes.lose(two, &effects)
        changes.applied(LogPosition(4), of: 4, &effects)
        changes.applied(LogPosition(5), of: 3, &effects)
        #expect(effects.isEmpty && changes.count == 1)
        changes.applied(LogPosition(5), of: 4, &effects)
        #expect(isChanged(effects, true) && changes.count == 0)
    }

    @Test("only the node that was to write a change can return it, and only before it has written it")
    func returned() throws {
        var changes = ControlChanges(after: 9)
        let number = try open(&changes)
        let (other, own) = (changes.takeBack(number, from: three), changes.takeBack(number, from: two))
        #expect(other == nil && own?.partition == 4 && changes.count == 0)
        let next = try open(&changes)
        var effects: [NodeRouterEffect] = []
        _ = changes.written(next, at: LogPosition(5), by: two, now: noon, &effects)
        let late = changes.takeBack(next, from: two)
        #expect(late == nil && effects.isEmpty && changes.count == 1)
    }

    private func isChanged(_ effects: [NodeRouterEffect], _ isWritten: Bool) -> Bool {
        guard effects.count == 1, case .changed(71, isWritten)? = effects.first else { return false }
        return true
    }
}
