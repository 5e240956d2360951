import Basics
import Delivery
import Store
import Testing

/// Which answers of a store are refused, since they do not belong to their question.
@Suite struct AnswerCheckTests {
    private static let partitions = Limits.Partition.count
    private static let device = DeviceID(5)
    private static let own = PartitionKey.device(device).partition(of: partitions)
    private static let sender = SenderID(42)
    private static let ofSender = PartitionKey.sender(sender).partition(of: partitions)
    private static let ids = Samples.installations
    private static let ofFirst = PartitionKey.installation(ids[0]).partition(of: partitions)

    private func problem(_ load: StoreQuery, _ answer: StoreResult) -> String? {
        brokenInvariant { try load.demandAnswered(by: answer, among: Self.partitions) }?.description
    }

    private func name(_ number: UInt64) -> RegistrationName {
        RegistrationName(device: Self.device, number: RegistrationNumber(number))
    }

    @Test("A state of a device is refused when a part of it belongs elsewhere or is out of order")
    func device() {
        let load = StoreQuery.device(Self.device)
        func state(_ change: (inout DeviceState) -> Void) -> StoreResult {
            var state = DeviceState(
                device: Self.device, record: Samples.device(5),
                registrations: [Samples.registration(5, 1), Samples.registration(5, 2)],
                mailbox: [1, 2].map { MailboxEntry(Samples.message(5, $0)) })
            change(&state)
            return .device(state)
        }
        #expect(problem(load, state { _ in }) == nil)
        #expect(problem(load, state { $0.device = DeviceID(6) }) == "the state belongs to another device")
        #expect(
            problem(load, state { $0.record = Samples.device(6) }) == "the state belongs to another device")
        #expect(
            problem(load, state { $0.registrations[1] = Samples.registration(6, 2) })
                == "a device has a registration of another one")
        #expect(
            problem(load, state { $0.registrations.reverse() })
                == "the registrations of a device are unordered")
        #expect(
            problem(load, state { $0.subscriptions = [Samples.subscription(6, 1)] })
                == "a device has a subscription of another one")
        #expect(
            problem(load, state { $0.mailbox.append($0.mailbox[1]) })
                == "a mailbox is unordered or has a duplicate")
    }

    @Test("A page is refused when it is too long, too early, out of order or of another owner")
    func pages() {
        let load = StoreQuery.messages(Self.device, after: SequenceNumber(1), limit: 2)
        func page(_ sequences: UInt64..., of device: UInt64 = 5) -> StoreResult {
            .messages(Self.device, sequences.map { Samples.message(device, $0) }, isLast: true)
        }
        #expect(problem(load, page(2, 3)) == nil)
        #expect(problem(load, page(2, 3, 4)) == "a page of messages exceeds its limit")
        #expect(problem(load, page(1, 2)) == "a page starts before its position")
        #expect(problem(load, page(2, 2)) == "a page of messages is unordered or has a duplicate")
        #expect(problem(load, page(2, of: 6)) == "a page belongs to another device")
        #expect(
            problem(load, .messages(DeviceID(6), [], isLast: true)) == "a page belongs to another device")
        #expect(
            problem(load, .upstream(Self.sender, [], isLast: true)) == "the answer belongs to another load")
        let up = StoreQuery.upstream(Self.sender, after: SequenceNumber(1), limit: 2)
        #expect(
            problem(up, .upstream(Self.sender, [Samples.upstream(8, 2)], isLast: true))
                == "a page belongs to another sender")
        #expect(
            problem(up, .upstream(Self.sender, [3, 2].map { Samples.upstream(42, $0) }, isLast: true))
                == "a page of messages is unordered or has a duplicate")
    }

    @Test("A group or an installation is refused when it is another one")
    func named() {
        let group = Samples.group(42, 1)
        let other = GroupName(sender: Self.sender, number: 2)
        let byName = StoreQuery.group(other, isForChange: false)
        #expect(problem(byName, .group(other, nil, isForChange: false)) == nil)
        #expect(
            problem(byName, .group(other, group, isForChange: false))
                == "the group has another name than requested")
        let labelled = StoreQuery.groupLabelled(Self.sender, group.label)
        #expect(problem(labelled, .groupLabelled(Self.sender, group.label, group)) == nil)
        #expect(
            problem(labelled, .groupLabelled(Self.sender, group.label, Samples.group(42, 2)))
                == "the group has another label than requested")
        let load = StoreQuery.installation(Self.ids[0], limit: 1, isForChange: false)
        func answer(_ record: InstallationRecord?, _ names: [RegistrationName]) -> StoreResult {
            .installation(Self.ids[0], record, names, isForChange: false)
        }
        #expect(problem(load, answer(Samples.installation(Self.ids[0]), [name(1)])) == nil)
        #expect(
            problem(load, answer(Samples.installation(Self.ids[1]), []))
                == "the record belongs to another installation")
        #expect(
            problem(load, answer(nil, [name(1), name(2)]))
                == "the registrations of an installation exceed their limit")
        let wide = StoreQuery.installation(Self.ids[0], limit: 9, isForChange: false)
        #expect(
            problem(wide, answer(nil, [name(2), name(1)]))
                == "the registrations of an installation are unordered")
    }

    @Test("Messages to topics are refused when they are too many, out of order or of another partition")
    func topicMessages() {
        func page(_ sequences: UInt64...) -> StoreResult {
            .topicMessages(sequences.map { Samples.topicMessage(42, $0) }, isLast: true)
        }
        func load(in partition: Int = Self.ofSender, after: UInt64? = nil) -> StoreQuery {
            .topicMessages(
                after: after.map { Samples.topicName(42, $0) }, limit: 2, partition: partition)
        }
        #expect(problem(load(), page(1, 2)) == nil)
        #expect(problem(load(), page(1, 2, 3)) == "a page of topic messages exceeds its limit")
        for answer in [page(1), page(3, 2), page(2, 2)] {
            #expect(
                problem(load(after: 1), answer)
                    == "a page of topic messages is unordered or has a duplicate")
        }
        #expect(
            problem(load(in: (Self.ofSender + 1) % Self.partitions), page(1))
                == "a page has a topic message that another partition owns")
    }

    @Test("A log is refused when it is too long, too early or out of order, or its marks are")
    func topicEntries() {
        let load = StoreQuery.topicEntries(after: SequenceNumber(1), limit: 2, partition: Self.own)
        func page(_ places: UInt64..., marks: [Int] = []) -> StoreResult {
            .topicEntries(
                places.map { TopicEntry(sequence: SequenceNumber($0), message: Samples.topicMessage()) },
                marks: marks.map { TopicMark(source: $0, through: SequenceNumber(1)) }, isLast: true)
        }
        #expect(problem(load, page(2, 3, marks: [0, 15])) == nil)
        #expect(problem(load, page(2, 3, 4)) == "a page of messages exceeds its limit")
        #expect(problem(load, page(1)) == "a page starts before its position")
        for answer in [page(3, 2), page(2, 2)] {
            #expect(problem(load, answer) == "a page of messages is unordered or has a duplicate")
        }
        for marks in [[2, 1], [1, 1], [-1], [16]] {
            #expect(problem(load, page(marks: marks)) == "the marks of a topic log are unordered or invalid")
        }
    }

    @Test("Devices of a topic are refused when they are too many, out of order or of another partition")
    func topicDevices() {
        func load(after: UInt64? = nil, in partition: Int = Self.own, limit: Int = 1) -> StoreQuery {
            .topicDevices(
                Self.sender, of: nil, after: after.map { DeviceID($0) }, limit: limit, partition: partition)
        }
        func found(next: UInt64? = nil, _ devices: UInt64...) -> StoreResult {
            .topicDevices(devices.map { DeviceID($0) }, next: next.map { DeviceID($0) })
        }
        #expect(problem(load(), found(next: 5, 5)) == nil && problem(load(after: 4), found(5)) == nil)
        #expect(problem(load(limit: 0), found(5)) == "a search for devices exceeds its limit")
        for after in [5, 6] as [UInt64] {
            #expect(problem(load(after: after), found(5)) == "a search for devices is unordered")
        }
        #expect(problem(load(limit: 2), found(5, 5)) == "a search for devices is unordered")
        #expect(problem(load(), found(next: 4, 5)) == "a search for devices is unordered")
        #expect(problem(load(after: 4), found(next: 3)) == "a search for devices is unordered")
        #expect(
            problem(load(in: (Self.own + 1) % Self.partitions), found(5))
                == "a search returns a device that another partition owns")
    }

    @Test("A sweep is refused when it is too long, too early, out of order or of another partition")
    func sweeps() {
        func load(in partition: Int = Self.own) -> StoreQuery {
            .expired(by: 9, limit: 2, partition: partition)
        }
        func entry(_ sequence: UInt64, _ time: UnixMilliseconds) -> ExpiredEntry {
            .message(Self.device, SequenceNumber(sequence), expiresAt: time)
        }
        #expect(problem(load(), .expired([entry(2, 8), entry(1, 9)])) == nil)
        #expect(
            problem(load(), .expired([entry(1, 1), entry(1, 2), entry(1, 3)]))
                == "a sweep exceeds its limit")
        for entries in [[entry(1, 9), entry(2, 8)], [entry(1, 8), entry(1, 8)]] {
            #expect(
                problem(load(), .expired(entries)) == "a sweep is unordered or has a duplicate")
        }
        #expect(problem(load(), .expired([entry(1, 10)])) == "a sweep returns an entry that has not expired")
        #expect(
            problem(load(in: (Self.own + 1) % Self.partitions), .expired([entry(1, 1)]))
                == "a sweep returns an entry that another partition owns")
    }

    @Test("A search is refused when it finds too many, goes back or finds what another partition owns")
    func searches() {
        func load(in partition: Int = Self.own, from start: UInt64 = 0, limit: Int = 2) -> StoreQuery {
            .unseen(
                before: 1, unusedBefore: 1, from: DeviceID(start), examine: 9, limit: limit,
                partition: partition)
        }
        let found = StoreResult.unseen([Self.device], next: nil)
        #expect(problem(load(), found) == nil)
        #expect(problem(load(limit: 0), found) == "a search for devices exceeds its limit")
        #expect(problem(load(from: 6), found) == "a search for devices is unordered")
        #expect(
            problem(load(), .unseen([Self.device], next: DeviceID(4))) == "a search for devices is unordered")
        #expect(
            problem(load(in: (Self.own + 1) % Self.partitions), found)
                == "a search returns a device that another partition owns")
        func search(
            in partition: Int = Self.ofFirst, from start: [UInt8] = [], limit: Int = 2
        ) -> StoreQuery {
            .unusedInstallations(
                before: 1, unlinkedBefore: 1, from: start, examine: 9, limit: limit, partition: partition)
        }
        let listed = StoreResult.unusedInstallations([Self.ids[0]], next: nil, before: 1, unlinkedBefore: 1)
        #expect(problem(search(), listed) == nil)
        #expect(problem(search(limit: 0), listed) == "a search for installations exceeds its limit")
        #expect(problem(search(from: Self.ids[1]), listed) == "a search for installations is unordered")
        #expect(
            problem(search(in: (Self.ofFirst + 1) % Self.partitions), listed)
                == "a search returns an installation that another partition owns")
    }

    @Test("A list is refused when it is too long or out of order, and a count when it counts too many")
    func lists() {
        let senders = [7, 6].map { Samples.sender($0) }
        #expect(
            brokenInvariant { try ListChecks.demandOrdered(senders) }?.description
                == "the list of senders is unordered")
        let found = [5, 6].map { Samples.device($0) }
        func devices(_ after: UInt64?, _ limit: Int) -> String? {
            brokenInvariant {
                try ListChecks.demandOrdered(found, after: after.map { DeviceID($0) }, limit: limit)
            }?.description
        }
        #expect(devices(4, 2) == nil && devices(nil, 2) == nil)
        #expect(devices(nil, 1) == "a list of devices exceeds its limit")
        #expect(devices(5, 2) == "the list of devices is unordered")
        let listed = Self.ids.map { ListedInstallation(record: Samples.installation($0), registrations: 0) }
        func installations(_ after: [UInt8]?, _ limit: Int) -> String? {
            brokenInvariant { try ListChecks.demandOrdered(listed, after: after, limit: limit) }?.description
        }
        #expect(installations(nil, 2) == nil)
        #expect(installations(nil, 1) == "a list of installations exceeds its limit")
        #expect(installations(Self.ids[0], 2) == "the list of installations is unordered")
        func counts(_ subscribers: Int, examined: Int) -> String? {
            let count = TopicCount(sender: Self.sender, topic: Samples.topics[0], subscribers: subscribers)
            let page = TopicCounts(counts: [count], next: nil)
            return brokenInvariant { try ListChecks.demandCounted(page, examined: examined) }?.description
        }
        #expect(counts(2, examined: 2) == nil)
        #expect(counts(0, examined: 2) == "a topic without subscribers is listed")
        #expect(counts(3, examined: 2) == "more subscriptions are counted than were read")
    }
}
