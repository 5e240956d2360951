import Basics
import Delivery
import Store

/// For any content with a valid checksum: each kind of record is either refused, or has a value that is encoded as the same
/// bytes.
///
/// The first byte selects the kind; the remainder is the record without its checksum, which is appended.
func fuzzRecords(_ input: [UInt8]) throws(Violation) {
    guard let first = input.first else { return }
    let content = Array(input.dropFirst())
    let kind = RecordKind.all[Int(first) % RecordKind.all.count]
    let record = content + kind.checksum(of: content)
    let rewritten = kind.rewritten(record)
    FuzzReach.record(
        "\(kind.name) \(rewritten == nil ? "refused" : kind.isOlder(record) ? "of an older version" : "taken")"
    )
    guard let again = rewritten else { return }
    // An older version of ccsd wrote fewer fields; such a record is read, and written in the current format.
    if kind.isOlder(record) {
        try demand(
            kind.rewritten(again) == again, "the encoding of a \(kind.name) of an older version is not stable"
        )
    } else {
        try demand(
            again == record, "re-encoding changed a \(kind.name): \(Hex.text(record)) \(Hex.text(again))")
    }
    let at = Int(seed(of: input) % UInt64(record.count))
    var damaged = record
    damaged[at] ^= 1 + first & 0x7F
    try demand(kind.rewritten(damaged) == nil, "a \(kind.name) damaged at \(at) was accepted")
}

/// A kind of record under a fixed key: decodes and re-encodes it.
private struct RecordKind: Sendable {
    var name: String
    /// The number of the kind in the checksum, as a literal, so that a change of the format is detected.
    var number: UInt64
    var high: UInt64 = 5
    var low: UInt64 = 9
    var isOlder: @Sendable ([UInt8]) -> Bool = { _ in false }
    /// Returns the re-encoded value of a record, or `nil` if the record is refused.
    var rewritten: @Sendable ([UInt8]) -> [UInt8]?

    /// Returns the four bytes after a record.
    func checksum(of content: [UInt8]) -> [UInt8] {
        let hash = SipHash(key: (high ^ (number &* 0x9e37_79b9_7f4a_7c15), low)).hash(content.raw)
        return (0..<4 as Range<UInt64>).map { UInt8(truncatingIfNeeded: hash >> (8 * $0)) }
    }

    private static func written(_ write: (inout ByteBuffer) -> Void) -> [UInt8] {
        var buffer = ByteBuffer()
        write(&buffer)
        return buffer.copied()
    }

    private static let registration = RegistrationName(device: DeviceID(5), number: RegistrationNumber(9))
    private static let topicMessage = TopicMessageName(sender: SenderID(5), sequence: SequenceNumber(9))

    static let all: [RecordKind] = mailboxes + registry + topics + [installation, feedback]

    private static let mailboxes = [
        RecordKind(name: "message", number: 1) { record in
            guard
                let message = try? MessageRecord.message(
                    record.raw, device: DeviceID(5), sequence: SequenceNumber(9)),
                let entry = try? MessageRecord.entry(
                    record.raw, device: DeviceID(5), sequence: SequenceNumber(9)),
                let header = try? MessageRecord.header(
                    record.raw, device: DeviceID(5), sequence: SequenceNumber(9)),
                entry == MailboxEntry(message), header.expiresAt == message.expiresAt,
                header.isCounted == (message.kind == .message)
            else { return nil }
            return written { MessageRecord.write(message, to: &$0) }
        },
        RecordKind(name: "upstream message", number: 2) { record in
            guard
                let message = try? UpstreamRecord.upstream(
                    record.raw, sender: SenderID(5), sequence: SequenceNumber(9)),
                let header = try? UpstreamRecord.header(
                    record.raw, sender: SenderID(5), sequence: SequenceNumber(9)),
                header.expiresAt == message.expiresAt, header.isCounted == (message.kind == .message)
            else { return nil }
            return written { UpstreamRecord.write(message, to: &$0) }
        },
        RecordKind(
            name: "tally", number: 6, high: 0, low: 0,
            isOlder: { $0.count > 1 && Int($0[1]) < Milestone.allCases.count },
            rewritten: { record in
                (try? Tally(reading: record.raw, of: 0)).map { tally in
                    written { tally.write(of: 0, to: &$0) }
                }
            }),
    ]

    private static let registry = [
        RecordKind(name: "device", number: 3, low: 0) { record in
            (try? RegistryRecord.device(record.raw, DeviceID(5))).map { device in
                written { RegistryRecord.write(device, to: &$0) }
            }
        },
        RecordKind(name: "registration", number: 4) { record in
            (try? RegistryRecord.registration(record.raw, registration)).map { found in
                written { RegistryRecord.write(found, to: &$0) }
            }
        },
        RecordKind(name: "sender", number: 5, low: 0) { record in
            (try? RegistryRecord.sender(record.raw, SenderID(5))).map { sender in
                written { RegistryRecord.write(sender, to: &$0) }
            }
        },
        RecordKind(name: "group", number: 8) { record in
            (try? GroupCodec.group(record.raw, GroupName(sender: SenderID(5), number: 9))).map { group in
                written { GroupCodec.write(group, to: &$0) }
            }
        },
        RecordKind(name: "subscription", number: 7) { record in
            guard let topic = TopicName(Array("news".utf8)) else { return nil }
            return (try? SubscriptionRecord.subscription(record.raw, registration, SenderID(5), topic)).map {
                found in written { SubscriptionRecord.write(found, to: &$0) }
            }
        },
    ]

    /// The key of an installation is a hash of its ID.
    private static let installation = {
        let id = FuzzWorld.installation
        let place = SipHash(key: (0x6363_7364, 0x696e_7374)).hash128(id.raw)
        return RecordKind(name: "installation", number: 12, high: place.0, low: place.1) { record in
            (try? InstallationCodec.installation(record.raw, FuzzWorld.installation)).map { found in
                written { InstallationCodec.write(found, to: &$0) }
            }
        }
    }()

    private static let feedback = RecordKind(name: "feedback", number: 13) { record in
        (try? APNsRecord.feedback(record.raw, sender: SenderID(5), seenAt: 9, registration)).map { entry in
            written { APNsRecord.write(entry, to: &$0) }
        }
    }

    private static let topics = [
        RecordKind(name: "message to topics", number: 9) { record in
            (try? TopicRecord.message(record.raw, topicMessage)).map { found in
                written { TopicRecord.write(found, to: &$0) }
            }
        },
        RecordKind(name: "entry of a topic log", number: 14) { record in
            (try? TopicRecord.entry(record.raw, SequenceNumber(9), of: 5)).map { entry in
                written { TopicRecord.write(entry, of: 5, to: &$0) }
            }
        },
        RecordKind(name: "progress in a topic log", number: 10) { record in
            (try? TopicRecord.progress(record.raw, SequenceNumber(9), of: 5)).map { progress in
                written { TopicRecord.write(progress, at: SequenceNumber(9), of: 5, to: &$0) }
            }
        },
    ]
}
