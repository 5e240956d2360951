import Basics
import BasicsSupport
import Delivery
import Testing

@testable import Store

/// Records are read exactly as they were written, or rejected.
@Suite struct RecordTests {
    private let message = Samples.message(5, 9, key: "score", body: Array(repeating: 3, count: 40))

    private func record(_ message: StoredMessage) -> [UInt8] {
        var buffer = ByteBuffer()
        buffer.append([1, 2, 3])
        MessageRecord.write(message, to: &buffer)
        return buffer.copied()
    }

    @Test("Extreme values are read as they were written")
    func extremes() throws {
        let messages = [
            StoredMessage(
                device: DeviceID(.max), sequence: SequenceNumber(.max), salt: .max,
                registration: RegistrationNumber(.max),
                sender: SenderID(.max), kind: .discardedMarker(count: .max), messageID: [], collapseKey: [],
                acceptedAt: .min, expiresAt: .max, body: []),
            StoredMessage(
                device: DeviceID(0), sequence: SequenceNumber(0), salt: 0,
                registration: RegistrationNumber(0),
                sender: nil, messageID: [UInt8](repeating: 255, count: 300), acceptedAt: .max,
                expiresAt: .min, priority: .high, wantsReceipt: true, delaysWhileIdle: true,
                body: [UInt8](repeating: 0, count: 70_000)),
            StoredMessage(
                device: DeviceID(1), sequence: SequenceNumber(1), salt: 0,
                registration: RegistrationNumber(0), sender: SenderID(.max),
                kind: .sendError(of: SequenceNumber(.max)), messageID: [1], acceptedAt: 0, expiresAt: .max,
                body: []),
        ]
        var forApple = messages[1]
        forApple.apns = Array("{}".utf8)
        for message in messages + [forApple] {
            let bytes = record(message)
            #expect(
                try MessageRecord.message(bytes.raw, device: message.device, sequence: message.sequence)
                    == message)
            #expect(
                try MessageRecord.entry(bytes.raw, device: message.device, sequence: message.sequence)
                    == MailboxEntry(message))
            #expect(
                try MessageRecord.header(bytes.raw, device: message.device, sequence: message.sequence)
                    == MessageRecord.Header(isCounted: message.kind == .message, expiresAt: message.expiresAt)
            )
        }
    }

    @Test(
        "A message without the delay flag has the old encoding, and an old record has no delay flag")
    func delayedWhileIdle() throws {
        var plain = StoredMessage(
            device: DeviceID(5), sequence: SequenceNumber(9), salt: 3, registration: RegistrationNumber(7),
            sender: SenderID(42), messageID: [0x6d], acceptedAt: 1, expiresAt: 2, priority: .high,
            wantsReceipt: true, body: [8])
        // The bytes of an older version, without their checksum.
        #expect(Array(record(plain).dropLast(4)) == [1, 12, 2, 3, 7, 42, 1, 1, 0x6d, 1, 8])
        #expect(
            try MessageRecord.message(record(plain).raw, device: DeviceID(5), sequence: SequenceNumber(9))
                == plain)
        plain.delaysWhileIdle = true
        #expect(record(plain)[1] == 12 | 16)
        #expect(
            try MessageRecord.message(record(plain).raw, device: DeviceID(5), sequence: SequenceNumber(9))
                == plain)
    }

    @Test("An old report has no number of its message, and reads as 0; it is written as it was")
    func oldReports() throws {
        var report = StoredMessage(
            device: DeviceID(5), sequence: SequenceNumber(9), salt: 3, registration: RegistrationNumber(7),
            sender: SenderID(42), kind: .sendError(of: SequenceNumber(0)), messageID: [0x6d], acceptedAt: 1,
            expiresAt: 2, body: [])
        // The bytes of an older version, without their checksum: no pairs.
        #expect(Array(record(report).dropLast(4)) == [1, 64, 2, 3, 7, 42, 1, 1, 0x6d, 0])
        #expect(
            try MessageRecord.message(record(report).raw, device: DeviceID(5), sequence: SequenceNumber(9))
                == report)
        report.kind = .sendError(of: SequenceNumber(300))
        #expect(Array(record(report).dropLast(4)) == [1, 64, 2, 3, 7, 42, 1, 1, 0x6d, 0xAC, 2])
    }

    @Test("A record is rejected when a bit has changed or it is truncated")
    func damage() {
        let good = record(message)
        func reads(_ bytes: [UInt8]) -> Bool {
            (try? MessageRecord.message(bytes.raw, device: message.device, sequence: message.sequence)) != nil
        }
        #expect(reads(good), "the canary: undamaged, it must be read")
        for at in good.indices {
            for bit in 0..<8 {
                var bad = good
                bad[at] ^= 1 << UInt8(bit)
                #expect(!reads(bad), "bit \(bit) of byte \(at)")
            }
            #expect(!reads(Array(good[..<at])), "cut to \(at)")
        }
        #expect(!reads(good + [0]))
    }

    @Test("A record is rejected under another key")
    func misplaced() {
        let bytes = record(message)
        #expect(throws: RecordFault.checksum) {
            try MessageRecord.message(bytes.raw, device: message.device, sequence: SequenceNumber(10))
        }
        #expect(throws: RecordFault.checksum) {
            try MessageRecord.entry(bytes.raw, device: DeviceID(6), sequence: message.sequence)
        }
        #expect(throws: RecordFault.checksum) {
            try UpstreamRecord.upstream(bytes.raw, sender: SenderID(5), sequence: message.sequence)
        }
    }

    @Test(
        "A registration with one sender has the old encoding, and one with more fields is read as it was written"
    )
    func registrations() throws {
        let plain = Samples.registration(5, 1)
        var several = plain
        several.otherSenders = [SenderID(7), SenderID(.max)]
        var instance = plain
        instance.instance = Array("fid".utf8)
        var web = plain
        web.web = Samples.keys(4)
        var all = several
        all.instance = instance.instance
        all.web = Samples.keys(5)
        var scope = all
        scope.scope = .only(Array("a".utf8))
        var (unnamed, everything) = (plain, all)
        unnamed.scope = .unnamed
        everything.scope = .all
        var apple = plain
        apple.apnsToken = Array("s_01".utf8)
        var told = plain
        told.appVersion = Array("36".utf8)
        var full = scope
        full.appVersion = told.appVersion
        let versions: [(Registration, UInt8)] = [
            (plain, 1), (several, 2), (instance, 2), (web, 3), (all, 3), (apple, 4), (told, 5),
            (scope, 4), (full, 5), (unnamed, 6), (everything, 6),
        ]
        let proved = versions.map { registration, _ in
            var proved = registration
            proved.isProved = true
            return (proved, UInt8(7))
        }
        for (registration, version) in versions + proved {
            var buffer = ByteBuffer()
            RegistryRecord.write(registration, to: &buffer)
            #expect(buffer.copied().first == version)
            #expect(try RegistryRecord.registration(buffer.bytes, registration.name) == registration)
        }
        var reported = full
        reported.apnsState.unknownSince = 7
        var ended = everything
        ended.isProved = true
        ended.apnsState.confirmedAt = 3
        ended.apnsState.mismatchedSince = 4
        ended.apnsState.end = APNsTokenState.End(
            verdict: APNsVerdict(status: 410, reason: "Unregistered", invalidSince: 5), seenAt: 6)
        for registration in [reported, ended] {
            var buffer = ByteBuffer()
            RegistryRecord.write(registration, to: &buffer)
            #expect(buffer.copied().first == 8)
            #expect(try RegistryRecord.registration(buffer.bytes, registration.name) == registration)
        }
        // The bytes of an older version.
        let old: [UInt8] = [1, 1, 0x61, 0, 2, 0x34, 0x32, 42, 9]
        var record = ByteBuffer()
        var sample = plain
        sample.category = [0x61]
        sample.createdAt = 9
        RegistryRecord.write(sample, to: &record)
        #expect(Array(record.copied().dropLast(4)) == old)
    }

    /// The ID that the token of a registration begins with.
    private static let prefix = TokenPrefix(Array("dGFzc3dvcmQ_aGVsbG8tdw".utf8))

    @Test("A registration, an upstream message and a group keep what their tokens begin with")
    func tokenPrefixes() throws {
        let prefix = try #require(Self.prefix)
        var registration = Samples.registration(5, 1)
        registration.instance = prefix.bytes
        var upstream = Samples.upstream(8, 9)
        var group = Samples.group(42, 3, members: 2)
        for hasPrefix in [false, true] {
            registration.isTokenPrefixed = hasPrefix
            upstream.tokenPrefix = hasPrefix ? prefix : nil
            group.members[1].prefix = hasPrefix ? prefix : nil
            var buffer = ByteBuffer()
            RegistryRecord.write(registration, to: &buffer)
            #expect((buffer.copied().first == 9) == hasPrefix)
            let read = try RegistryRecord.registration(buffer.bytes, registration.name)
            #expect(read == registration && read.tokenName.prefix == (hasPrefix ? prefix : nil))
            UpstreamRecord.write(upstream, to: &buffer)
            #expect(
                try UpstreamRecord.upstream(
                    buffer.bytes, sender: upstream.sender, sequence: upstream.sequence) == upstream)
            GroupCodec.write(group, to: &buffer)
            #expect(buffer.copied().first == (hasPrefix ? 2 : 1))
            #expect(try GroupCodec.group(buffer.bytes, group.name) == group)
            var feedback = APNsFeedback(
                sender: SenderID(42), seenAt: 7, registration: registration.name, bundle: [0x61],
                apnsToken: Array("p_a1".utf8), verdict: APNsVerdict(status: 410, reason: "Unregistered"))
            feedback.tokenPrefix = hasPrefix ? prefix : nil
            APNsRecord.write(feedback, to: &buffer)
            #expect(
                try APNsRecord.feedback(
                    buffer.bytes, sender: feedback.sender, seenAt: 7, registration.name) == feedback)
        }
    }

    @Test("A record is rejected whose token begins with something that is no ID")
    func badPrefixes() throws {
        let id = try #require(Self.prefix).bytes
        let bad = [UInt8(ascii: "-")] + id.dropFirst()
        func swapped(_ record: borrowing ByteBuffer, _ place: RecordIdentity) -> ByteBuffer {
            let bytes = Array(record.copied().dropLast(4))
            let at = bytes.indices.first { bytes[$0...].starts(with: id) } ?? 0
            var writer = RecordWriter(ByteBuffer(), version: bytes[0], place: place)
            for (index, byte) in bytes.enumerated().dropFirst() { writer.byte(index == at ? bad[0] : byte) }
            return writer.finish()
        }
        var registration = Samples.registration(5, 1)
        registration.instance = id
        registration.isTokenPrefixed = true
        var buffer = ByteBuffer()
        RegistryRecord.write(registration, to: &buffer)
        let first = swapped(buffer, RecordIdentity(.registration, 5, 1))
        #expect(throws: RecordFault.value) { try RegistryRecord.registration(first.bytes, registration.name) }
        var upstream = Samples.upstream(8, 9)
        upstream.tokenPrefix = Self.prefix
        UpstreamRecord.write(upstream, to: &buffer)
        let second = swapped(buffer, RecordIdentity(.upstream, 8, 9))
        #expect(throws: RecordFault.value) {
            try UpstreamRecord.upstream(second.bytes, sender: upstream.sender, sequence: upstream.sequence)
        }
        var group = Samples.group(42, 3)
        group.members[0].prefix = Self.prefix
        GroupCodec.write(group, to: &buffer)
        let third = swapped(buffer, RecordIdentity(.group, 42, 3))
        #expect(throws: RecordFault.value) { try GroupCodec.group(third.bytes, group.name) }
    }

    @Test("A registration is read with its scope, or as one from before scopes were recorded")
    func olderScopes() throws {
        for (text, scope) in [([], .unrecorded), ([0x61], .only([0x61]))] as [([UInt8], RegistrationScope)] {
            let name = RegistrationName(device: DeviceID(5), number: RegistrationNumber(1))
            var writer = RecordWriter(ByteBuffer(), version: 4, place: RecordIdentity(.registration, 5, 1))
            for field in [[0x61], [], [0x34]] as [[UInt8]] { writer.bytes(field) }
            writer.number(4)
            writer.signed(9)
            writer.bytes([])
            writer.number(0)
            writer.bytes(text)
            writer.bytes([0x73])
            writer.byte(0)
            let record = writer.finish()
            let registration = try RegistryRecord.registration(record.bytes, name)
            #expect(registration.scope == scope && registration.apnsToken == [0x73])
        }
    }

    @Test("An installation is read as it was written, and rejected under another ID")
    func installations() throws {
        let (first, second) = (Samples.installations[0], Samples.installations[1])
        for isEnded in [false, true] {
            let record = Samples.installation(first, usedAt: .min, isEnded: isEnded)
            var buffer = ByteBuffer()
            InstallationCodec.write(record, to: &buffer)
            #expect(try InstallationCodec.installation(buffer.bytes, first) == record)
            #expect(throws: RecordFault.checksum) {
                try InstallationCodec.installation(buffer.bytes, second)
            }
        }
    }

    @Test("A tally is read as it was written")
    func tally() throws {
        var tally = Tally()
        for (index, milestone) in Milestone.allCases.enumerated() {
            tally.downstream[milestone] = index * 1_000
            tally.upstream[milestone] = index + 7
        }
        var buffer = ByteBuffer()
        tally.write(of: 3, to: &buffer)
        #expect(try Tally(reading: buffer.bytes, of: 3) == tally)
        #expect(throws: RecordFault.checksum, "another partition's") {
            try Tally(reading: buffer.bytes, of: 4)
        }
    }

    @Test("A sender is read as it was written, and one of version 1 without SCRAM verifiers")
    func sender() throws {
        let sender = Samples.sender(42)
        var buffer = ByteBuffer()
        RegistryRecord.write(sender, to: &buffer)
        #expect(try RegistryRecord.sender(buffer.bytes, SenderID(42)) == sender)

        // The bytes of a version before SCRAM.
        let old = try #require(
            Hex.bytes(
                "0100064cc3a464656e80d095ffbc31022001010101010101010101010101010101010101"
                    + "0101010101010101010101010180d095ffbc31018088afa8bd3120020202020202020202"
                    + "020202020202020202020202020202020202020202020280d095ffbc31007ebaca0f"))
        var expected = sender
        for at in expected.keys.indices { expected.keys[at].scram = nil }
        #expect(try RegistryRecord.sender(old.raw, SenderID(42)) == expected)
        var damaged = old
        damaged[3] ^= 1
        #expect(throws: RecordFault.checksum, "the canary: the old record is checked, too") {
            try RegistryRecord.sender(damaged.raw, SenderID(42))
        }
    }

    @Test("A sender is read with its webhook in each state")
    func webhooks() throws {
        var sender = Samples.sender(42)
        for state in WebhookRecord.State.allCases {
            sender.webhook = WebhookRecord(
                url: "https://a.example/ü",
                secrets: [
                    WebhookRecord.Secret(
                        sealed: [1, 2, 3], createdAt: Samples.now, expiresAt: Samples.now + 1),
                    WebhookRecord.Secret(sealed: [4], createdAt: Samples.now),
                ], state: state, createdAt: Samples.now)
            var buffer = ByteBuffer()
            RegistryRecord.write(sender, to: &buffer)
            #expect(buffer.bytes.byte(at: 0) == 4)
            #expect(try RegistryRecord.sender(buffer.bytes, SenderID(42)) == sender)
        }
    }

    @Test("A sender is read with its project and accounts, and has the old encoding without them")
    func accounts() throws {
        var sender = Samples.sender(42)
        var plain = ByteBuffer()
        RegistryRecord.write(sender, to: &plain)
        #expect(plain.bytes.byte(at: 0) == 2)
        for project in ["", "a-project"] {
            for count in [0, 1, 2] where count > 0 || !project.isEmpty {
                sender.project = project
                sender.accounts = (0..<count).map {
                    ServiceAccount(
                        email: "a\($0)@p", keyID: "key\($0)", publicKey: [UInt8](repeating: 7, count: 294),
                        createdAt: Samples.now)
                }
                var buffer = ByteBuffer()
                RegistryRecord.write(sender, to: &buffer)
                #expect(buffer.bytes.byte(at: 0) == 3)
                #expect(try RegistryRecord.sender(buffer.bytes, SenderID(42)) == sender)
                var damaged = buffer.copied()
                damaged[damaged.count / 2] ^= 1
                #expect(throws: RecordFault.self, "the canary") {
                    try RegistryRecord.sender(damaged.raw, SenderID(42))
                }
            }
        }
    }
}
