import Basics
import Testing

@testable import Delivery

/// A webhook as one more session of its sender.
@Suite struct WebhookTests {
    private static func directory(
        _ state: WebhookRecord.State? = .active, isSuspended: Bool = false
    ) -> SenderDirectory {
        var records = Harness.senders
        records[0].isSuspended = isSuspended
        records[0].webhook = state.map {
            WebhookRecord(url: "https://a.example/", secrets: [], state: $0, createdAt: 0)
        }
        return SenderDirectory(records)
    }

    private static func bench(_ settings: DeliverySettings = DeliverySettings()) -> Harness {
        let bench = Harness.withDevice(settings: settings)
        bench.post(.senders(directory()))
        tick(bench)
        return bench
    }

    private static func tick(_ bench: Harness) {
        bench.post(.tick)
        bench.settle()
    }

    private static func send(_ bench: Harness, _ numbers: ClosedRange<UInt32>, lifetime: Int = 3_600) {
        for number in numbers {
            bench.post(
                .upstreamReceived(
                    Harness.upstream(number, lifetime: lifetime, id: lifetime == 0 ? "" : nil)))
            bench.settle()
        }
    }

    /// Removes and returns the deliveries among the orders.
    private static func take(_ bench: Harness) -> [(connection: ConnectionID, message: StoredUpstream)] {
        defer { bench.orders = [] }
        return bench.orders.compactMap { order in
            if case .deliver(let connection, let message, _) = order { (connection, message) } else { nil }
        }
    }

    private static func words(_ orders: [WebhookOrder]) -> [String] {
        orders.map { order in
            switch order {
            case .deliver(_, let message, _): "deliver \(String(decoding: message.messageID, as: UTF8.self))"
            case .withdraw: "withdraw"
            case .recall: "recall"
            case .forget: "forget"
            }
        }
    }

    private static func finish(
        _ bench: Harness, _ item: (connection: ConnectionID, message: StoredUpstream),
        _ outcome: UpstreamOutcome = .acknowledged
    ) {
        bench.post(.upstreamFinished(item.connection, Harness.sender, item.message.sequence, outcome))
        bench.settle()
    }

    @Test("a webhook gets what waits while no app server is connected, and its answer removes it")
    func standsIn() throws {
        let bench = Harness.withDevice()
        Self.send(bench, 1...2)
        #expect(bench.orders.isEmpty)
        bench.post(.senders(Self.directory()))
        Self.tick(bench)
        let items = Self.take(bench)
        #expect(items.map(\.message.messageID) == [bytes("u1"), bytes("u2")])
        #expect(items.allSatisfy { $0.connection.isWebhook })
        for item in items { Self.finish(bench, item) }
        #expect(bench.store.upPending == 0 && bench.store.up.delivered == 2)
        #expect(bench.partitions[0].core.senderSessions(of: Harness.sender).isEmpty, "it is no connection")
    }

    @Test("an app server takes over: what waits is recalled, and nothing overtakes what is in flight")
    func takeover() {
        let bench = Self.bench()
        Self.send(bench, 1...2)
        let items = Self.take(bench)
        bench.bindAppServer()
        #expect(Self.words(bench.orders) == ["recall"])
        Self.finish(bench, items[1], .returned)
        #expect(bench.take(appServer).isEmpty, "the first one is still in flight")
        Self.send(bench, 3...3)
        #expect(bench.take(appServer).isEmpty)
        Self.finish(bench, items[0])
        #expect(bench.take(appServer).words == ["upstream u2", "upstream u3"])
        #expect(Self.words(bench.orders) == ["recall", "forget"])
    }

    @Test("a webhook takes over when the last app server leaves, and waits for what that has")
    func takeback() {
        let bench = Self.bench()
        bench.bindAppServer()
        Self.send(bench, 1...1)
        bench.orders = []
        bench.post(.appServerDraining(appServer, Harness.sender))
        Self.send(bench, 2...2)
        #expect(Self.take(bench).isEmpty, "the first one is outstanding at the app server")
        bench.post(.appServerClosed(appServer, Harness.sender))
        bench.settle()
        #expect(Self.take(bench).map(\.message.messageID) == [bytes("u1"), bytes("u2")])
    }

    @Test("a few messages of one device are held, and a limited number of all")
    func window() {
        let bench = Self.bench()
        Self.send(bench, 1...6)
        let items = Self.take(bench)
        #expect(items.count == Limits.Webhook.heldPerDevice)
        Self.finish(bench, items[0])
        #expect(Self.take(bench).map(\.message.messageID) == [bytes("u5")])
        var session = AppServerSessionState(connection: items[0].connection, kind: .webhook)
        session.mode = .ready
        for number in 0..<UInt64(Limits.Webhook.held) {
            #expect(session.takesMessage(window: 100) && session.takesReceipt(window: 100))
            for isReceipt in [false, true] {
                session.window.insert(
                    OutstandingUpstream(
                        sequence: SequenceNumber(2 * number + (isReceipt ? 1 : 0)), expiresAt: 0,
                        device: number, isReceipt: isReceipt, isStored: true, sentAt: .distantPast))
            }
        }
        #expect(!session.takesMessage(window: 100) && !session.takesReceipt(window: 100))
    }

    @Test("a device whose messages are never taken does not keep up others, and its order is kept")
    func parked() {
        var settings = DeliverySettings()
        settings.mailboxPage = 4
        let bench = Self.bench(settings)
        let other = bench.addDevice()
        bench.settle()
        Self.send(bench, 1...30)
        let stuck = Self.take(bench)
        #expect(stuck.count == Limits.Webhook.heldPerDevice)
        for number in 31...33 as ClosedRange<UInt32> {
            bench.post(.upstreamReceived(Harness.upstream(number, device: other)))
            bench.settle()
        }
        Self.tick(bench)
        let beside = Self.take(bench)
        #expect(beside.map(\.message.messageID) == (31...33).map { bytes("u\($0)") })
        for item in beside { Self.finish(bench, item) }
        // Then it is taken.
        var (waiting, sent) = (stuck[...], stuck.map(\.message.messageID))
        while let item = waiting.popFirst() {
            Self.finish(bench, item)
            Self.tick(bench)
            let next = Self.take(bench)
            sent += next.map(\.message.messageID)
            waiting += next
        }
        #expect(sent == (1...30).map { bytes("u\($0)") })
        #expect(bench.store.upPending == 0)
    }

    @Test("messages that were left in the store go to an app server that takes over, in order")
    func parkedTakeover() {
        var settings = DeliverySettings()
        settings.mailboxPage = 4
        let bench = Self.bench(settings)
        Self.send(bench, 1...12)
        let items = Self.take(bench)
        bench.bindAppServer()
        for item in items.reversed() { Self.finish(bench, item, .returned) }
        Self.tick(bench)
        let words = bench.take(appServer).words
        #expect(words == (1...12).map { "upstream u\($0)" })
    }

    @Test("a message that expires is withdrawn, and its device is notified")
    func expiry() {
        let bench = Self.bench()
        Self.send(bench, 1...1, lifetime: 60)
        let item = Self.take(bench)[0]
        bench.advance(milliseconds: 61_000)
        bench.post(
            .expired(
                ExpiredEntry.upstream(
                    Harness.sender, item.message.sequence, expiresAt: item.message.expiresAt,
                    author: item.message.author)))
        bench.settle()
        #expect(Self.words(bench.orders) == ["withdraw"])
        #expect(bench.store.upPending == 0 && bench.store.up.expired == 1)
        Self.finish(bench, item)
        #expect(bench.store.up.delivered == 0, "a late answer changes nothing")
    }

    @Test("a message without a lifetime is offered once, and counts as expired if that fails")
    func nowOrNever() {
        let bench = Self.bench()
        Self.send(bench, 1...1, lifetime: 0)
        #expect(bench.take(phone).words == ["stored 1"])
        Self.finish(bench, Self.take(bench)[0], .expired)
        #expect(bench.up.expired == 1 && bench.store.upPending == 0)
        Self.send(bench, 2...2, lifetime: 0)
        Self.finish(bench, Self.take(bench)[0])
        #expect(bench.up.delivered == 1)
    }

    @Test(
        "a webhook that is paused, gone, removed or of a suspended sender gets nothing more",
        arguments: [
            Self.directory(.paused), Self.directory(.gone), Self.directory(nil),
            Self.directory(isSuspended: true),
            SenderDirectory(),
        ])
    func unused(_ directory: SenderDirectory) {
        let bench = Self.bench()
        Self.send(bench, 1...1)
        let item = Self.take(bench)[0]
        bench.post(.senders(directory))
        Self.tick(bench)
        #expect(Self.words(bench.orders) == ["recall"])
        Self.finish(bench, item, .returned)
        #expect(Self.words(bench.orders) == ["recall", "forget"])
        bench.orders = []
        bench.post(.senders(Self.directory()))
        Self.tick(bench)
        #expect(Self.take(bench).map(\.message.messageID) == [bytes("u1")], "it is sent once resumed")
    }

    @Test("receipts are held until they are answered")
    func receipts() {
        let bench = Self.bench()
        for number in 1...2 as ClosedRange<UInt64> {
            bench.post(
                .sender(
                    Harness.sender,
                    .receiptDue(
                        ReceiptDue(
                            message: Harness.target, sequence: SequenceNumber(number), sender: Harness.sender,
                            messageID: bytes("m\(number)"), category: bytes("app"), deliveredAt: 5,
                            requester: nil))))
        }
        bench.settle()
        let items = Self.take(bench)
        #expect(items.map(\.message.messageID) == [bytes("m1"), bytes("m2")])
        bench.advance(milliseconds: Int64(Limits.Message.receiptAckSeconds + 1) * 1_000)
        Self.tick(bench)
        #expect(
            bench.store.upstream[Harness.sender]?.count == 2 && bench.orders.isEmpty,
            "app servers need not answer receipts")
        for item in items { Self.finish(bench, item) }
        #expect(bench.store.upstream[Harness.sender]?.isEmpty ?? true)
    }

    @Test("a partition that leaves has its sessions forgotten, and no session is like one before")
    func leaving() {
        let bench = Self.bench()
        Self.send(bench, 1...1)
        let first = Self.take(bench)[0].connection
        #expect(Self.words(bench.partitions[0].core.webhooksLeft()) == ["forget"])
        bench.crash(seed: 8)
        bench.post(.senders(Self.directory()))
        Self.tick(bench)
        #expect(Self.take(bench).map(\.connection) != [first])
    }

    @Test("only senders of the partition get a session")
    func partitions() {
        let bench = Harness.withDevice(partitions: 4)
        bench.post(.senders(Self.directory()))
        Self.tick(bench)
        Self.send(bench, 1...1)
        #expect(Self.take(bench).count == 1)
        #expect(bench.partitions.reduce(0) { $0 + $1.core.figures.sessions } == 1)
    }
}
