import Basics
import Delivery
import Store
import Testing

@testable import NodeProtocol

@Suite struct ParcelTests {
    /// Every case of every event and command, with random values.
    private static func random(_ values: inout RandomValues) -> [ParcelItem] {
        let commands = values.commands()
        let histories: [ParcelItem] =
            HistoryQuestionCase.allCases.map { .asked(values.number(), values.question($0)) }
            + HistoryContentCase.allCases.map { .answered(values.number(), values.historyReply($0)) }
            + [.answered(values.number(), nil)]
        return values.events().map { .event($0) } + commands.map { .command(values.connection(), $0) }
            + histories
    }

    @Test(
        "every event and command is read as it was written, in their order",
        arguments: 0..<100 as Range<UInt64>)
    func eachItem(seed: UInt64) throws {
        var values = RandomValues(seed: seed)
        let written = Self.random(&values)
        let bytes = try parcel(written)
        let read = try items(in: bytes)
        #expect(read.count == written.count)
        for (read, written) in zip(read, written) {
            let (read, written) = (everything(in: read), everything(in: written))
            if read != written { Issue.record("\(written)\nwas read as\n\(read)") }
        }
        #expect(try parcel(read) == bytes)
    }

    @Test("a parcel holds what was appended, or nothing")
    func order() throws {
        #expect(try parcel([]) == [1])
        #expect(try items(in: [1]).isEmpty)
        let connection = ConnectionID(node: 1, reactor: 2, slot: 3, generation: 4)
        var writer = ParcelWriter()
        let first = writer.append(.unseen(DeviceID(5)), now: noon)
        let second = writer.append(.connection(.drain), to: connection, now: noon)
        #expect(first && second && writer.count == 2)
        #expect([UInt8](copying: writer.bytes) == [1, 1, 1, 5, 26, 2, 1, 2, 3, 4, 5, 1])
        writer.removeAll()
        #expect(writer.count == 0 && writer.bytes.byteCount == 1)
    }

    @Test("canary: a change of any one field shows in the comparison of events")
    func canary() {
        var values = RandomValues(seed: 9)
        let submission = values.submission()
        let text = everything(in: submission)
        #expect(text == everything(in: submission))
        let changes: [(inout Submission) -> Void] = [
            { $0.content.messageID += [1] }, { $0.content.body += [1] }, { $0.content.isDryRun.toggle() },
            { $0.target.number.number &+= 1 },
            { $0.submitter = ConnectionID(reactor: 9, slot: 9, generation: 9) },
            { $0.replyTo = .group(SenderID(1), GroupSendMember(send: 1, index: 77)) },
            { $0.entitlement = .webPush(key: [7]) },
        ]
        for change in changes {
            var other = submission
            change(&other)
            #expect(text != everything(in: other))
        }
    }

    @Test("damaged parcels are refused, or read as other items, which are written as the same bytes")
    func damage() throws {
        var values = RandomValues(seed: 3)
        var refused = 0
        var read = 0
        for item in Self.random(&values) {
            for bad in try parcel([item]).damaged {
                guard let found = try? items(in: bad) else {
                    refused += 1
                    continue
                }
                read += 1
                let again = try parcel(found)
                if again != bad { Issue.record("\(Hex.text(bad)) was written as \(Hex.text(again))") }
            }
        }
        #expect(refused > 10_000 && read > 10_000, "\(refused) were refused, \(read) were read")
    }

    @Test("an instant is relative to the clock of the node that writes or reads it")
    func instants() throws {
        let connection = ConnectionID(reactor: 0, slot: 0, generation: 0)
        func read(_ instant: Instant, at now: Instant, by other: Instant) throws -> Instant? {
            let item = ParcelItem.command(
                connection, .connection(.endWhenIdle(from: instant, .connectionDraining)))
            let bytes = try parcel([item], now: now)
            guard
                case .command(_, .connection(.endWhenIdle(let instant, .connectionDraining)))? =
                    try items(in: bytes, now: other).first
            else { return nil }
            return instant
        }
        let other = Instant(nanoseconds: 7)
        #expect(try read(noon.advanced(seconds: 3), at: noon, by: other) == other.advanced(seconds: 3))
        #expect(try read(noon.advanced(seconds: -3), at: noon, by: other) == other.advanced(seconds: -3))
        #expect(try read(.distantFuture, at: Instant(nanoseconds: -1), by: noon) == .distantFuture)
        #expect(try read(.distantPast, at: noon, by: Instant(nanoseconds: -7)) == .distantPast)
    }

    @Test("what a parcel cannot be is refused by name")
    func invalid() {
        let faults: [([UInt8], NodeProtocolFault)] = [
            ([], .truncated), ([0], .version(0)), ([2], .version(2)),
            ([1, 0], .unknownCase(of: "item of a parcel", number: 0)),
            ([1, 8], .unknownCase(of: "item of a parcel", number: 8)),
            ([1, 1, 7], .unknownCase(of: "event", number: 7)),
            ([1, 1, 1, 5, 30], .unknownCase(of: "event of a device", number: 30)),
            ([1, 1, 6, 0x80, 8, 3, 0, 0], .value(of: "partition")),
            ([1, 1, 6, 0, 3, 0x80, 8, 0], .value(of: "partition")),
            ([1, 1, 2, 5, 16], .unknownCase(of: "event of a sender", number: 16)),
            ([1, 1, 1, 5], .truncated),
            ([1, 1, 1, 5, 4, 0x80, 0x80, 4, 0, 0, 0], .value(of: "node")),
            ([1, 1, 1, 5, 6, 0, 0, 0, 0, 2], .value(of: "idle")),
            (
                [1, 1, 1, 5, 3, 0, 0, 0, 0, 0x81, 0x80, 8],
                .tooLong("sequence numbers", length: 131_073, limit: 131_072)
            ),
            ([1, 1, 1, 5, 3, 0, 0, 0, 0, 3, 1, 1], .truncated),
            ([1, 1, 2, 5, 1, 0, 0, 0, 0, 31], .truncated),
            ([1, 1, 2, 5, 1, 0, 0, 0, 0, 33], .tooLong("digest", length: 33, limit: 32)),
            ([1, 1, 2, 5, 1, 0, 0, 0, 0, 1, 9], .value(of: "digest")),
            ([1, 1, 2, 5, 8, 0, 0, 0, 0, 1, 0xff], .value(of: "stream")),
            ([1, 1, 5, 0x81, 0x80, 0x40], .tooLong("installation", length: 1_048_577, limit: 1_048_576)),
            ([1, 2, 0, 0, 0, 0, 5, 3, 0], .unknownCase(of: "close reason", number: 0)),
            ([1, 2, 0, 0, 0, 0, 5, 3, 39], .unknownCase(of: "close reason", number: 39)),
            ([1, 2, 0, 0, 0, 0, 3, 0x80, 0x80, 0x80, 0x80, 0x10], .value(of: "request ID")),
        ]
        for (bytes, fault) in faults {
            #expect(throws: fault, "\(bytes)") { try items(in: bytes) }
        }
    }

    @Test("each fault names what is wrong and what was expected")
    func descriptions() {
        let texts: [(NodeProtocolFault, String)] = [
            (.version(2), "unknown version 2: expected 1 to 1; another node runs a newer ccsd"),
            (.unknownCase(of: "event", number: 6), "unknown event 6: another node runs a newer ccsd"),
            (.truncated, "the bytes end before the last field"),
            (.tooLong("digest", length: 33, limit: 32), "digest: 33 is more than 32"),
            (.value(of: "idle"), "invalid value of idle"),
            (.record(.checksum), "a record cannot be read: wrong checksum"),
        ]
        for (fault, text) in texts { #expect("\(fault)" == text) }
    }

    @Test("events in events are read up to the limit of their depth")
    func depth() throws {
        var values = RandomValues(seed: 5)
        func wrapped(_ event: Event) -> Event {
            let request = InstallationRequest(
                requester: values.requester(), installation: [1], sender: nil, action: .vouch(for: event))
            return .installation(request)
        }
        var event = Event.unseen(DeviceID(5))
        for _ in 1..<Limits.NodeProtocol.eventDepth { event = wrapped(event) }
        let bytes = try parcel([.event(event)])
        #expect(try items(in: bytes).count == 1)
        // One more, by hand: an installation with the request that vouches for the event.
        let start: [UInt8] = [1, 1, 5, 1, 1, 1, 0, 0, 0, 0, 0, 1, 1, 1, 0, 6]
        #expect(
            throws: NodeProtocolFault.tooLong("events in an event", length: 5, limit: 4)
        ) { try items(in: (start + bytes.dropFirst(2))) }
        #expect(
            try items(in: start + [1, 5, 26, 0, 0]).count == 1,
            "the start of the longer one must be right")
    }

    @Test("an event of a whole partition is in no other event, since that is not checked where it arrives")
    func depthOfPartitions() throws {
        let start: [UInt8] = [1, 1, 5, 1, 1, 1, 0, 0, 0, 0, 0, 1, 1, 1, 0, 6]
        let event: [UInt8] = [6, 0, 3, 0, 0]
        #expect(try items(in: [1, 1] + event).count == 1)
        #expect(throws: NodeProtocolFault.value(of: "event in an event")) { try items(in: start + event) }
    }

    @Test("the messages that are passed on at once fit into a parcel")
    func published() throws {
        var values = RandomValues(seed: 6)
        var message = values.topicMessage()
        message.body = [UInt8](repeating: 1, count: 65_536)
        let messages = [TopicMessage](repeating: message, count: Limits.Topic.copiedAtOnce)
        #expect(try parcel([.event(.topicLog(1, .published(messages, from: 0)))]).count > 64 * 65_536)
    }

    @Test("an item that exceeds the limit is left out, and the parcel stays as it was")
    func limit() throws {
        let event = Event.unseen(DeviceID(5))
        let both = try parcel([.event(event), .event(event)])
        for limit in 5...both.count {
            var writer = ParcelWriter(limit: limit)
            let fits = (writer.append(event, now: noon), writer.append(event, now: noon))
            #expect(fits == (true, limit == both.count))
            #expect([UInt8](copying: writer.bytes) == (fits.1 ? both : Array(both.prefix(5))))
        }
        let long = [UInt8](repeating: 1, count: Limits.NodeProtocol.parcelBytes + 1)
        #expect(
            throws: NodeProtocolFault.tooLong("a parcel", length: long.count, limit: long.count - 1)
        ) { try items(in: long) }
    }

    @Test("a parcel has a limit of items")
    func count() throws {
        let event = Event.unseen(DeviceID(5))
        var writer = ParcelWriter()
        for _ in 0..<Limits.NodeProtocol.itemsPerParcel { _ = writer.append(event, now: noon) }
        let full = [UInt8](copying: writer.bytes)
        let takesMore = writer.append(event, now: noon)
        #expect(!takesMore)
        #expect(try items(in: full).count == 65_536)
        #expect(
            throws: NodeProtocolFault.tooLong("the items of a parcel", length: 65_537, limit: 65_536)
        ) { try items(in: full + full[1..<5]) }
    }

    @Test("what no node could read is not written: a field or a list over its limit, a digest that is none")
    func unreadable() {
        let connection = ConnectionID(reactor: 0, slot: 0, generation: 0)
        let sequences = [SequenceNumber](
            repeating: SequenceNumber(1), count: Limits.NodeProtocol.listItems + 1)
        let id = String(repeating: "a", count: Limits.NodeProtocol.fieldBytes + 1)
        let pairs: [(Event, Event)] = [
            (
                .deviceAcknowledged(connection, DeviceID(1), sequences),
                .deviceAcknowledged(connection, DeviceID(1), sequences.dropLast())
            ),
            (
                .appServerStreamManaged(connection, SenderID(1), id: id),
                .appServerStreamManaged(connection, SenderID(1), id: String(id.dropLast()))
            ),
            (
                .appServerLogin(connection, SenderID(1), key: SecretDigest(bytes: [1])),
                .appServerLogin(
                    connection, SenderID(1), key: SecretDigest(bytes: [UInt8](repeating: 1, count: 32)))
            ),
            (
                .installation(
                    [UInt8](repeating: 1, count: Limits.NodeProtocol.fieldBytes + 1),
                    .unused(before: 1, unlinkedBefore: 2)),
                .installation(
                    [UInt8](repeating: 1, count: Limits.NodeProtocol.fieldBytes),
                    .unused(before: 1, unlinkedBefore: 2))
            ),
        ]
        for (bad, good) in pairs {
            var writer = ParcelWriter()
            let (isWritten, isGoodWritten) = (writer.append(bad, now: noon), writer.append(good, now: noon))
            #expect(!isWritten && isGoodWritten && writer.count == 1)
            #expect((try? NodeProtocol.items(writer.bytes, now: noon).count) == 1)
        }
    }

    @Test("the bytes of a message between nodes stay as they are")
    func golden() throws {
        var requester = Requester(
            connection: ConnectionID(node: 1, reactor: 2, slot: 3, generation: 400), requestID: 5)
        requester.growth = .counted
        let submission = Submission(
            requester: requester, entitlement: .account(SenderID(42)),
            target: RegistrationName(device: DeviceID(6), number: RegistrationNumber(7)),
            content: MessageContent(
                messageID: [0x6d], lifetimeSeconds: 60, priority: .high, wantsReceipt: true, body: [8, 9]))
        let reply = SubmissionReply.accepted(
            id: PersistentID(sequence: SequenceNumber(300), salt: 1), canonical: nil)
        let bytes = try parcel([
            .event(.submitted(submission)),
            .command(requester.connection, .submission(requestID: 5, reply)),
        ])
        #expect(
            Hex.text(bytes)
                == "01010106010101020390030502010102039003012a0607016d00020809007802010000000000000002010203900303050101ac020100"
        )
    }
}
