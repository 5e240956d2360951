import Basics
import Delivery
import Testing

/// The steps that are reported to the watcher of a device.
@Suite struct TraceTests {
    private static let watcher = Origin(connection: web, ticket: 7)

    /// A traced device, in several partitions.
    private func bench(settings: DeliverySettings = DeliverySettings()) -> Harness {
        let bench = Harness.withDevice(partitions: 3, settings: settings)
        bench.post(.trace(device, Self.watcher))
        bench.settle()
        return bench
    }

    private func heard(_ bench: Harness) -> [String] {
        bench.take(web).words.map { $0.replacing("traced 7 ", with: "") }
    }

    @Test("A message to the device is traced from its refusal or ACK to its end")
    func downstream() {
        let bench = bench()
        bench.submit(1, receipt: true)
        bench.settle()
        #expect(heard(bench) == ["downstream stored m1", "downstream accepted m1"])
        bench.login()
        bench.settle()
        #expect(heard(bench) == ["connection connected ", "downstream sent m1"])
        let sent = bench.take(phone).compactMap(\.delivery)
        bench.post(.deviceAcknowledged(phone, device, sent.map(\.message.sequence)))
        bench.settle()
        #expect(heard(bench) == ["downstream acknowledged m1", "downstream delivered m1"])
        bench.submit(2, lifetime: 0)
        bench.settle()
        #expect(heard(bench) == ["downstream accepted m2 now_or_never", "downstream sent m2 now_or_never"])
        bench.post(.deviceClosed(phone, device))
        bench.submit(3, lifetime: 0)
        bench.submit(4, key: "k")
        bench.submit(5, key: "k")
        bench.settle()
        #expect(
            heard(bench) == [
                "connection disconnected ", "downstream accepted m3 now_or_never",
                "downstream expired m3 now_or_never", "downstream replaced ", "downstream stored m4",
                "downstream accepted m4", "downstream stored m5", "downstream accepted m5",
            ])
        var wrong = Harness.submission(6)
        wrong.entitlement = .account(Harness.otherSender)
        bench.post(.submitted(wrong))
        bench.settle()
        #expect(heard(bench) == ["downstream refused m6 sender_mismatch"])
    }

    @Test("A message of the device is traced to the app server's answer, in whichever partition it is")
    func upstream() {
        let bench = bench()
        bench.login()
        bench.bindAppServer()
        _ = heard(bench)
        bench.post(.upstreamReceived(Harness.upstream(1)))
        bench.settle()
        #expect(
            heard(bench) == [
                "upstream received u1", "upstream stored u1", "upstream accepted u1", "upstream sent u1",
            ])
        let sent = bench.take(appServer).compactMap(\.upstream)
        bench.post(.upstreamSettled(appServer, Harness.sender, sent[0].sequence, .acknowledged))
        bench.settle()
        #expect(heard(bench) == ["upstream delivered u1"])
        bench.post(.upstreamReceived(Harness.upstream(2, id: "p1", content: 1)))
        bench.post(.upstreamReceived(Harness.upstream(3, category: "other")))
        bench.post(.upstreamReceived(Harness.upstream(4, lifetime: 0)))
        bench.settle()
        let words = heard(bench)
        #expect(words.contains("upstream duplicate u1"))
        #expect(words.contains("upstream refused u3 invalid_parameters"))
        #expect(words.contains("upstream sent u4 now_or_never"))
    }

    @Test("Failed batches, refused logins and the removal of the device are traced")
    func failures() {
        let bench = bench()
        bench.submit(1)
        let partition = bench.partitions[PartitionKey.device(device).partition(of: 3)]
        while partition.batches.isEmpty {
            bench.runTurns()
            bench.read(partition)
            bench.tellAnswer(partition)
        }
        bench.apply(partition, failing: true)
        bench.tellOutcome(partition)
        bench.settle()
        #expect(heard(bench) == ["downstream refused m1 unavailable"])
        bench.post(
            .deviceLogin(
                DeviceLogin(
                    connection: phone, device: device,
                    token: SecretDigest(octets: [UInt8](repeating: 1, count: 32)), received: [])))
        bench.submit(2)
        bench.settle()
        bench.post(.forgetDevice(device, Origin(connection: appServer, ticket: 1)))
        bench.settle()
        #expect(
            heard(bench) == [
                "connection login_refused  wrong_credentials", "downstream stored m2",
                "downstream accepted m2",
                "downstream removed m2", "connection forgotten ",
            ])
    }

    @Test("Each of several watchers gets the steps until it stops, and none of other devices")
    func watchers() {
        let bench = bench()
        let other = Origin(connection: appServer, ticket: 8)
        bench.post(.trace(device, other))
        bench.post(.trace(DeviceID(77), Origin(connection: phone, ticket: 9)))
        bench.submit(1)
        bench.settle()
        #expect(heard(bench).count == 2)
        #expect(bench.take(appServer).words.count { $0.hasPrefix("traced 8") } == 2)
        #expect(!bench.take(phone).words.contains { $0.hasPrefix("traced") })
        bench.post(.untrace(Self.watcher))
        bench.submit(2)
        bench.settle()
        #expect(heard(bench).isEmpty)
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
