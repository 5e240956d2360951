import Basics
import Delivery
import Testing

/// What unauthenticated peers can add to the registry within the limits of the admission check, and how it expires.
@Suite struct StrangerTests {
    private static let day: Int64 = 86_400_000
    private let fresh = DeviceID(1 << 60 | 99)

    private func requester(_ requestID: UInt32, _ growth: Requester.Growth) -> Requester {
        var requester = Requester(connection: web, requestID: requestID)
        requester.growth = growth
        return requester
    }

    private func checkIn(
        _ requestID: UInt32, _ growth: Requester.Growth, claimed: (DeviceID, SecretDigest)? = nil
    ) -> Event {
        .checkIn(
            CheckIn(
                requester: requester(requestID, growth), claimed: claimed, freshDevice: fresh,
                freshToken: 4_711,
                freshDigest: token, refusesWrongToken: false))
    }

    private func register(_ requestID: UInt32, _ growth: Requester.Growth, of device: DeviceID) -> Event {
        .register(
            RegistrationRequest(
                requester: requester(requestID, growth), device: device, token: token, category: bytes("app"),
                subtype: [], senderText: bytes("100")))
    }

    private func words(_ bench: Harness, _ event: Event) -> [String] {
        bench.post(event)
        bench.settle()
        return bench.take(web).words
    }

    private func sweep(_ bench: Harness) {
        for _ in 0..<4 {
            bench.advance(milliseconds: Int64(Limits.Device.sweepMilliseconds))
            bench.post(.tick)
            bench.settle()
        }
    }

    @Test(
        "A new device is refused when unauthenticated peers have used their quota, and so is one with a wrong token"
    )
    func newDevices() {
        let bench = Harness(partitions: 2)
        #expect(words(bench, checkIn(1, .knownOnly)) == ["QUOTA_EXCEEDED 1"])
        let wrong = (DeviceID(7), token)
        #expect(
            words(bench, checkIn(2, .knownOnly, claimed: wrong)) == ["QUOTA_EXCEEDED 2"])
        #expect(bench.store.records.isEmpty)
        #expect(words(bench, checkIn(3, .counted)) == ["checked in 3 true"])
        #expect(
            words(bench, checkIn(4, .knownOnly, claimed: (fresh, token))) == ["checked in 4 false"],
            "it adds nothing")
        #expect(
            words(bench, checkIn(5, .counted, claimed: (fresh, token)))
                == ["refund quota", "checked in 5 false"])
    }

    @Test(
        "A device counts as unauthenticated until it has logged in; then its slot is released and it is always served"
    )
    func known() {
        let bench = Harness()
        _ = words(bench, checkIn(1, .counted))
        #expect(
            words(bench, register(2, .knownOnly, of: fresh)) == ["QUOTA_EXCEEDED 2"])
        #expect(words(bench, register(3, .counted, of: fresh)) == ["registered 3 1"])
        #expect(
            words(bench, register(4, .knownOnly, of: fresh)) == ["registered 4 1"],
            "repeating it adds nothing")
        bench.post(
            .deviceLogin(DeviceLogin(connection: phone, device: fresh, token: token, received: [])))
        bench.settle()
        #expect(bench.store.records[fresh]?.hasLoggedIn == true)
        bench.store.registrations.removeAll()
        let known = Harness(store: bench.store)
        #expect(words(known, register(5, .counted, of: fresh)) == ["refund quota", "registered 5 2"])
        known.store.registrations.removeAll()
        let full = Harness(store: known.store)
        #expect(words(full, register(6, .knownOnly, of: fresh)) == ["registered 6 3"])
    }

    @Test("A subscription of an unauthenticated device is counted; an unsubscription is not")
    func topics() throws {
        let bench = Harness.withDevice()
        bench.store.records[device]?.hasLoggedIn = false
        let topic = try #require(TopicName(bytes("news")))
        func request(_ requestID: UInt32, _ growth: Requester.Growth, isEnd: Bool = false) -> TopicRequest {
            TopicRequest(
                requester: requester(requestID, growth), name: Harness.target, token: token, topic: topic,
                isEnd: isEnd)
        }
        let refused = words(bench, .subscribe(request(1, .knownOnly)))
        #expect(refused == ["QUOTA_EXCEEDED 1"])
        #expect(words(bench, .subscribe(request(2, .counted))) == ["unregistered 2"])
        let end = Event.subscribe(request(3, .unbounded, isEnd: true))
        #expect(end.growth == nil)
        #expect(words(bench, end) == ["unregistered 3"])
    }

    @Test("A device that neither logged in nor registered expires after a day; canary: others stay")
    func unused() {
        let bench = Harness(partitions: 2)
        var settings = RunningSettings()
        settings.deviceExpirySeconds = 0
        bench.post(.settingsChanged(settings))
        _ = words(bench, checkIn(1, .counted))
        for (number, hasLoggedIn, next) in [(3, true, 1), (4, false, 2)] as [(UInt64, Bool, UInt64)] {
            bench.store.records[DeviceID(number)] = DeviceRecord(
                device: DeviceID(number), token: token, createdAt: 0, seenAt: 0, nextRegistration: next,
                hasLoggedIn: hasLoggedIn)
        }
        bench.advance(milliseconds: Self.day - 60_000)
        sweep(bench)
        #expect(bench.store.records.count == 3, "it stays for one day")
        bench.advance(milliseconds: Int64(Limits.Device.sweepPauseSeconds) * 1_000)
        sweep(bench)
        #expect(bench.store.records.keys.map(\.number).sorted() == [3, 4])
        #expect(bench.unusedDevices == 1 && bench.expiredDevices == 0)
    }

    @Test("Repeated check-ins do not keep an unused device from expiring; a connection does")
    func repeated() {
        let bench = Harness()
        _ = words(bench, checkIn(1, .counted))
        bench.advance(milliseconds: Self.day / 2)
        _ = words(bench, checkIn(2, .counted, claimed: (fresh, token)))
        bench.advance(milliseconds: Self.day / 2 + 1)
        bench.post(.unseen(fresh))
        bench.settle()
        #expect(bench.store.records.isEmpty)
        _ = words(bench, checkIn(3, .counted))
        bench.post(
            .deviceLogin(DeviceLogin(connection: phone, device: fresh, token: token, received: [])))
        bench.settle()
        bench.advance(milliseconds: 2 * Self.day)
        bench.post(.unseen(fresh))
        bench.settle()
        #expect(bench.store.records.count == 1)
    }
}
