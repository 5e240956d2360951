import Basics
import Delivery
import Store
import Testing

/// Messages are found by the ID that their submitter gave them, in every store.
@Suite struct NamedMessageTests {
    private static func message(_ device: UInt64, _ sequence: UInt64, _ id: String) -> StoredMessage {
        var message = Samples.message(device, sequence)
        message.fields = MessageFields(messageID: Array(id.utf8), body: message.body)
        return message
    }

    @Test("the messages of a device with an ID are found in order, and no markers", arguments: Kind.allCases)
    func found(_ kind: Kind) throws {
        let opened = try open(kind)
        let store = opened.store
        let messages = [(5, 9, "a"), (5, 2, "a"), (5, 3, "b"), (5, 4, ""), (6, 5, "a"), (5, 7, "a")].map {
            Self.message(UInt64($0), UInt64($1), $2)
        }
        var marker = Self.message(5, 8, "")
        marker.kind = .discardedMarker(count: 3)
        for message in messages.sorted(by: { $0.sequence < $1.sequence }) {
            try store.apply(.putMessage(message))
        }
        try store.apply(.putMessage(marker))
        func found(_ id: String, _ device: UInt64 = 5) throws -> [UInt64] {
            let query = StoreQuery.named(DeviceID(device), Array(id.utf8), lookup: 77)
            guard case .named(DeviceID(device), let names, lookup: 77) = try store.load(query) else {
                return [0]
            }
            #expect(names.allSatisfy { UInt64($0.salt) == $0.sequence.number })
            return names.map(\.sequence.number)
        }
        #expect(try found("a") == [2, 7, 9] && found("b") == [3] && found("") == [4])
        #expect(try found("a", 6) == [5] && found("a", 7).isEmpty && found("ab").isEmpty)
        try store.apply(
            .removeMessage(
                DeviceID(5), SequenceNumber(7), expiresAt: messages[5].expiresAt, reason: .removed))
        #expect(try found("a") == [2, 9])
    }
}
