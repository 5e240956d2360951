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
        "A message has a byte of flags and its fields in order")
    func delayedWhileIdle() throws {
        var plain = StoredMessage(
            device: DeviceID(5), sequence: SequenceNumber(9), salt: 3, registration: RegistrationNumber(7),
            sender: SenderID(42), messageID: [0x6d], acceptedAt: 1, expiresAt: 2, priority: .high,
            wantsReceipt: true, body: [8])
        // Without the checksum.
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

    @Test("A report has the number of its message in place of pairs")
    func reports() throws {
        var report = StoredMessage(
            device: DeviceID(5), sequence: SequenceNumber(9), salt: 3, registration: RegistrationNumber(7),
            sender: SenderID(42), kind: .sendError(of: SequenceNumber(0)), messageID: [0x6d], acceptedAt: 1,
            expiresAt: 2, body: [])
        // Without the checksum.
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

    @Test("A registration is read as it was written, with few and many fields")
    func registrations() throws {
        let plain = Samples.registration(5, 1)
        var samples = [plain]
        func sample(_ change: (inout Registration) -> Void) {
            for base in [plain, samples[samples.count - 1]] {
                var changed = base
                change(&changed)
                samples.append(changed)
            }
        }
        sample { $0.otherSenders = [SenderID(7), SenderID(.max)] }
        sample { $0.instance = Array("fid".utf8) }
        sample { $0.web = Samples.keys(4) }
        sample { $0.apnsToken = Array("s_01".utf8) }
        sample { $0.appVersion = Array("36".utf8) }
        sample { $0.isProved = true }
        for scope in [.unnamed, .all, .unrecorded, .only(Array("a".utf8))] as [RegistrationScope] {
            sample { $0.scope = scope }
        }
        sample { $0.apnsState.unknownSince = 7 }
        sample {
            $0.apnsState.confirmedAt = 3
            $0.apnsState.mismatchedSince = 4
            $0.apnsState.end = APNsTokenState.End(
                verdict: APNsVerdict(status: 410, reason: "Unregistered", invalidSince: 5), seenAt: 6)
        }
        for registration in samples {
            var buffer = ByteBuffer()
            RegistryRecord.write(registration, to: &buffer)
            #expect(try RegistryRecord.registration(buffer.bytes, registration.name) == registration)
        }
        #expect(
            samples.contains { $0.web != nil && $0.isProved && $0.apnsState.end != nil },
            "canary: one has all")
    }

    @Test("A device is read as it was written")
    func devices() throws {
        for hasLoggedIn in [false, true] {
            var device = Samples.device(5)
            device.hasLoggedIn = hasLoggedIn
            var buffer = ByteBuffer()
            RegistryRecord.write(device, to: &buffer)
            #expect(try RegistryRecord.device(buffer.bytes, DeviceID(5)) == device)
        }
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
            let read = try RegistryRecord.registration(buffer.bytes, registration.name)
            #expect(read == registration && read.tokenName.prefix == (hasPrefix ? prefix : nil))
            UpstreamRecord.write(upstream, to: &buffer)
            #expect(
                try UpstreamRecord.upstream(
                    buffer.bytes, sender: upstream.sender, sequence: upstream.sequence) == upstream)
            GroupCodec.write(group, to: &buffer)
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

    @Test("A sender is read as it was written")
    func sender() throws {
        let sender = Samples.sender(42)
        #expect(
            sender.keys.contains { $0.scram != nil } && sender.keys.contains { $0.scram == nil }, "canary")
        var buffer = ByteBuffer()
        RegistryRecord.write(sender, to: &buffer)
        #expect(try RegistryRecord.sender(buffer.bytes, SenderID(42)) == sender)
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
            #expect(try RegistryRecord.sender(buffer.bytes, SenderID(42)) == sender)
        }
    }

    @Test("A sender is read with its project and accounts")
    func accounts() throws {
        var sender = Samples.sender(42)
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
