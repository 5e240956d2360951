import Basics
import Delivery
import Testing

/// The steps that are reported to the watcher of a device.
@Suite struct TraceTests {
    private static let watcher = Requester(connection: web, requestID: 7)

    /// A traced device, in several partitions.
    private func bench(settings: DeliverySettings = DeliverySettings()) -> Harness {
        let bench = Harness.withDevice(partitions: 3, settings: settings)
        bench.post(.trace(device, Self.watcher))
        bench.settle()
        return bench
    }

    private func steps(_ bench: Harness) -> [String] {
        bench.take(web).words.map { $0.replacing("traced 7 ", with: "") }
    }

    @Test("A message to the device is traced from its refusal or ACK to its end")
    func downstream() {
        let bench = bench()
        bench.submit(1, receipt: true)
        bench.settle()
        #expect(steps(bench) == ["downstream stored m1", "downstream accepted m1"])
        bench.login()
        bench.settle()
        #expect(steps(bench) == ["connection connected ", "downstream sent m1"])
        let sent = bench.take(phone).compactMap(\.delivery)
        bench.post(.deviceAcknowledged(phone, device, sent.map(\.message.sequence)))
        bench.settle()
        #expect(steps(bench) == ["downstream acknowledged m1", "downstream delivered m1"])
        bench.submit(2, lifetime: 0)
        bench.settle()
        #expect(steps(bench) == ["downstream accepted m2 now_or_never", "downstream sent m2 now_or_never"])
        bench.post(.deviceClosed(phone, device))
        bench.submit(3, lifetime: 0)
        bench.submit(4, key: "k")
        bench.submit(5, key: "k")
        bench.settle()
        #expect(
            steps(bench) == [
                "connection disconnected ", "downstream accepted m3 now_or_never",
                "downstream expired m3 now_or_never", "downstream stored m4", "downstream accepted m4",
                "downstream stored m5", "downstream accepted m5", "downstream replaced m4",
            ])
        var wrong = Harness.submission(6)
        wrong.entitlement = .account(Harness.otherSender)
        bench.post(.submitted(wrong))
        bench.settle()
        #expect(steps(bench) == ["downstream refused m6 sender_mismatch"])
    }

    @Test("A message of the device is traced to the app server's answer, in whichever partition it is")
    func upstream() {
        let bench = bench()
        bench.login()
        bench.bindAppServer()
        _ = steps(bench)
        bench.post(.upstreamReceived(Harness.upstream(1)))
        bench.settle()
        #expect(
            steps(bench) == [
                "upstream received u1", "upstream stored u1", "upstream accepted u1", "upstream sent u1",
            ])
        let sent = bench.take(appServer).compactMap(\.upstream)
        bench.post(.upstreamFinished(appServer, Harness.sender, sent[0].sequence, .acknowledged))
        bench.settle()
        #expect(steps(bench) == ["upstream delivered u1"])
        bench.post(.upstreamReceived(Harness.upstream(2, id: "p1", content: 1)))
        bench.post(.upstreamReceived(Harness.upstream(3, category: "other")))
        bench.post(.upstreamReceived(Harness.upstream(4, lifetime: 0)))
        bench.settle()
        let words = steps(bench)
        #expect(words.contains("upstream duplicate u1"))
        #expect(words.contains("upstream refused u3 invalid_parameters"))
        #expect(words.contains("upstream sent u4 now_or_never"))
    }

    @Test(
        "A message of the device that expires without an app server is traced to its end, with its ID and place"
    )
    func returned() {
        let bench = bench()
        bench.login()
        bench.post(.upstreamReceived(Harness.upstream(1, lifetime: 10)))
        bench.settle()
        let stored = bench.store.upstream[Harness.sender]?.first?.sequence
        _ = bench.take(web)
        for _ in 0..<2 {
            bench.advance(milliseconds: 5_500)
            bench.post(.tick)
            bench.settle()
        }
        let records = bench.take(web).compactMap { command in
            if case .reply(_, .traced(let record)) = command, record.step == .expired { record } else { nil }
        }
        #expect(records.count == 1 && records[0].messageID == bytes("u1"))
        #expect(records[0].sender == Harness.sender && records[0].registration == Harness.target.number)
        #expect(
            records[0].persistentID.map { "\($0)" } == stored.map { "\(PersistentID(sequence: $0, salt: 0))" }
        )
    }

    @Test("Failed batches, refused logins and the removal of the device are traced")
    func failures() {
        let bench = bench()
        bench.submit(1)
        let partition = bench.partitions[PartitionKey.device(device).partition(of: 3)]
        while partition.batches.isEmpty {
            bench.runTurns()
            bench.read(partition)
            bench.reportAnswer(partition)
        }
        bench.apply(partition, failing: true)
        bench.reportOutcome(partition)
        bench.settle()
        #expect(steps(bench) == ["downstream refused m1 unavailable"])
        bench.post(
            .deviceLogin(
                DeviceLogin(
                    connection: phone, device: device,
                    token: SecretDigest(bytes: [UInt8](repeating: 1, count: 32)), received: [])))
        bench.submit(2)
        bench.settle()
        bench.post(.forgetDevice(device, Requester(connection: appServer, requestID: 1)))
        bench.settle()
        #expect(
            steps(bench) == [
                "connection login_refused  wrong_credentials", "downstream stored m2",
                "downstream accepted m2",
                "downstream removed m2", "connection forgotten ",
            ])
    }

    @Test("Each of several watchers gets the steps until it stops, and none of other devices")
    func watchers() {
        let bench = bench()
        let other = Requester(connection: appServer, requestID: 8)
        bench.post(.trace(device, other))
        bench.post(.trace(DeviceID(77), Requester(connection: phone, requestID: 9)))
        bench.submit(1)
        bench.settle()
        #expect(steps(bench).count == 2)
        #expect(bench.take(appServer).words.count { $0.hasPrefix("traced 8") } == 2)
        #expect(!bench.take(phone).words.contains { $0.hasPrefix("traced") })
        bench.post(.untrace(Self.watcher))
        bench.submit(2)
        bench.settle()
        #expect(steps(bench).isEmpty)
        #expect(bench.take(appServer).words.count { $0.hasPrefix("traced 8") } == 2)
        bench.post(.untrace(other))
        bench.submit(3)
        bench.settle()
        #expect(bench.take(appServer).words == ["ack 3"])
    }

    @Test("Canary: nothing is reported without a watcher")
    func canary() {
        let bench = Harness.withDevice(partitions: 3)
        bench.submit(1)
        bench.login()
        bench.settle()
        #expect(!bench.commands.contains { $0.1.word.hasPrefix("traced") })
    }
}
