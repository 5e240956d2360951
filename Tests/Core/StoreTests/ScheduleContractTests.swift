import Basics
import Delivery
import Store
import Testing

/// The schedule of messages that are sent later, in every store.
@Suite struct ScheduleContractTests {
    private static func message(_ device: UInt64, _ sequence: UInt64, due: Int64) -> StoredMessage {
        var message = Samples.message(device, sequence)
        message.sender = SenderID(100)
        message.dueAt = due
        return message
    }

    private func schedule(_ store: any Store, limit: Int) throws -> [ScheduledMessage] {
        var found: [ScheduledMessage] = []
        for partition in 0..<store.partitions {
            var (after, isLast): (ScheduledMessage?, Bool) = (nil, false)
            while !isLast {
                let query = StoreQuery.schedule(after: after, limit: limit, partition: partition)
                guard case .schedule(let page, let end) = try store.load(query) else { return [] }
                #expect(page.count <= limit && page == page.sorted())
                found += page
                (after, isLast) = (page.last ?? after, end || page.isEmpty)
            }
        }
        return found.sorted()
    }

    @Test(
        "a message has its time until it is taken off the schedule, and is found when it is due",
        arguments: Kind.allCases)
    func due(_ kind: Kind) throws {
        let opened = try open(kind)
        let store = opened.store
        let messages = [(5, 1, 300), (5, 2, 100), (6, 3, 200), (77, 4, 100)].map {
            Self.message($0, $1, due: $2)
        }
        for message in messages {
            let entry = try #require(message.scheduled)
            try store.apply(.putMessage(message), .putSchedule(entry), .putSchedule(entry))
        }
        let entries = messages.compactMap(\.scheduled).sorted()
        for limit in [1, 2, 100] { #expect(try schedule(store, limit: limit) == entries) }
        func times() throws -> [UnixMilliseconds?]? { try store.state(5)?.mailbox.map(\.dueAt) }
        #expect(try times() == [300, 100])
        func due(by time: Int64) throws -> [UInt64] {
            try store.expired(by: time).compactMap { entry in
                if case .scheduled(_, let sequence, _) = entry { sequence.number } else { nil }
            }
        }
        #expect(try due(by: 99) == [] && due(by: 100) == [2, 4] && due(by: 300) == [2, 4, 3, 1])
        try store.apply(
            .removeSchedule(DeviceID(5), SequenceNumber(2), dueAt: 100),
            .removeSchedule(DeviceID(5), SequenceNumber(1), dueAt: 999))
        #expect(try times() == [300, nil] && due(by: 300) == [4, 3, 1])
        #expect(try schedule(store, limit: 3) == entries.filter { $0.sequence.number != 2 })
        guard
            case .messages(_, let page, _) = try store.load(
                .messages(DeviceID(5), after: SequenceNumber(0), limit: 9))
        else {
            Issue.record("no messages")
            return
        }
        #expect(page.map(\.dueAt) == [300, 100], "the record stays")
        #expect(try store.audit().holds && store.audit().downstreamPending == 4)
    }
}
