import Basics
import Delivery
import Testing

@testable import Store

/// Records of topic messages with a valid checksum: what is read, and what is rejected.
@Suite struct TopicRecordTests {
    private func written(_ write: (inout ByteBuffer) -> Void) -> [UInt8] {
        var buffer = ByteBuffer()
        write(&buffer)
        return buffer.copied()
    }

    /// Returns a record of some fields with a valid checksum.
    private func sealed(_ place: RecordIdentity, _ write: (inout RecordWriter) -> Void) -> [UInt8] {
        var writer = RecordWriter(ByteBuffer(), version: 1, place: place)
        write(&writer)
        return writer.finish().copied()
    }

    @Test("An entry of a topic log has its kind, its message and the fields of this in order")
    func entries() throws {
        func read(_ kind: [UInt8], topics: UInt64 = 1, name: String = "news", truth: UInt64? = nil) throws
            -> TopicEntry
        {
            let bytes = sealed(RecordIdentity(.topicEntry, 3, 7)) { writer in
                for byte in kind { writer.byte(byte) }
                for number in [42, 6] as [UInt64] { writer.number(number) }
                writer.byte(truth == nil ? 64 : 32)
                for number in [9, 2, 5] as [UInt64] { writer.number(number) }
                writer.bytes([0x6d])
                if let truth { writer.number(truth) }
                writer.number(topics)
                for _ in 0..<topics { writer.bytes(Array(name.utf8)) }
            }
            let entry = try TopicRecord.entry(bytes.raw, SequenceNumber(7), of: 3)
            #expect(written { TopicRecord.write(entry, of: 3, to: &$0) } == bytes)
            return entry
        }
        let message = TopicMessage(
            name: Samples.topicName(42, 6), salt: 9, target: TopicTarget(Samples.topics[0]),
            messageID: [0x6d],
            acceptedAt: 2, expiresAt: 5, body: [], apns: [])
        #expect(try read([0]) == TopicEntry(sequence: SequenceNumber(7), message: message))
        #expect(try read([1, 0xac, 2, 6]).kind == .discarded(count: 300, through: SequenceNumber(6)))
        #expect(throws: RecordFault.value) { try read([2]) }
        let tooLarge = [UInt8](repeating: 0xff, count: 9) + [1]
        #expect(throws: RecordFault.value) { try read([1] + tooLarge) }
        #expect(throws: RecordFault.value) { try read([0], topics: 0) }
        #expect(throws: RecordFault.value) { try read([0], topics: 2) }
        #expect(throws: RecordFault.value) { try read([0], name: "") }
        let most = UInt64(Limits.Topic.conditionTests)
        #expect(try read([0], topics: most, truth: 0xffff_ffff).message.target.isCondition)
        #expect(throws: RecordFault.value) { try read([0], topics: most + 1, truth: 1) }
        #expect(throws: RecordFault.value) { try read([0], truth: 1 << 32) }
    }

    @Test("What has become of an entry is rejected when it is neither offered nor not offered")
    func progress() throws {
        func read(_ flag: UInt8) throws -> TopicProgress {
            let bytes = sealed(RecordIdentity(.topicProgress, 3, 7)) { writer in
                writer.number(.max)
                writer.byte(flag)
            }
            return try TopicRecord.progress(bytes.raw, SequenceNumber(7), of: 3)
        }
        #expect(try read(0) == TopicProgress(reached: .max) && read(1).isOffered)
        #expect(throws: RecordFault.value) { try read(2) }
    }

    @Test("A message is read with all fields and without its pairs, and its pairs with their path")
    func messages() throws {
        let condition = try #require(TopicTarget(topics: Samples.topics, truth: .max))
        for target in [TopicTarget(Samples.topics[0]), condition] {
            for sequence in [1, 2] as [UInt64] {
                var message = Samples.topicMessage(.max, sequence, target: target)
                (message.collapseKey, message.restrictedPackage) = ([], Array("app".utf8))
                (message.priority, message.wantsReceipt, message.delaysWhileIdle) = (.high, true, true)
                (message.acceptedAt, message.expiresAt, message.salt) = (.min, .max, .max)
                let bytes = written { TopicRecord.write(message, to: &$0) }
                let body = written { SharedBodyRecord.write(message.shared, to: &$0) }
                let shared = try SharedBodyRecord.body(body.raw, .topic(message.name))
                #expect(shared.body == message.body && shared.apns == message.apns)
                #expect(shared.reference == SharedReference(.topic(message.name), path: target.path))
                message.body = []
                message.apns = message.apns.map { _ in [] }
                #expect(try TopicRecord.message(bytes.raw, message.name) == message)
            }
        }
    }
}
