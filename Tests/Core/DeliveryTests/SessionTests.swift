import Basics
import Delivery
import Testing

@Suite struct SessionTests {
    @Test("A login depends on the key, the suspension and the number of connections")
    func login() {
        var settings = DeliverySettings()
        settings.connectionsPerSender = 2
        let bench = Harness.withDevice(settings: settings)
        let wrong = SecretDigest(bytes: [UInt8](repeating: 3, count: 32))
        bench.post(.appServerLogin(connection(1), Harness.sender, key: wrong))
        bench.post(.appServerLogin(connection(2), SenderID(9), key: Harness.key))
        for number in 3...5 as ClosedRange<UInt32> {
            bench.post(.appServerLogin(connection(number), Harness.sender, key: Harness.key))
        }
        bench.settle()
        #expect(
            bench.commands.map(\.1.word) == [
                "login refused wrong_credentials", "login refused wrong_credentials", "login accepted",
                "login accepted", "login refused too_many_connections",
            ])
        bench.post(.appServerBound(connection(3), Harness.sender))
        bench.post(.appServerDraining(connection(3), Harness.sender))
        bench.post(.appServerLogin(connection(5), Harness.sender, key: Harness.key))
        bench.settle()
        #expect(
            bench.take(connection(5)).words.last == "login accepted",
            "a draining session does not count towards the limit")
        bench.post(.appServerClosed(connection(5), Harness.sender))
        bench.post(.appServerClosed(connection(3), Harness.sender))
        bench.post(.appServerLogin(connection(6), Harness.sender, key: Harness.key))
        bench.settle()
        #expect(bench.take(connection(6)).words == ["login accepted"])
    }

    @Test("SCRAM keys are those with the newest one's salt, newest first, and none for an unknown sender")
    func provableKeys() {
        func key(_ byte: UInt8, salt: UInt8?, iterations: Int = 4_096) -> ServerKey {
            ServerKey(
                digest: SecretDigest(bytes: [byte]), createdAt: 0, expiresAt: byte == 4 ? 1 : nil,
                scram: salt.map {
                    SCRAMVerifier(storedKey: [byte], serverKey: [], salt: [$0], iterations: iterations)
                })
        }
        func record(_ number: UInt64, _ keys: [ServerKey]) -> SenderRecord {
            SenderRecord(sender: SenderID(number), label: "", keys: keys, createdAt: 0)
        }
        let directory = SenderDirectory([
            record(
                1,
                [
                    key(1, salt: 9), key(2, salt: 8), key(3, salt: 8, iterations: 9_000), key(4, salt: 8),
                    key(5, salt: 8), key(6, salt: nil),
                ]), record(2, [key(7, salt: nil)]),
        ])
        func bytes(_ sender: UInt64) -> [UInt8] {
            directory.provableKeys(of: SenderID(sender)).flatMap(\.digest.bytes)
        }
        #expect(bytes(1) == [5, 4, 2])
        #expect(bytes(2).isEmpty && bytes(3).isEmpty)
        let bench = Harness.withDevice()
        bench.post(.appServerKeysRequested(connection(1), SenderID(9)))
        bench.settle()
        guard case .appServer(.loginKeys(let keys))? = bench.take(connection(1)).first else {
            Issue.record("an unknown sender is answered as well")
            return
        }
        #expect(keys.isEmpty)
    }

    @Test("The sessions of a sender are closed when it is removed or suspended", arguments: [true, false])
    func revoked(isSuspended: Bool) {
        let bench = Harness.withDevice()
        bench.bindAppServer()
        bench.post(.appServerLogin(connection(8), Harness.otherSender, key: Harness.key))
        bench.settle()
        var records = Harness.senders
        if isSuspended { records[0].isSuspended = true } else { records.removeFirst() }
        bench.post(.senders(SenderDirectory(records)))
        bench.settle()
        #expect(
            bench.take(appServer).words
                == [isSuspended ? "close sender_suspended" : "close credentials_revoked"])
        #expect(bench.take(connection(8)).words == ["login accepted"])
        bench.post(.appServerClosed(appServer, Harness.sender))
        bench.post(.tick)
        bench.settle()
        bench.post(.appServerLogin(appServer, Harness.sender, key: Harness.key))
        bench.settle()
        #expect(
            bench.take(appServer).words
                == [isSuspended ? "login refused suspended" : "login refused wrong_credentials"])
    }

    @Test("Sessions with a key that is removed or has expired are closed, and those with another key stay")
    func rotated() {
        let bench = Harness.withDevice()
        let fresh = SecretDigest(bytes: [UInt8](repeating: 2, count: 32))
        let end = bench.now.wall + 10_000
        func rotate(keeping old: Bool) {
            var records = Harness.senders
            records[0].keys = [ServerKey(digest: fresh, createdAt: 0)]
            if old {
                records[0].keys.append(ServerKey(digest: Harness.key, createdAt: 0, expiresAt: end))
            }
            bench.post(.senders(SenderDirectory(records)))
            bench.settle()
        }
        bench.bindAppServer()
        rotate(keeping: true)
        bench.post(.appServerLogin(connection(8), Harness.sender, key: fresh))
        bench.post(.appServerBound(connection(8), Harness.sender))
        bench.advance(milliseconds: 9_000)
        bench.post(.tick)
        bench.settle()
        #expect(bench.take(appServer).isEmpty, "the old key is valid for some seconds")
        bench.advance(milliseconds: 1_500)
        for _ in 0..<3 {
            bench.post(.tick)
            bench.settle()
        }
        #expect(bench.take(appServer).words == ["close credentials_revoked"], "once")
        bench.post(.upstreamReceived(Harness.upstream(1)))
        bench.settle()
        #expect(bench.take(appServer).isEmpty)
        #expect(bench.take(connection(8)).words == ["login accepted", "upstream u1"])

        let other = Harness.withDevice()
        other.bindAppServer()
        var records = Harness.senders
        records[0].keys = [ServerKey(digest: fresh, createdAt: 0)]
        other.post(.senders(SenderDirectory(records)))
        other.settle()
        #expect(other.take(appServer).words == ["close credentials_revoked"], "without an overlap at once")
    }

    @Test("A receipt is on disk before its message is removed, and is sent to an app server")
    func receipt() {
        let bench = Harness.withDevice(partitions: 2)
        bench.bindAppServer()
        bench.login()
        bench.submit(1, receipt: true)
        bench.settle()
        let sequences = bench.take(phone).compactMap(\.delivery?.message.sequence)
        bench.post(.deviceAcknowledged(phone, device, sequences))
        bench.runTurns()
        #expect(bench.store.downPending == 1)
        #expect(bench.take(appServer).words == ["ack 1"])
        bench.settle()
        #expect(bench.store.down.delivered == 1 && bench.store.missingReceipts.isEmpty)
        let got = bench.take(appServer)
        #expect(got.words == ["receipt m1"])
        #expect(got[0].upstream?.from == Harness.target)
        #expect(got[0].upstream?.category == bytes("app"))
        bench.post(
            .upstreamFinished(
                appServer, Harness.sender, got[0].upstream?.sequence ?? SequenceNumber(0), .acknowledged))
        bench.settle()
        #expect(bench.store.upstream[Harness.sender]?.isEmpty == true)
        #expect(bench.store.up == MilestoneCounts())
    }

    @Test(
        "A message listed as received at the next login earns its receipt and is not sent again"
    )
    func receiptAtLogin() {
        let bench = Harness.withDevice()
        bench.bindAppServer()
        bench.login()
        bench.submit(1, receipt: true)
        bench.submit(2)
        bench.settle()
        let ids = bench.take(phone).compactMap { $0.delivery?.message.persistentID }
        bench.crash(seed: 5)
        bench.bindAppServer()
        bench.login(connection(20), received: [ids[0]])
        bench.settle()
        #expect(
            bench.take(connection(20)).words == [
                "device login accepted", "deliver m2", "report when writable",
            ])
        #expect(bench.take(appServer).words.suffix(1) == ["receipt m1"])
        #expect(bench.store.downPending == 1 && bench.store.down.delivered == 1)
    }

    @Test("A message stays, and is sent again at the next login, when its receipt cannot be stored")
    func receiptRefused() {
        let bench = Harness.withDevice()
        bench.bindAppServer()
        bench.login()
        bench.submit(1, receipt: true)
        bench.settle()
        let sequences = bench.take(phone).compactMap(\.delivery?.message.sequence)
        bench.post(.deviceAcknowledged(phone, device, sequences))
        bench.runTurns()
        bench.apply(bench.partitions[0], failing: true)
        bench.reportOutcome(bench.partitions[0])
        bench.settle()
        #expect(bench.store.downPending == 1)
        bench.login(connection(20))
        bench.settle()
        #expect(
            bench.take(connection(20)).words == [
                "device login accepted", "deliver m1", "report when writable",
            ])
    }

    @Test("A message is neither replaced nor expires while its receipt is being stored")
    func receiptOnItsWay() {
        let bench = Harness.withDevice()
        bench.login()
        bench.submit(1, key: "k", lifetime: 1, receipt: true)
        bench.settle()
        let sequences = bench.take(phone).compactMap(\.delivery?.message.sequence)
        bench.post(.deviceAcknowledged(phone, device, sequences))
        bench.runTurns()
        bench.submit(2, key: "k")
        bench.advance(milliseconds: 2_000)
        bench.post(.tick)
        bench.post(.expired(.message(device, sequences[0], expiresAt: bench.now.wall - 1_000)))
        bench.settle()
        #expect(bench.store.down.delivered == 1 && bench.store.down.replaced == 0)
        #expect(bench.store.down.expired == 0 && bench.store.downPending == 1)
    }

    @Test("Unacknowledged receipts block no message and end after their time or number")
    func receiptsDoNotBlock() {
        var settings = DeliverySettings()
        settings.pendingWindow = 2
        let bench = Harness.withDevice(settings: settings)
        bench.bindAppServer()
        bench.login()
        for requestID in 1...5 as ClosedRange<UInt32> { bench.submit(requestID, receipt: true) }
        bench.settle()
        let sequences = bench.take(phone).compactMap(\.delivery?.message.sequence)
        bench.post(.deviceAcknowledged(phone, device, sequences))
        bench.settle()
        bench.post(.upstreamReceived(Harness.upstream(9)))
        bench.settle()
        let taken = bench.take(appServer)
        let words = taken.words.filter { !$0.hasPrefix("ack") }
        let handed = taken.compactMap(\.upstream).filter { $0.kind != .message }
        let releases = handed.prefix(2).map { "release \($0.sequence.number)" }
        #expect(
            words.filter { !$0.hasPrefix("release") } == (1...4).map { "receipt m\($0)" } + ["upstream u9"])
        #expect(words.filter { $0.hasPrefix("release") } == releases, "all but the window, once each")
        for receipt in handed.prefix(3) {
            bench.post(.upstreamFinished(appServer, Harness.sender, receipt.sequence, .unanswered))
            bench.settle()
        }
        let last = bench.take(appServer)
        #expect(last.words.first == "receipt m5")
        #expect(bench.store.upstream[Harness.sender]?.count == 3, "the last two and the message")
        bench.advance(milliseconds: 29_999)
        bench.post(.tick)
        bench.settle()
        #expect(bench.store.upstream[Harness.sender]?.count == 3)
        _ = bench.take(appServer)
        bench.advance(milliseconds: 1)
        bench.post(.tick)
        bench.settle()
        #expect(bench.store.upstream[Harness.sender]?.count == 1)
        let withdrawn = (handed.suffix(1) + last.compactMap(\.upstream)).map {
            "withdraw \($0.sequence.number)"
        }
        #expect(bench.take(appServer).words == withdrawn)
    }

    @Test("Canary: no receipt is sent when none was requested")
    func canary() {
        let bench = Harness.withDevice()
        bench.bindAppServer()
        bench.login()
        bench.submit(1)
        bench.settle()
        let sequences = bench.take(phone).compactMap(\.delivery?.message.sequence)
        bench.post(.deviceAcknowledged(phone, device, sequences))
        bench.settle()
        #expect(bench.take(appServer).words == ["ack 1"])
        #expect(bench.store.downPending == 0)
    }
}
