import Basics
import Testing

@testable import Delivery

/// Reads that the store cannot answer, by construction: a scene asks every question of the contract, each of them fails in turn, and
/// whatever waited for it is answered once, nothing waits for ever, and everything goes on when the store answers again.
@Suite struct ReadFailureTests {
    private static let fid = bytes("cGFzc3dvcmQ_aGVsbG8tdw")
    private static let unusedFID = bytes("dGFzc3dvcmQ_aGVsbG8tdw")
    private static let group = GroupName(sender: Harness.sender, number: 5)
    private static let absent = DeviceID(1 << 60 | 900)
    private static let day: Int64 = 86_400_000

    /// The words of all queries that one process of the scene makes.
    private static let kinds = [
        "device", "messages", "gateway message", "gateway devices", "upstream", "expired", "group members",
        "group change", "group labelled", "unseen", "installation", "installation change",
        "unused installations", "topic messages", "topic devices",
    ]

    private static func kind(_ query: StoreQuery) -> String {
        switch query {
        case .group(_, let isForChange): isForChange ? "group change" : "group members"
        case .installation(_, _, let isForChange): isForChange ? "installation change" : "installation"
        default: query.word
        }
    }

    /// A store with something for every question, in a process that has read nothing yet.
    private static func scene() -> Harness {
        var settings = DeliverySettings()
        settings.deviceExpirySeconds = 10 * 86_400
        settings.unusedDeviceSeconds = 0
        let bench = Harness.withDevice(partitions: 3, settings: settings)
        bench.store.registrations[Harness.target]?.instance = fid
        bench.store.registrations[Harness.target]?.isProved = true
        let apple = RegistrationName(device: bench.addDevice(), number: RegistrationNumber(1))
        bench.store.registrations[apple]?.apnsToken = bytes("p_a1")
        bench.store.subscriptions = [topic].map {
            Subscription(name: Harness.target, sender: Harness.sender, topic: $0, since: 0)
        }
        bench.store.groups = [
            GroupRecord(name: group, label: bytes("g"), members: tokens([Harness.target]), createdAt: 0)
        ]
        bench.store.installations[fid] = [Harness.target]
        for (id, usedAt) in [(fid, bench.now.wall), (unusedFID, bench.now.wall - 300 * day)] {
            bench.store.installationRecords[id] = InstallationRecord(
                id: id, sender: Harness.sender, refresh: token, createdAt: 1_690_000_000_000, usedAt: usedAt)
        }
        bench.store.records[absent] = DeviceRecord(
            device: absent, token: token, createdAt: 1_690_000_000_000, seenAt: bench.now.wall - 11 * day,
            nextRegistration: 1)
        bench.submit(900, lifetime: 2)
        bench.submit(901, lifetime: 86_400)
        // The second one is read when the first is answered.
        for number in [902, 903] as [UInt32] {
            var notification = Harness.submission(number, to: apple)
            notification.content.isNotification = true
            bench.post(.submitted(notification))
        }
        bench.post(.upstreamReceived(Harness.upstream(904, lifetime: 86_400)))
        bench.settle()
        bench.post(.topicSubmitted(topicMessage(905)))
        bench.settle(rounds: 1)
        bench.crash(seed: 8)
        bench.commands = []
        bench.asked = []
        return bench
    }

    private static let topic = TopicSendTests.topics[0]

    private static func topicMessage(_ requestID: UInt32) -> TopicSubmission {
        TopicSubmission(target: TopicTarget(topic), submission: Harness.submission(requestID))
    }

    /// Asks for everything twice, so that a second request waits for each read.
    private static func ask(_ bench: Harness, from first: UInt32) {
        var requestID = first
        func next() -> UInt32 {
            requestID += 1
            return requestID
        }
        func change(_ operation: GroupRequest.Operation) -> Event {
            .groupRequested(
                GroupRequest(
                    requester: Requester(connection: web, requestID: next()), sender: Harness.sender,
                    operation: operation))
        }
        func installation(_ action: InstallationRequest.Action) -> Event {
            .installation(
                InstallationRequest(
                    requester: Requester(connection: web, requestID: next()), installation: fid,
                    sender: Harness.sender, action: action))
        }
        for _ in 0..<2 {
            bench.submit(next())
            bench.post(
                .groupSubmitted(
                    GroupSubmission(group: group, submission: Harness.submission(next()))))
            bench.post(change(.find(label: bytes("g"))))
            bench.post(change(.show(number: group.number)))
            bench.post(.topicSubmitted(topicMessage(next())))
            bench.post(installation(.send(Harness.submission(requestID).content)))
            bench.post(installation(.refresh(token)))
        }
    }

    /// How many requests `ask` makes.
    private static let requests = 14

    /// Runs everything until no work is left. Returns false if it goes on and on.
    private static func settle(_ bench: Harness, failing kind: String, isDamage: Bool) -> Bool {
        for _ in 0..<2_000 where !bench.isQuiet {
            bench.runTurns()
            for partition in bench.partitions {
                bench.apply(partition)
                bench.reportOutcome(partition)
                if let load = partition.loads.first, Self.kind(load) == kind {
                    partition.loads.removeFirst()
                    partition.answers.append(.failed(load, isDamage: isDamage))
                } else {
                    bench.read(partition)
                }
                bench.reportAnswer(partition)
            }
        }
        return bench.isQuiet
    }

    /// Lets time pass, with app server and phone connected and messages to APNs accepted. Returns false if something goes on and on.
    private static func pass(_ bench: Harness, failing kind: String = "", isDamage: Bool = false) -> Bool {
        for _ in 0..<8 {
            bench.advance(milliseconds: Int64(Limits.Device.sweepMilliseconds))
            bench.post(.tick)
            for link in [phone, connection(8)] { bench.post(.deviceWritable(link, device)) }
            while let delivery = bench.deliveries.popLast() {
                bench.post(
                    .gatewayAnswered(
                        GatewayAnswer(
                            registration: delivery.registration, sequence: delivery.message.sequence,
                            outcome: .accepted(.production))))
            }
            guard settle(bench, failing: kind, isDamage: isDamage) else { return false }
        }
        return true
    }

    /// The requests that were answered, and how often.
    private static func answers(_ bench: Harness) -> [UInt32: Int] {
        var answers: [UInt32: Int] = [:]
        for (_, command) in bench.commands {
            switch command {
            case .submission(let requestID, _), .reply(let requestID, _): answers[requestID, default: 0] += 1
            default: break
            }
        }
        return answers
    }

    private static func refused(_ bench: Harness) -> [String] {
        bench.commands.map(\.1.word).filter {
            $0.hasPrefix("nack") || $0.contains("refused") || $0.contains("NOT_AVAILABLE")
                || $0.hasPrefix("group") && $0.contains("=")
        }
    }

    @Test(
        "What waits for a read that fails is answered once, and goes on when the store answers again",
        arguments: kinds, [false, true])
    func failed(kind: String, isDamage: Bool) {
        let bench = Self.scene()
        bench.post(.appServerLogin(connection(7), Harness.sender, key: Harness.key))
        bench.post(.appServerBound(connection(7), Harness.sender))
        bench.login()
        Self.ask(bench, from: 0)
        #expect(Self.pass(bench, failing: kind, isDamage: isDamage), "a failed read is repeated in a loop")
        #expect(bench.asked.contains { Self.kind($0) == kind }, "the scene does not ask for this")
        #expect(Self.answers(bench).values.allSatisfy { $0 == 1 }, "\(Self.answers(bench))")
        #expect(Self.answers(bench).count == Self.requests, "\(Self.answers(bench))")
        bench.commands = []
        bench.login(connection(8))
        Self.ask(bench, from: 100)
        #expect(Self.pass(bench))
        #expect(Self.refused(bench) == [])
        #expect(
            Self.answers(bench).values.allSatisfy { $0 == 1 } && Self.answers(bench).count == Self.requests)
        // What a search has found and could not be read is found by the next one.
        bench.advance(milliseconds: Int64(Limits.Device.sweepPauseSeconds) * 1_000)
        #expect(Self.pass(bench))
        Self.expectEnd(bench)
    }

    /// Expects that nothing waits: what the first process has left was found, delivered or removed.
    private static func expectEnd(_ bench: Harness) {
        let waiting = bench.store.messages[device] ?? []
        #expect(waiting.contains { $0.messageID == bytes("m901") }, "it is not acknowledged")
        #expect(!waiting.contains { $0.messageID == bytes("m900") }, "it has expired")
        let delivered = bench.commands.compactMap(\.1.delivery?.message.messageID)
        #expect(Set(delivered).isSuperset(of: [bytes("m901"), bytes("m905"), bytes("m101")]))
        #expect(bench.store.messages.values.joined().allSatisfy { $0.apns == nil }, "Apple has accepted them")
        #expect(bench.store.records[absent] == nil && bench.store.installationRecords[unusedFID] == nil)
        #expect(bench.store.topicMessages.isEmpty)
        #expect(bench.topicJobsOpen == 0 && bench.store.holds && bench.failures.isEmpty)
        // The app server was sent the message, perhaps by the process whose reads have failed.
        bench.post(.appServerClosed(connection(7), Harness.sender))
        bench.post(.appServerLogin(connection(9), Harness.sender, key: Harness.key))
        bench.post(.appServerBound(connection(9), Harness.sender))
        bench.settle()
        #expect(bench.take(connection(9)).words.contains("upstream u904"))
    }
}
