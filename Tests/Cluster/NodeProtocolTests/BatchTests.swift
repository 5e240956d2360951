import Basics
import Delivery
import Store
import Testing

@testable import NodeProtocol

@Suite struct BatchTests {
    @Test("every mutation is read as it was written", arguments: MutationCase.allCases)
    func eachMutation(_ number: MutationCase) throws {
        var values = RandomValues(seed: UInt64(number.rawValue))
        for _ in 0..<200 {
            let batch = values.batch([values.mutation(number)])
            let bytes = try entries([batch])
            let read = try batches(in: bytes)
            #expect(read.count == 1 && isEqual(read[0], batch))
            #expect(try entries(read) == bytes)
        }
    }

    @Test("batches are read in their order, also none, and also without mutations")
    func order() throws {
        var values = RandomValues(seed: 7)
        #expect(try batches(in: entries([])).isEmpty)
        for _ in 0..<200 {
            let written = [values.batch([])] + values.list(upTo: 10) { $0.batch() }
            let read = try batches(in: entries(written))
            #expect(read.count == written.count && zip(read, written).allSatisfy { isEqual($0, $1) })
        }
    }

    @Test("canary: a batch differs from one in which a single field is different")
    func canary() throws {
        var values = RandomValues(seed: 8)
        // No partition owns it, so that another partition may write it.
        let batch = values.batch([values.mutation(.putMark)])
        #expect(isEqual(batch, batch))
        let changes: [(inout WriteBatch) -> Void] = [
            { $0.batchNumber &+= 1 }, { $0.isDurable.toggle() }, { $0.mutations = [] },
            { $0.partition = ($0.partition ?? 0) + 1 },
            { $0.newestSequence = SequenceNumber(($0.newestSequence?.number ?? 0) &+ 1) },
        ]
        for change in changes {
            var other = batch
            change(&other)
            #expect(!isEqual(batch, other))
            #expect(try entries([batch]) != entries([other], partitions: 9))
        }
    }

    @Test(
        "a batch with a row of another partition is refused, whatever the row",
        arguments: MutationCase.allCases)
    func foreignRows(_ number: MutationCase) throws {
        var values = RandomValues(seed: 40 + UInt64(number.rawValue))
        var owned = 0
        for _ in 0..<40 {
            let mutation = values.mutation(number, partitions: 16)
            guard let owner = mutation.owner else { continue }
            owned += 1
            var batch = WriteBatch(
                batchNumber: 1, mutations: [mutation], isDurable: true,
                partition: owner.partition(of: 16))
            let bytes = try entries([batch], partitions: 16)
            #expect(try isEqual(batches(in: bytes)[0], batch))
            batch.partition = (owner.partition(of: 16) + 1) % 16
            // As in a release: a broken invariant is an error, not the end of the process.
            #expect(throws: StoreError.self) {
                try StoreInvariants.$trapsWhenBroken.withValue(false) { try entries([batch], partitions: 16) }
            }
        }
        #expect(owned > 0 || number == .putMark)
    }

    @Test("a message that shares a body is written without it, as in the store")
    func shared() throws {
        var values = RandomValues(seed: 1)
        let name = values.messageName()
        var message = values.message(shared: SharedReference(.topic(name), path: Array("/topics/a".utf8)))
        message.fields = MessageFields(messageID: [1], body: [2, 3], apns: [4])
        let bytes = try entries([values.batch([.putMessage(message)])])
        guard case .putMessage(let read)? = try batches(in: bytes).first?.mutations.first else {
            Issue.record("no message")
            return
        }
        message.fields = MessageFields(messageID: [1], body: [], apns: [])
        message.shared = SharedReference(withoutBodyOf: .topic(name))
        #expect(read == message)
    }

    @Test("a batch that no store could take is not written")
    func unstorable() throws {
        var values = RandomValues(seed: 6)
        var message = values.message()
        message.sequence = SequenceNumber(0)
        let bad: [(Mutation, Int?)] = [
            (.putMessage(message), nil), (.linkInstallation([1], values.name()), nil),
            (.removeMessage(DeviceID(1), SequenceNumber(1), expiresAt: 1, reason: .accepted), nil),
            (.removeDevice(DeviceID(1)), 1),
        ]
        for (mutation, partition) in bad {
            var writer = BatchWriter(partitions: 1)
            let batch = WriteBatch(
                batchNumber: 1, mutations: [mutation], isDurable: true, partition: partition)
            var error: StoreError?
            StoreInvariants.$trapsWhenBroken.withValue(false) {
                do throws(StoreError) { _ = try writer.append(batch) } catch let thrown { error = thrown }
            }
            #expect(error?.kind == .invariant && writer.count == 0 && writer.bytes.byteCount == 1)
        }
    }

    @Test("the connection that a receipt prefers is not written, as in the store")
    func requester() throws {
        var values = RandomValues(seed: 2)
        var receipt = values.upstream()
        receipt.requester = values.connection()
        let read = try batches(in: entries([values.batch([.putUpstream(receipt, now: 5)])]))
        receipt.requester = nil
        #expect(read.first?.mutations == [.putUpstream(receipt, now: 5)])
    }

    @Test("damaged entries are refused, or read as other batches, which are written as the same bytes")
    func damage() throws {
        var values = RandomValues(seed: 3)
        var refused = 0
        var read = 0
        for number in MutationCase.allCases {
            let bytes = try entries([values.batch([values.mutation(number)])])
            for bad in bytes.damaged {
                guard let found = try? batches(in: bad) else {
                    refused += 1
                    continue
                }
                read += 1
                // What the store would refuse is not written.
                let written = StoreInvariants.$trapsWhenBroken.withValue(false) {
                    try? entries(found, partitions: 1_024)
                }
                guard let again = written else { continue }
                #expect(again == bad, "\(number)")
            }
        }
        #expect(refused > 1_000 && read > 100, "\(refused) were refused, \(read) were read")
    }

    @Test("a version that this build does not know is refused, and empty entries too")
    func version() throws {
        let bytes = try entries([])
        #expect(bytes == [1])
        for version in [0, 2, 255] as [UInt8] {
            #expect(throws: NodeProtocolFault.version(version)) { try batches(in: [version]) }
        }
        #expect(throws: NodeProtocolFault.truncated) { try batches(in: [UInt8]()) }
    }

    @Test("what a batch cannot be is refused by name")
    func invalid() {
        let faults: [([UInt8], NodeProtocolFault)] = [
            ([1, 8], .value(of: "flags of a batch")),
            ([1, 0, 1, 1, 0], .truncated),
            ([1, 0, 1, 1, 0, 5], .unknownCase(of: "mutation", number: 0)),
            ([1, 0, 1, 1, 27, 5], .unknownCase(of: "mutation", number: 27)),
            ([1, 0, 1, 1, 17, 5], .unknownCase(of: "mutation", number: 17)),
            ([1, 0, 1, 1, 42, 5], .unknownCase(of: "mutation", number: 42)),
            ([1, 0, 1, 1, 33, 0x80, 8, 5], .value(of: "partition")),
            ([1, 0, 1, 1, 34, 0, 0x80, 8, 5], .value(of: "partition")),
            ([1, 0, 1, 1, 12, 1, 1, 0, 11], .unknownCase(of: "milestone", number: 11)),
            ([1, 0, 1, 1, 28, 3, 0], .unknownCase(of: "mark", number: 3)),
            ([1, 0, 0x80, 0], .value(of: "number")),
            ([1, 0, 1, 1, 4, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 2], .value(of: "number")),
            ([1, 2, 1, 0x80, 8], .value(of: "partition")),
            ([1, 0, 1, 0x81, 0x80, 4], .tooLong("mutations", length: 65_537, limit: 65_536)),
            ([1, 0, 1, 2, 4, 1], .truncated),
            ([1, 0, 1, 1, 3, 1, 1, 0], .truncated),
            ([1, 0, 1, 1, 10, 3, 1, 1], .truncated),
            ([1, 0, 1, 1, 11, 1, 1, 1, 1], .record(.length)),
        ]
        for (bytes, fault) in faults {
            #expect(throws: fault, "\(bytes)") { try batches(in: bytes) }
        }
    }

    @Test("a batch that exceeds the limit is left out, and the entries stay as they were")
    func limit() throws {
        var values = RandomValues(seed: 4)
        let (first, second) = (values.batch(), values.batch([.putDevice(values.deviceRecord())]))
        let one = try entries([first])
        let both = try entries([first, second])
        let alone = try entries([second])
        let none = try entries([])
        for limit in one.count...both.count {
            var writer = BatchWriter(partitions: 1, limit: limit)
            let isFirst = try writer.append(first)
            let isSecond = try writer.append(second)
            #expect(isFirst && isSecond == (limit == both.count))
            #expect(writer.count == (isSecond ? 2 : 1))
            #expect([UInt8](copying: writer.bytes) == (isSecond ? both : one))
            writer.removeAll()
            #expect(writer.count == 0)
            let again = try writer.append(second)
            #expect(again == (limit >= alone.count))
            #expect([UInt8](copying: writer.bytes) == (again ? alone : none))
        }
    }

    @Test("a frame has a limit of batches, and a batch one of mutations")
    func counts() throws {
        let empty = WriteBatch(batchNumber: 1, mutations: [], isDurable: false)
        var writer = BatchWriter(partitions: 1)
        for _ in 0..<Limits.NodeProtocol.batchesPerFrame { _ = try writer.append(empty) }
        let full = [UInt8](copying: writer.bytes)
        let takesMore = try writer.append(empty)
        #expect(!takesMore)
        #expect(try batches(in: full).count == 4_096)
        #expect(throws: NodeProtocolFault.tooLong("the batches of a frame", length: 4_097, limit: 4_096)) {
            try batches(in: full + [0, 1, 0])
        }
        let most = Limits.NodeProtocol.mutationsPerBatch
        let many = [Mutation](repeating: .removeDevice(DeviceID(1)), count: most + 1)
        writer.removeAll()
        let takesLonger = try writer.append(WriteBatch(batchNumber: 1, mutations: many, isDurable: false))
        let longest = WriteBatch(batchNumber: 1, mutations: many.dropLast(), isDurable: false)
        let takesLongest = try writer.append(longest)
        #expect(!takesLonger && takesLongest)
        #expect(try NodeProtocol.batches(writer.bytes).first?.mutations.count == most)
        let limit = Limits.NodeProtocol.entriesBytes
        #expect(
            throws: NodeProtocolFault.tooLong("the entries of a frame", length: limit + 1, limit: limit)
        ) { try batches(in: [UInt8](repeating: 1, count: limit + 1)) }
    }

    @Test("the bytes of a batch stay as they are")
    func golden() throws {
        let message = StoredMessage(
            device: DeviceID(5), sequence: SequenceNumber(300), salt: 7, registration: RegistrationNumber(2),
            sender: SenderID(42), messageID: [0x6d], acceptedAt: 1, expiresAt: 2, priority: .high,
            wantsReceipt: true, body: [8])
        let batch = WriteBatch(
            batchNumber: 9,
            mutations: [
                .putMessage(message),
                .removeMessage(DeviceID(5), SequenceNumber(6), expiresAt: -1, reason: .replaced),
            ], isDurable: true, partition: 0)
        let bytes = try entries([batch])
        #expect(
            Hex.text(bytes)
                == "01070900ac02020b05ac020f010c0207022a01016d01083d6c66770c05060105")
    }
}
