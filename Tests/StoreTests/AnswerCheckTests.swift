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
        #expect(problem(load, state { $0.device = DeviceID(6) }) == "the record of another device")
        #expect(problem(load, state { $0.record = Samples.device(6) }) == "the record of another device")
        #expect(
            problem(load, state { $0.registrations[1] = Samples.registration(6, 2) })
                == "a registration of another device")
        #expect(
            problem(load, state { $0.registrations.reverse() })
                == "the registrations of a device are out of order")
        #expect(
            problem(load, state { $0.subscriptions = [Samples.subscription(6, 1)] })
                == "a subscription of another device")
        #expect(
            problem(load, state { $0.mailbox.append($0.mailbox[1]) })
                == "a mailbox is out of order, or has a message twice")
    }

    @Test("A page is refused when it is too long, too early, out of order or of another owner")
    func pages() {
        let load = StoreQuery.messages(Self.device, after: SequenceNumber(1), limit: 2)
        func page(_ sequences: UInt64..., of device: UInt64 = 5) -> StoreResult {
            .messages(Self.device, sequences.map { Samples.message(device, $0) }, isLast: true)
        }
        #expect(problem(load, page(2, 3)) == nil)
        #expect(problem(load, page(2, 3, 4)) == "a page has more messages than asked for")
        #expect(problem(load, page(1, 2)) == "a page begins before its place")
        #expect(problem(load, page(2, 2)) == "a page is out of order, or has a message twice")
        #expect(problem(load, page(2, of: 6)) == "a page of another device's mailbox")
        #expect(
            problem(load, .messages(DeviceID(6), [], isLast: true)) == "a page of another device's mailbox")
        #expect(problem(load, .upstream(Self.sender, [], isLast: true)) == "an answer to another question")
        let up = StoreQuery.upstream(Self.sender, after: SequenceNumber(1), limit: 2)
        #expect(
            problem(up, .upstream(Self.sender, [Samples.upstream(8, 2)], isLast: true))
                == "a page of another sender's mailbox")
        #expect(
            problem(up, .upstream(Self.sender, [3, 2].map { Samples.upstream(42, $0) }, isLast: true))
                == "a page is out of order, or has a message twice")
    }

    @Test("A group or an installation is refused when it is another one")
    func named() {
        let group = Samples.group(42, 1)
        let other = GroupName(sender: Self.sender, number: 2)
        let byName = StoreQuery.group(other, isForChange: false)
        #expect(problem(byName, .group(other, nil, isForChange: false)) == nil)
        #expect(
            problem(byName, .group(other, group, isForChange: false))
                == "another group than the one in question")
        let labelled = StoreQuery.groupLabelled(Self.sender, group.label)
        #expect(problem(labelled, .groupLabelled(Self.sender, group.label, group)) == nil)
        #expect(
            problem(labelled, .groupLabelled(Self.sender, group.label, Samples.group(42, 2)))
                == "the group of another label")
        let load = StoreQuery.installation(Self.ids[0], limit: 1, isForChange: false)
        func answer(_ record: InstallationRecord?, _ names: [RegistrationName]) -> StoreResult {
            .installation(Self.ids[0], record, names, isForChange: false)
        }
        #expect(problem(load, answer(Samples.installation(Self.ids[0]), [name(1)])) == nil)
        #expect(
            problem(load, answer(Samples.installation(Self.ids[1]), []))
                == "the record of another installation")
        #expect(
            problem(load, answer(nil, [name(1), name(2)]))
                == "more registrations of an installation than asked for")
        let wide = StoreQuery.installation(Self.ids[0], limit: 9, isForChange: false)
        #expect(
            problem(wide, answer(nil, [name(2), name(1)]))
                == "the registrations of an installation are out of order")
    }

    @Test("A page of a topic is refused when it is too long, too early, out of order or of another job")
    func topics() {
        let job = Samples.job(Self.sender)
        let load = StoreQuery.topicPage(job, of: nil, after: name(1), limit: 2)
        func page(_ names: [UInt64], marked: [UInt64] = [], next: UInt64? = nil) -> StoreResult {
            .topicPage(
                job, TopicPage(names: names.map(name), marked: marked.map(name), next: next.map(name)))
        }
        #expect(problem(load, page([2, 3], marked: [2], next: 3)) == nil)
        #expect(problem(load, page([2, 3, 4])) == "a page has more subscribers than asked for")
        #expect(problem(load, page([3, 2])) == "a page of subscribers is out of order")
        #expect(problem(load, page([], marked: [3, 3])) == "a page of subscribers is out of order")
        #expect(problem(load, page([1])) == "a page of subscribers begins before its place")
        #expect(problem(load, page([], next: 0)) == "a page of subscribers leads backwards")
        #expect(
            problem(load, .topicPage(Samples.job(Self.sender, 2), TopicPage(names: [], next: nil)))
                == "a page of another message to topics")
    }

    @Test("Messages to topics are refused when they are too many, out of order or of another partition")
    func topicJobs() {
        func job(_ sequence: UInt64) -> TopicJob {
            TopicJob(
                name: Samples.job(Self.sender, sequence), salt: 1, target: TopicTarget(Samples.topics[0]),
                messageID: [], acceptedAt: 1, expiresAt: 2, body: [])
        }
        func load(in partition: Int = Self.ofSender, after: UInt64? = nil) -> StoreQuery {
            .topicJobs(after: after.map { Samples.job(Self.sender, $0) }, limit: 2, partition: partition)
        }
        #expect(problem(load(), .topicJobs([job(1), job(2)], isLast: true)) == nil)
        #expect(
            problem(load(), .topicJobs([1, 2, 3].map(job), isLast: true))
                == "more messages to topics than asked for")
        for jobs in [[1], [3, 2], [2, 2]] as [[UInt64]] {
            #expect(
                problem(load(after: 1), .topicJobs(jobs.map(job), isLast: true))
                    == "messages to topics are out of order")
        }
        #expect(
            problem(load(in: (Self.ofSender + 1) % Self.partitions), .topicJobs([job(1)], isLast: true))
                == "a message to topics of another partition")
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
                == "a sweep returns more than asked for")
        for entries in [[entry(1, 9), entry(2, 8)], [entry(1, 8), entry(1, 8)]] {
            #expect(
                problem(load(), .expired(entries)) == "a sweep is out of order, or returns something twice")
        }
        #expect(problem(load(), .expired([entry(1, 10)])) == "a sweep returns what has not expired")
        #expect(
            problem(load(in: (Self.own + 1) % Self.partitions), .expired([entry(1, 1)]))
                == "a sweep returns what another partition owns")
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
        #expect(problem(load(limit: 0), found) == "a search finds more devices than asked for")
        #expect(problem(load(from: 6), found) == "a search for devices goes back")
        #expect(
            problem(load(), .unseen([Self.device], next: DeviceID(4))) == "a search for devices goes back")
        #expect(
            problem(load(in: (Self.own + 1) % Self.partitions), found)
                == "a search finds a device of another partition")
        func search(
            in partition: Int = Self.ofFirst, from start: [UInt8] = [], limit: Int = 2
        ) -> StoreQuery {
            .unusedInstallations(
                before: 1, unlinkedBefore: 1, from: start, examine: 9, limit: limit, partition: partition)
        }
        let listed = StoreResult.unusedInstallations([Self.ids[0]], next: nil, before: 1, unlinkedBefore: 1)
        #expect(problem(search(), listed) == nil)
        #expect(problem(search(limit: 0), listed) == "a search finds more installations than asked for")
        #expect(problem(search(from: Self.ids[1]), listed) == "a search for installations goes back")
        #expect(
            problem(search(in: (Self.ofFirst + 1) % Self.partitions), listed)
                == "a search finds an installation of another partition")
    }

    @Test("A list is refused when it is too long or out of order, and a count when it counts too many")
    func lists() {
        let senders = [7, 6].map { Samples.sender($0) }
        #expect(
            brokenInvariant { try ListChecks.demandOrdered(senders) }?.description
                == "the list of senders is out of order")
        let found = [5, 6].map { Samples.device($0) }
        func devices(_ after: UInt64?, _ limit: Int) -> String? {
            brokenInvariant {
                try ListChecks.demandOrdered(found, after: after.map { DeviceID($0) }, limit: limit)
            }?.description
        }
        #expect(devices(4, 2) == nil && devices(nil, 2) == nil)
        #expect(devices(nil, 1) == "a list has more devices than asked for")
        #expect(devices(5, 2) == "the list of devices is out of order")
        let listed = Self.ids.map { ListedInstallation(record: Samples.installation($0), registrations: 0) }
        func installations(_ after: [UInt8]?, _ limit: Int) -> String? {
            brokenInvariant { try ListChecks.demandOrdered(listed, after: after, limit: limit) }?.description
        }
        #expect(installations(nil, 2) == nil)
        #expect(installations(nil, 1) == "a list has more installations than asked for")
        #expect(installations(Self.ids[0], 2) == "the list of installations is out of order")
        func counts(_ subscribers: Int, examined: Int) -> String? {
            let count = TopicCount(sender: Self.sender, topic: Samples.topics[0], subscribers: subscribers)
            let page = TopicCounts(counts: [count], next: nil)
            return brokenInvariant { try ListChecks.demandCounted(page, examined: examined) }?.description
        }
        #expect(counts(2, examined: 2) == nil)
        #expect(counts(0, examined: 2) == "a topic without subscribers is listed")
        #expect(counts(3, examined: 2) == "more subscriptions are counted than were looked at")
    }
}
