import Basics
import Delivery
import Testing

@testable import Store

/// Records with a valid checksum that no version has written: each is rejected with its reason.
@Suite struct StrictRecordTests {
    /// A record of each kind and its reader.
    struct Sample: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var kind: RecordIdentity.Kind
        var high: UInt64
        var low: UInt64
        var bytes: [UInt8]
        var read: @Sendable ([UInt8]) throws -> Void

        var place: RecordIdentity { RecordIdentity(kind, high, low) }
        /// Without the checksum.
        var fields: [UInt8] { Array(bytes.dropLast(4)) }
    }

    static let samples: [Sample] = {
        let message = Samples.message(5, 9, key: "k")
        let upstream = Samples.upstream(8, 9, persistentID: "p")
        let device = Samples.device(5)
        var registration = Samples.registration(5, 1)
        registration.otherSenders = [SenderID(7)]
        registration.scope = .only([0x61])
        registration.web = Samples.keys(4)
        let whole = registration
        let sender = Samples.sender(42)
        let subscription = Samples.subscription(5, 1)
        let name = whole.name
        let shared = Samples.topicMessage(42, 6)
        let entry = TopicEntry(
            sequence: SequenceNumber(7), kind: .discarded(count: 300, through: SequenceNumber(6)),
            message: shared)
        var tally = Tally()
        tally.downstream.accepted = 300
        let counted = tally
        return [
            Sample(
                testDescription: "message", kind: .message, high: 5, low: 9,
                bytes: Self.written { MessageRecord.write(message, to: &$0) }
            ) { _ = try MessageRecord.message($0.raw, device: DeviceID(5), sequence: SequenceNumber(9)) },
            Sample(
                testDescription: "upstream message", kind: .upstream, high: 8, low: 9,
                bytes: Self.written { UpstreamRecord.write(upstream, to: &$0) }
            ) { _ = try UpstreamRecord.upstream($0.raw, sender: SenderID(8), sequence: SequenceNumber(9)) },
            Sample(
                testDescription: "device", kind: .device, high: 5, low: 0,
                bytes: Self.written { RegistryRecord.write(device, to: &$0) }
            ) { _ = try RegistryRecord.device($0.raw, DeviceID(5)) },
            Sample(
                testDescription: "registration", kind: .registration, high: 5, low: 1,
                bytes: Self.written { RegistryRecord.write(whole, to: &$0) }
            ) { _ = try RegistryRecord.registration($0.raw, name) },
            Sample(
                testDescription: "sender", kind: .sender, high: 42, low: 0,
                bytes: Self.written { RegistryRecord.write(sender, to: &$0) }
            ) { _ = try RegistryRecord.sender($0.raw, SenderID(42)) },
            Sample(
                testDescription: "subscription", kind: .subscription, high: 5, low: 1,
                bytes: Self.written { SubscriptionRecord.write(subscription, to: &$0) }
            ) {
                _ = try SubscriptionRecord.subscription(
                    $0.raw, subscription.name, subscription.sender, subscription.topic)
            },
            Sample(
                testDescription: "group", kind: .group, high: 42, low: 3,
                bytes: Self.written { GroupCodec.write(Self.group, to: &$0) }
            ) { _ = try GroupCodec.group($0.raw, Self.group.name) },
            Sample(
                testDescription: "topic message", kind: .topicMessage, high: 42, low: 6,
                bytes: Self.written { TopicRecord.write(shared, to: &$0) }
            ) { _ = try TopicRecord.message($0.raw, shared.name) },
            Sample(
                testDescription: "entry", kind: .topicEntry, high: 3, low: 7,
                bytes: Self.written { TopicRecord.write(entry, of: 3, to: &$0) }
            ) { _ = try TopicRecord.entry($0.raw, SequenceNumber(7), of: 3) },
            Sample(
                testDescription: "progress", kind: .topicProgress, high: 3, low: 7,
                bytes: Self.written {
                    TopicRecord.write(
                        TopicProgress(reached: 300, isOffered: true), at: SequenceNumber(7), of: 3, to: &$0)
                }
            ) { _ = try TopicRecord.progress($0.raw, SequenceNumber(7), of: 3) },
            Sample(
                testDescription: "body", kind: .topicBody, high: 42, low: 6,
                bytes: Self.written { SharedBodyRecord.write(shared.shared, to: &$0) }
            ) { _ = try SharedBodyRecord.body($0.raw, .topic(shared.name)) },
            Sample(
                testDescription: "body of a request", kind: .requestBody, high: 42, low: 6,
                bytes: Self.written { SharedBodyRecord.write(Samples.requestBody(6), to: &$0) }
            ) { _ = try SharedBodyRecord.body($0.raw, Samples.requestBody(6).reference.name) },
            Sample(
                testDescription: "tally", kind: .tally, high: 0, low: 0,
                bytes: Self.written { counted.write(of: 0, to: &$0) }
            ) { _ = try Tally(reading: $0.raw, of: 0) },
        ]
    }()

    private static let group = GroupRecord(
        name: GroupName(sender: SenderID(42), number: 3), label: [0x61],
        members: (1...3 as ClosedRange<UInt64>).map {
            TokenName(RegistrationName(device: DeviceID($0), number: RegistrationNumber($0 + 500)))
        }, createdAt: Samples.now)

    private static func written(_ write: (inout ByteBuffer) -> Void) -> [UInt8] {
        var buffer = ByteBuffer()
        write(&buffer)
        return buffer.copied()
    }

    /// Returns a record of some fields with a valid checksum.
    private func sealed(
        _ version: UInt8, _ place: RecordIdentity, _ write: (inout RecordWriter) -> Void
    ) -> [UInt8] {
        var writer = RecordWriter(ByteBuffer(), version: version, place: place)
        write(&writer)
        return writer.finish().copied()
    }

    private func sealed(_ fields: [UInt8], _ place: RecordIdentity) -> [UInt8] {
        sealed(fields[0], place) { writer in
            for byte in fields.dropFirst() { writer.byte(byte) }
        }
    }

    @Test("canary: a record is read when its checksum is computed again", arguments: samples)
    func whole(_ sample: Sample) throws {
        #expect(sealed(sample.fields, sample.place) == sample.bytes)
        try sample.read(sample.bytes)
    }

    @Test("A record is rejected when it is truncated or has bytes after its end", arguments: samples)
    func length(_ sample: Sample) {
        for count in 1..<sample.fields.count {
            let cut = sealed(Array(sample.fields.prefix(count)), sample.place)
            #expect(throws: RecordFault.self, "cut to \(count)") { try sample.read(cut) }
        }
        for more in [[0], [0, 0, 0, 0]] as [[UInt8]] {
            let longer = sealed(sample.fields + more, sample.place)
            #expect(throws: RecordFault.length) { try sample.read(longer) }
        }
        for count in 0..<5 {
            #expect(throws: RecordFault.self) { try sample.read(Array(sample.bytes.prefix(count))) }
        }
    }

    @Test("A record of a newer version is rejected with that reason", arguments: samples)
    func version(_ sample: Sample) {
        var fields = sample.fields
        fields[0] = 99
        let newer = sealed(fields, sample.place)
        #expect(throws: RecordFault.version) { try sample.read(newer) }
    }

    @Test("A record is rejected when it has another key or another kind", arguments: samples)
    func place(_ sample: Sample) {
        let kind: RecordIdentity.Kind = sample.kind == .device ? .sender : .device
        for place in [
            RecordIdentity(sample.kind, sample.high + 1, sample.low),
            RecordIdentity(sample.kind, sample.high, sample.low + 1),
            RecordIdentity(kind, sample.high, sample.low),
        ] {
            let misplaced = sealed(sample.fields, place)
            #expect(throws: RecordFault.checksum) { try sample.read(misplaced) }
        }
    }

    @Test(
        "A record is rejected when it has an unknown flag",
        arguments: samples.filter { ["upstream message", "topic message"].contains($0.testDescription) })
    func flags(_ sample: Sample) {
        var fields = sample.fields
        fields[1] |= 0x80
        let other = sealed(fields, sample.place)
        #expect(throws: RecordFault.value) { try sample.read(other) }
    }

    // MARK: Messages

    private func message(
        flags: UInt8 = 0, salt: UInt64 = 3, registration: [UInt8] = [7], topic: UInt64? = nil,
        _ body: (inout RecordWriter) -> Void = { $0.bytes([8]) }
    ) throws -> StoredMessage {
        let bytes = sealed(1, RecordIdentity(.message, 5, 9)) { writer in
            writer.byte(flags)
            writer.signed(2)
            writer.number(salt)
            for byte in registration { writer.byte(byte) }
            writer.number(42)
            if let topic { writer.number(topic) }
            writer.signed(1)
            writer.bytes([0x6d])
            body(&writer)
        }
        return try MessageRecord.message(bytes.raw, device: DeviceID(5), sequence: SequenceNumber(9))
    }

    @Test("A number is rejected when it is overlong or too large for its field")
    func numbers() throws {
        #expect(try message().registration.number == 7, "canary")
        let most = [UInt8](repeating: 0xff, count: 9)
        #expect(try message(registration: most + [1]).registration.number == .max, "canary")
        for other in [most + [2], most + [0x7f], [0x87, 0], [0x80, 0x80, 0], most + [0x81, 0]] {
            #expect(throws: RecordFault.value, "\(other)") { try message(registration: other) }
        }
        #expect(try message(salt: 0xffff_ffff).salt == .max, "canary")
        #expect(throws: RecordFault.value) { try message(salt: 1 << 32) }
        for length in [UInt64.max, 1 << 63] {
            #expect(throws: RecordFault.value) { try message { $0.number(length) } }
        }
    }

    @Test("A message with a shared body is rejected when it has a body of its own")
    func shared() throws {
        #expect(
            try message(flags: 32, topic: 9) { $0.bytes([]) }.shared?.name
                == .topic(Samples.topicName(42, 9)),
            "canary")
        #expect(throws: RecordFault.value) { try message(flags: 32, topic: 9) }
    }

    @Test("An entry or a header is rejected when its fields extend into the checksum")
    func parts() throws {
        for sequence in 1...64 as ClosedRange<UInt64> {
            let key = RecordIdentity(.message, 5, sequence)
            // Version, flags, expiry time, salt, registration, sender, time, and an ID of one byte.
            let fields: [UInt8] = [1, 12, 2, 3, 7, 42, 1, 1, 0x6d]
            for count in 1...fields.count {
                let bytes = sealed(Array(fields.prefix(count)), key)
                let (device, place) = (DeviceID(5), SequenceNumber(sequence))
                let entry = try? MessageRecord.entry(bytes.raw, device: device, sequence: place)
                #expect((entry != nil) == (count == fields.count), "\(count) at \(sequence)")
                let header = try? MessageRecord.header(bytes.raw, device: device, sequence: place)
                #expect((header != nil) == (count >= 3), "\(count) at \(sequence)")
            }
        }
    }

    // MARK: Registry

    @Test(
        "A registration is rejected with too many senders, an unknown flag, an empty scope, or a token that its instance cannot begin"
    )
    func registrations() throws {
        func read(
            flags: UInt8 = 0, instance: [UInt8] = [], senders: UInt64 = 0, scope: [UInt8] = [2]
        ) throws -> Registration {
            let bytes = sealed(10, RecordIdentity(.registration, 5, 1)) { writer in
                writer.byte(flags)
                for field in [[0x61], [], [0x34]] as [[UInt8]] { writer.bytes(field) }
                writer.number(4)
                writer.signed(9)
                writer.bytes(instance)
                writer.number(senders)
                for number in 0..<senders { writer.number(number) }
                for byte in scope { writer.byte(byte) }
                writer.bytes([])
                writer.bytes([])
            }
            return try RegistryRecord.registration(
                bytes.raw, RegistrationName(device: DeviceID(5), number: RegistrationNumber(1)))
        }
        let most = UInt64(Limits.Registration.sendersPerRegistration)
        #expect(try read(senders: most).otherSenders.count == Int(most))
        #expect(throws: RecordFault.value) { try read(senders: most + 1) }
        #expect(try read(flags: 1).isProved && !read().isProved)
        #expect(throws: RecordFault.value) { try read(flags: 16) }
        #expect(try read(scope: [3, 1, 0x61]).scope == .only([0x61]))
        #expect(throws: RecordFault.value) { try read(scope: [3, 0]) }
        #expect(throws: RecordFault.value) { try read(scope: [4]) }
        #expect(try read(flags: 2, instance: Array("dGFzc3dvcmQ_aGVsbG8tdw".utf8)).isTokenPrefixed)
        #expect(throws: RecordFault.value) { try read(flags: 2, instance: [0x61]) }
    }

    @Test("A sender is rejected when its label is not UTF-8, or its webhook has no state")
    func senders() throws {
        func read(label: [UInt8] = [], project: [UInt8] = [], webhook: UInt8? = nil) throws -> SenderRecord {
            let bytes = sealed(5, RecordIdentity(.sender, 42)) { writer in
                writer.byte(0)
                writer.bytes(label)
                writer.signed(9)
                writer.number(0)
                writer.bytes(project)
                writer.number(0)
                writer.byte(webhook == nil ? 0 : 1)
                guard let webhook else { return }
                writer.byte(webhook)
                writer.bytes([0x63])
                writer.signed(9)
                writer.number(0)
            }
            return try RegistryRecord.sender(bytes.raw, SenderID(42))
        }
        #expect(try read(label: [0x61]).label == "a" && read(project: [0x62]).project == "b")
        #expect(throws: RecordFault.value) { try read(label: [0xff]) }
        #expect(try read(webhook: 2).webhook?.state == .gone)
        #expect(throws: RecordFault.value) { try read(webhook: 3) }
    }

    @Test("A digest is rejected when it does not have 32 bytes", arguments: [0, 31, 33])
    func digest(_ count: Int) throws {
        func read(_ count: Int) throws -> DeviceRecord {
            let bytes = sealed(3, RecordIdentity(.device, 5)) { writer in
                writer.byte(1)
                writer.bytes([UInt8](repeating: 1, count: count))
                writer.signed(2)
                writer.signed(3)
                writer.number(4)
            }
            return try RegistryRecord.device(bytes.raw, DeviceID(5))
        }
        #expect(try read(32).seenAt == 3, "canary")
        #expect(throws: RecordFault.value) { try read(count) }
    }

    @Test("A subscription is rejected under another sender or topic")
    func subscriptions() throws {
        let made = Samples.subscription(5, 1)
        let bytes = Self.written { SubscriptionRecord.write(made, to: &$0) }
        func read(_ sender: SenderID, _ topic: TopicName) throws -> Subscription {
            try SubscriptionRecord.subscription(bytes.raw, made.name, sender, topic)
        }
        #expect(try read(made.sender, made.topic) == made)
        #expect(throws: RecordFault.value) { try read(SenderID(made.sender.number + 1), made.topic) }
        #expect(throws: RecordFault.value) { try read(made.sender, Samples.topics[1]) }
    }

    // MARK: Groups and tallies

    @Test("A group is read with all members or none, and rejected with too many")
    func groups() throws {
        func read(_ count: Int) throws -> GroupRecord {
            var group = Self.group
            group.members = (0..<UInt64(count)).map {
                TokenName(RegistrationName(device: DeviceID($0), number: RegistrationNumber(1_000 - $0)))
            }
            let bytes = Self.written { GroupCodec.write(group, to: &$0) }
            let found = try GroupCodec.group(bytes.raw, group.name)
            #expect(found == group)
            return found
        }
        for count in [0, 1, Limits.Group.members] { #expect(try read(count).members.count == count) }
        #expect(throws: RecordFault.value) { try read(Limits.Group.members + 1) }
    }

    @Test("A tally is read with fewer milestones, and rejected as newer with more")
    func milestones() throws {
        func read(_ count: Int) throws -> Tally {
            let bytes = sealed(1, RecordIdentity(.tally, 0)) { writer in
                writer.number(UInt64(count))
                for number in 0..<2 * count { writer.signed(Int64(number + 1)) }
            }
            return try Tally(reading: bytes.raw, of: 0)
        }
        var expected = Tally()
        (expected.downstream.accepted, expected.downstream.stored) = (1, 2)
        (expected.upstream.accepted, expected.upstream.stored) = (3, 4)
        #expect(try read(2) == expected)
        let all = Milestone.allCases.count
        #expect(throws: Never.self) { try read(all) }
        #expect(throws: RecordFault.version) { try read(all + 1) }
    }
}
