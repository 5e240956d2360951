import Basics
import Delivery
import Store
import Testing

/// The store contract, for every store.
@Suite struct StoreContractTests {
    @Test("A mailbox returns messages as they were put, in order of sequence", arguments: Kind.allCases)
    func messagesReturn(_ kind: Kind) throws {
        let opened = try open(kind)
        let store = opened.store
        let marker = Samples.message(5, 30, kind: .discardedMarker(count: 101), body: [])
        let messages = [
            Samples.message(5, 9, key: "k"), Samples.message(5, 300, body: Array(repeating: 7, count: 5_000)),
            marker, Samples.message(5, .max, key: ""), Samples.message(5, 1),
        ]
        for message in messages { try store.apply(.putMessage(message)) }
        try store.apply(.putMessage(Samples.message(4, 2)), .putMessage(Samples.message(6, 2)))
        let expected = messages.sorted { $0.sequence < $1.sequence }
        #expect(try store.mailbox(5) == expected)
        #expect(try store.state(5)?.mailbox == expected.map { MailboxEntry($0) })
        #expect(try store.mailbox(5, after: 9) == Array(expected[2...]))
        #expect(try store.mailbox(7).isEmpty)
    }

    @Test("A mark is stored as a setting by a commit that is not durable", arguments: Kind.allCases)
    func marks(_ kind: Kind) throws {
        let opened = try open(kind)
        let store = opened.store
        #expect(try store.setting(StoreMark.clock.rawValue) == nil)
        for number in [1, .max, 1_700_000_000_000] as [UInt64] {
            let batch = WriteBatch(batchNumber: 1, mutations: [.putMark(.clock, number)], isDurable: false)
            #expect(try store.commit([batch]) == [CommitOutcome(batchNumber: 1)])
            #expect(try store.setting(StoreMark.clock.rawValue).map(StoreMark.number) == number)
        }
        #expect(try store.setting(StoreMark.sequence.rawValue) == nil)
    }

    @Test("A page has a flag for whether messages follow", arguments: Kind.allCases)
    func pagesEnd(_ kind: Kind) throws {
        let opened = try open(kind)
        let store = opened.store
        for sequence in 1...5 as ClosedRange<UInt64> {
            try store.apply(
                .putMessage(Samples.message(5, sequence)),
                .putUpstream(Samples.upstream(8, sequence), now: Samples.now))
        }
        for (limit, after, count, last) in [
            (4, 0, 4, false), (5, 0, 5, true), (9, 3, 2, true), (0, 0, 0, false),
        ] {
            let load = try store.load(
                .messages(DeviceID(5), after: SequenceNumber(UInt64(after)), limit: limit))
            guard case .messages(DeviceID(5), let page, last) = load else {
                Issue.record("\(limit) after \(after): \(load)")
                continue
            }
            #expect(page.count == count)
            guard
                case .upstream(SenderID(8), let upstream, last) = try store.load(
                    .upstream(SenderID(8), after: SequenceNumber(UInt64(after)), limit: limit))
            else {
                Issue.record("upstream \(limit) after \(after)")
                continue
            }
            #expect(upstream.count == count)
        }
    }

    @Test("A store neither changes nor counts a message that is put again", arguments: Kind.allCases)
    func putIsIdempotent(_ kind: Kind) throws {
        let opened = try open(kind)
        let store = opened.store
        let first = Samples.message(5, 1)
        try store.apply(.putMessage(first), .putMessage(first))
        try store.apply(.putMessage(first))
        for _ in 0..<2 { try store.apply(.putUpstream(Samples.upstream(8, 1), now: Samples.now)) }
        #expect(try store.mailbox(5) == [first])
        #expect(try store.outbox(8) == [Samples.upstream(8, 1)])
        let audit = try store.audit()
        #expect(audit.downstream.accepted == 1)
        #expect(audit.upstream.accepted == 1)
        #expect(audit.holds)
    }

    @Test("A removal counts its reason once, and never for markers and receipts", arguments: Kind.allCases)
    func removalsCount(_ kind: Kind) throws {
        let opened = try open(kind)
        let store = opened.store
        let reasons: [Milestone] = [.delivered, .replaced, .expired, .discarded, .removed, .forwarded]
        for (index, reason) in reasons.enumerated() {
            let sequence = UInt64(index + 1)
            let end = Samples.now + Samples.day
            try store.apply(
                .putMessage(Samples.message(5, sequence)),
                .putUpstream(Samples.upstream(8, sequence), now: Samples.now))
            for _ in 0..<2 {
                try store.apply(
                    .removeMessage(DeviceID(5), SequenceNumber(sequence), expiresAt: end, reason: reason),
                    .removeMessage(DeviceID(5), SequenceNumber(sequence), expiresAt: end, reason: reason),
                    .removeUpstream(SenderID(8), SequenceNumber(sequence), expiresAt: end, reason: reason),
                    durable: false)
            }
        }
        try store.apply(
            .putMessage(Samples.message(5, 90, kind: .discardedMarker(count: 3))),
            .putUpstream(Samples.upstream(8, 90, kind: .receipt(sentAt: 5)), now: Samples.now))
        #expect(try store.audit().downstreamPending == 0)
        try store.apply(
            .removeMessage(DeviceID(5), SequenceNumber(90), expiresAt: 0, reason: .delivered),
            .removeUpstream(SenderID(8), SequenceNumber(90), expiresAt: 0, reason: .delivered))
        let audit = try store.audit()
        for reason in reasons {
            #expect(audit.downstream[reason] == 1, "\(reason)")
            #expect(audit.upstream[reason] == 1, "\(reason)")
        }
        #expect(audit.downstream.accepted == 6 && audit.upstream.accepted == 6)
        #expect(audit.holds)
        #expect(try store.expired(by: .max).isEmpty)
    }

    @Test("A message put and removed in one batch leaves only its counts", arguments: Kind.allCases)
    func putAndRemove(_ kind: Kind) throws {
        let opened = try open(kind)
        let store = opened.store
        try store.apply(
            .putMessage(Samples.message(5, 1)),
            .removeMessage(DeviceID(5), SequenceNumber(1), expiresAt: 0, reason: .replaced),
            .putMessage(Samples.message(5, 2)))
        #expect(try store.mailbox(5).map(\.sequence.number) == [2])
        let audit = try store.audit()
        #expect(audit.downstream.accepted == 2 && audit.downstream.replaced == 1)
        #expect(audit.holds)
        #expect(try store.expired(by: .max).count == 1)
    }

    @Test(
        "A store reports a repeated upstream message and does not put it, within a day",
        arguments: Kind.allCases)
    func repeatsAreKept(_ kind: Kind) throws {
        let opened = try open(kind)
        let store = opened.store
        let memory = Int64(Limits.Message.upstreamMemorySeconds) * 1_000
        func put(_ sequence: UInt64, _ id: String, device: UInt64 = 5, category: String = "a", at now: Int64)
            throws -> Bool
        {
            let message = Samples.upstream(8, sequence, device: device, persistentID: id, category: category)
            let outcome = try store.apply(.putUpstream(message, now: now), batchNumber: sequence)
            #expect(outcome.batchNumber == sequence && !outcome.hasFailed)
            guard let duplicate = outcome.duplicates.first else { return true }
            #expect(outcome.duplicates.count == 1 && duplicate == (SenderID(8), SequenceNumber(sequence)))
            return false
        }
        #expect(try put(1, "p", at: 1_000))
        #expect(try !put(2, "p", at: 1_001))
        #expect(try put(3, "p", device: 6, at: 1_001))
        #expect(try put(4, "p", category: "b", at: 1_001))
        #expect(try put(5, "q", at: 1_001))
        #expect(try put(6, "", at: 1_001))
        #expect(try put(7, "", at: 1_001))
        try store.apply(.removeUpstream(SenderID(8), SequenceNumber(1), expiresAt: 0, reason: .delivered))
        #expect(try !put(8, "p", at: 1_000 + memory - 1))
        #expect(try put(9, "p", at: 1_000 + memory))
        #expect(try !put(10, "p", at: 1_000 + memory + 5))
        let both = try store.apply(
            .putUpstream(Samples.upstream(8, 20, persistentID: "twice"), now: 0),
            .putUpstream(Samples.upstream(8, 21, persistentID: "twice"), now: 0))
        #expect(both.duplicates.map(\.1.number) == [21])
        #expect(try store.audit().holds)
        #expect(try store.outbox(8).map(\.sequence.number) == [3, 4, 5, 6, 7, 9, 20])
    }

    @Test(
        "An upstream message is new when an ID is reused with other content or for another sender",
        arguments: Kind.allCases)
    func idsAloneRepeatNothing(_ kind: Kind) throws {
        let opened = try open(kind)
        let store = opened.store
        func put(
            _ sequence: UInt64, to sender: UInt64 = 8, messageID: String = "1", body: [UInt8] = [1]
        ) throws -> Bool {
            let message = Samples.upstream(
                sender, sequence, persistentID: "1", messageID: messageID, body: body)
            return try store.apply(.putUpstream(message, now: 1_000)).duplicates.isEmpty
        }
        #expect(try put(1))
        #expect(try put(2, body: [2]))
        #expect(try put(3, messageID: "2"))
        #expect(try put(4, to: 9))
        #expect(try !put(5))
        #expect(try !put(6, body: [2]))
        #expect(try !put(7, to: 9))
        #expect(try store.outbox(8).map(\.sequence.number) == [1, 2, 3])
        #expect(try store.outbox(9).map(\.sequence.number) == [4])
    }

    @Test(
        "The report of an expired message and the end of the message are changes of their own, in any order between them",
        arguments: Kind.allCases)
    func returns(_ kind: Kind) throws {
        let message = Samples.upstream(8, 30, ends: 100)
        let report = Samples.message(5, 40, kind: .sendError(of: SequenceNumber(30)), body: [])
        let put = Mutation.putUpstream(message, now: 0)
        let end = Mutation.removeUpstream(
            SenderID(8), SequenceNumber(30), expiresAt: 100, reason: .expired)
        // As nodes apply the logs of two partitions: in the order of their owners, or one log before the other.
        for order in [
            [put, .putMessage(report), end], [.putMessage(report), put, end],
            [put, end, .putMessage(report)],
        ] {
            let opened = try open(kind)
            let store = opened.store
            for mutation in order {
                #expect(try store.apply(mutation).duplicates.isEmpty)
                if mutation == put {
                    #expect(
                        try store.expired(by: 200, limit: 9)
                            == [
                                .upstream(
                                    SenderID(8), SequenceNumber(30), expiresAt: 100, author: message.author)
                            ])
                }
            }
            #expect(try store.outbox(8).isEmpty && store.mailbox(5) == [report])
            #expect(try store.state(5)?.mailbox == [MailboxEntry(report)])
            let audit = try store.audit()
            #expect(audit.upstream.expired == 1 && audit.upstreamPending == 0)
            #expect(audit.downstream.accepted == 0 && audit.downstreamPending == 0 && audit.holds)
        }
    }

    @Test("A sweep returns expired entries, earliest first, up to its limit", arguments: Kind.allCases)
    func endsInOrder(_ kind: Kind) throws {
        let opened = try open(kind)
        let store = opened.store
        func expect(_ by: Int64, _ limit: Int, _ times: [Int64]) throws {
            let found = try store.expired(by: by, limit: limit).map { entry in
                switch entry {
                case .message(_, _, let end), .upstream(_, _, let end, _), .sharedBody(_, _, let end),
                    .scheduled(_, _, let end):
                    end
                }
            }
            #expect(found == times)
        }
        try expect(1_000, 10, [])
        try store.apply(
            .putMessage(Samples.message(5, 1, ends: 300)), .putMessage(Samples.message(5, 2, ends: 100)),
            .putUpstream(Samples.upstream(8, 3, ends: 200), now: 0),
            .putMessage(Samples.message(5, 4, kind: .discardedMarker(count: 2), body: [])),
            .putUpstream(Samples.upstream(8, 4, ends: 250, kind: .receipt(sentAt: 1)), now: 0))
        try expect(99, 10, [])
        try expect(250, 10, [100, 200, 250])
        try expect(250, 2, [100, 200])
        #expect(
            try store.expired(by: 150)
                == [.message(DeviceID(5), SequenceNumber(2), expiresAt: 100)])
        try store.apply(
            .removeMessage(DeviceID(5), SequenceNumber(2), expiresAt: 100, reason: .expired), durable: false)
        try expect(250, 10, [200, 250])
        // Earlier than entries that were swept already, and earlier than all others.
        try store.apply(.putMessage(Samples.message(6, 1, ends: 50)))
        try expect(250, 10, [50, 200, 250])
        try store.apply(.putMessage(Samples.message(6, 2, ends: -5)))
        try expect(250, 10, [-5, 50, 200, 250])
        try expect(1_000, 10, [-5, 50, 200, 250, 300])
    }

    @Test(
        "Devices, registrations and senders are read as they were put, until they are removed",
        arguments: Kind.allCases)
    func registryReturns(_ kind: Kind) throws {
        let opened = try open(kind)
        let store = opened.store
        for device in [7, 3, 5, .max] as [UInt64] {
            try store.apply(
                .putDevice(Samples.device(device)), .putRegistration(Samples.registration(device, 2)))
        }
        try store.apply(
            .putRegistration(Samples.registration(5, 1)), .putDevice(Samples.device(5, seenAt: 9)))
        try store.apply(.putRegistration(Samples.registration(4, 1)))
        #expect(try store.state(5)?.record == Samples.device(5, seenAt: 9))
        #expect(
            try store.state(5)?.registrations == [Samples.registration(5, 1), Samples.registration(5, 2)])
        #expect(try store.state(4)?.record == nil)
        #expect(try store.state(.max)?.registrations.count == 1)
        #expect(try store.devices(after: nil, limit: 2).map(\.device.number) == [3, 5])
        #expect(try store.devices(after: DeviceID(5), limit: 9).map(\.device.number) == [7, .max])
        #expect(try store.devices(after: DeviceID(.max), limit: 9).isEmpty)
        let senders = [Samples.sender(42), Samples.sender(7, label: ""), Samples.sender(9)]
        for sender in senders { try store.apply(.putSender(sender)) }
        #expect(try store.senders() == senders.sorted { $0.sender < $1.sender })
        let audit = try store.audit()
        #expect(audit.devices == 4 && audit.registrations == 6 && audit.senders == 3)
        try store.apply(
            .removeDevice(DeviceID(5)), .removeRegistration(Samples.registration(5, 1).name),
            .removeSender(SenderID(7)), .removeSender(SenderID(70)))
        #expect(try store.state(5)?.record == nil)
        #expect(try store.state(5)?.registrations == [Samples.registration(5, 2)])
        #expect(try store.senders().map(\.sender.number) == [9, 42])
    }

    @Test("A setting is read as it was set", arguments: Kind.allCases)
    func settingsReturn(_ kind: Kind) throws {
        let opened = try open(kind)
        let store = opened.store
        #expect(try store.setting("secret") == nil)
        try store.setSetting("secret", [0, 255])
        try store.setSetting("other", [])
        try store.setSetting("secret", [1])
        #expect(try store.setting("secret") == [1])
        #expect(try store.setting("other") == [])
    }

    @Test("A commit returns outcomes in the order of its batches", arguments: Kind.allCases)
    func outcomesInOrder(_ kind: Kind) throws {
        let opened = try open(kind)
        let batches = (0..<200 as Range<UInt64>).map { (index) -> WriteBatch in
            Samples.batch(
                .putMessage(Samples.message(5, index + 1)), batchNumber: 1_000 - index,
                durable: index % 2 == 0)
        }
        #expect(try opened.store.commit(batches).map(\.batchNumber) == batches.map(\.batchNumber))
        #expect(try opened.store.commit([]).isEmpty)
        #expect(
            try opened.store.commit([WriteBatch(batchNumber: 4, mutations: [], isDurable: true)]).map(
                \.batchNumber)
                == [4])
    }

    @Test("A group is found by its number and by its label until it is removed", arguments: Kind.allCases)
    func groups(_ kind: Kind) throws {
        let opened = try open(kind)
        let store = opened.store
        func group(_ sender: UInt64, _ number: UInt64, _ label: String, members: UInt64) -> GroupRecord {
            GroupRecord(
                name: GroupName(sender: SenderID(sender), number: number), label: Array(label.utf8),
                members: (1...members).map {
                    TokenName(RegistrationName(device: DeviceID($0), number: RegistrationNumber($0)))
                }, createdAt: Samples.now)
        }
        func found(_ name: GroupName) throws -> GroupRecord? {
            guard case .group(name, let record, true) = try store.load(.group(name, isForChange: true)) else {
                Issue.record("unexpected answer")
                return nil
            }
            return record
        }
        func labelled(_ sender: UInt64, _ label: String) throws -> GroupRecord? {
            let load = StoreQuery.groupLabelled(SenderID(sender), Array(label.utf8))
            guard case .groupLabelled(_, _, let record) = try store.load(load) else {
                Issue.record("unexpected answer")
                return nil
            }
            return record
        }
        let first = group(1, 10, "a", members: 20)
        let second = group(1, 11, "b", members: 1)
        let other = group(2, 10, "a", members: 2)
        try store.apply(.putGroup(first), .putGroup(second), .putGroup(other))
        #expect(try found(first.name) == first && found(second.name) == second && found(other.name) == other)
        #expect(try labelled(1, "a") == first && labelled(1, "b") == second && labelled(2, "a") == other)
        #expect(try labelled(1, "c") == nil && labelled(3, "a") == nil)
        #expect(try found(GroupName(sender: SenderID(1), number: 9)) == nil)
        #expect(try store.audit().groups == 3)
        let smaller = group(1, 10, "a", members: 3)
        try store.apply(.putGroup(smaller))
        #expect(try found(first.name) == smaller && labelled(1, "a") == smaller)
        try store.apply(.removeGroup(first.name, label: first.label))
        #expect(try found(first.name) == nil && labelled(1, "a") == nil)
        #expect(try found(second.name) == second && labelled(2, "a") == other)
        #expect(try store.audit().holds && store.audit().groups == 2)
    }
}
