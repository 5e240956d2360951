import Basics
import Delivery
import Store
import Testing

/// What the APNs gateway needs of a store, for every store.
@Suite struct GatewayContractTests {
    private static func name(_ device: UInt64, _ number: UInt64 = 1) -> RegistrationName {
        RegistrationName(device: DeviceID(device), number: RegistrationNumber(number))
    }

    private static func feedback(_ sender: UInt64, _ seenAt: Int64, _ device: UInt64) -> APNsFeedback {
        APNsFeedback(
            sender: SenderID(sender), seenAt: seenAt, registration: name(device), bundle: Array("app".utf8),
            apnsToken: Array("p_a1".utf8),
            verdict: APNsVerdict(status: 410, reason: "Unregistered", invalidSince: seenAt - 5))
    }

    private func marked(_ store: any Store, limit: Int) throws -> [UInt64] {
        var found: [DeviceID] = []
        for partition in 0..<store.partitions {
            var from: DeviceID? = .lowest
            while let start = from {
                guard
                    case .gatewayDevices(let page, let next) = try store.load(
                        .gatewayDevices(from: start, limit: limit, partition: partition))
                else { break }
                #expect(page.count <= limit)
                found += page
                from = next
            }
        }
        return found.map(\.number).sorted()
    }

    @Test(
        "Marked devices are found page by page, each once, until the mark is removed",
        arguments: Kind.allCases)
    func marks(_ kind: Kind) throws {
        let opened = try open(kind)
        let store = opened.store
        let devices = (1...40).map { DeviceID(UInt64($0) * 0x0123_4567_89AB) }
        for device in devices { try store.apply(.markForGateway(device), .markForGateway(device)) }
        for limit in [1, 2, 7, 100] {
            #expect(try marked(store, limit: limit) == devices.map(\.number).sorted())
        }
        for device in devices.dropFirst() { try store.apply(.unmarkForGateway(device)) }
        #expect(try marked(store, limit: 3) == [devices[0].number])
        #expect(try store.audit().holds)
    }

    @Test(
        "A message for the gateway is read with its body, and a topic copy with the shared one",
        arguments: Kind.allCases)
    func messages(_ kind: Kind) throws {
        let opened = try open(kind)
        let store = opened.store
        var message = Samples.message(5, 3)
        message.apns = Array("{}".utf8)
        try store.apply(
            .putMessage(Samples.message(5, 2)), .putMessage(message), .putMessage(Samples.message(5, 4)))
        guard
            case .gatewayMessage(_, _, let found) = try store.load(
                .gatewayMessage(DeviceID(5), SequenceNumber(3)))
        else { throw StoreError(.corrupt, "another answer") }
        #expect(found == message)
        guard
            case .gatewayMessage(_, _, nil) = try store.load(.gatewayMessage(DeviceID(5), SequenceNumber(9)))
        else { throw StoreError(.corrupt, "a message that does not exist") }
        guard case .device(let state) = try store.load(.device(DeviceID(5))) else { return }
        #expect(state.mailbox.map(\.isForGateway) == [false, true, false])
    }

    @Test("The feedback list of a sender is read in order of time, page by page", arguments: Kind.allCases)
    func lists(_ kind: Kind) throws {
        let opened = try open(kind)
        let store = opened.store
        let times: [Int64] = [50, 10, 50, 30, 20]
        let entries = times.enumerated().map { Self.feedback(7, $1, 100 + UInt64($0) * 977) }
        for entry in entries { try store.apply(.putFeedback(entry), .putFeedback(entry)) }
        try store.apply(.putFeedback(Self.feedback(8, 20, 5)))
        let expected = entries.sorted { FeedbackPosition($0) < FeedbackPosition($1) }
        for limit in 1...6 {
            var found: [APNsFeedback] = []
            var position = FeedbackPosition(seenAt: 0)
            while case let page = try store.feedback(of: SenderID(7), after: position, limit: limit),
                let last = page.last
            {
                found += page
                position = FeedbackPosition(last)
            }
            #expect(found == expected, "\(limit)")
        }
        #expect(
            try store.feedback(of: SenderID(7), after: FeedbackPosition(seenAt: 31), limit: 9).map(\.seenAt)
                == [50, 50])
        try store.apply(.removeFeedback(expected[0]))
        #expect(
            try store.feedback(of: SenderID(7), after: FeedbackPosition(seenAt: 0), limit: 9)
                == Array(expected.dropFirst()))
        #expect(try store.audit().holds)
    }

    @Test("canary: the list of another sender is not mistaken for this one")
    func canary() {
        func problem(_ entries: [APNsFeedback]) -> String? {
            brokenInvariant {
                try ListChecks.demandOrdered(
                    entries, of: SenderID(7), after: FeedbackPosition(seenAt: 0), limit: 9)
            }?.description
        }
        #expect(problem([Self.feedback(8, 20, 5)]) == "a feedback list has an entry of another sender")
        #expect(
            problem([Self.feedback(7, 20, 5), Self.feedback(7, 10, 5)]) == "a feedback list is unordered")
        #expect(problem([Self.feedback(7, 10, 5), Self.feedback(7, 20, 5)]) == nil)
    }
}
