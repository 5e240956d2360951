import Basics
import Delivery
import Testing

@Suite struct RegistryTests {
    private func request(
        _ requestID: UInt32, category: String = "app", subtype: String = "", sender: String = "100",
        token given: SecretDigest = token
    ) -> RegistrationRequest {
        RegistrationRequest(
            requester: Requester(connection: web, requestID: requestID), device: device, token: given,
            category: bytes(category), subtype: bytes(subtype), senderText: bytes(sender))
    }

    private func checkIn(
        _ requestID: UInt32, claimed: (DeviceID, SecretDigest)?, refuses: Bool = false,
        fresh: DeviceID = DeviceID(1 << 60 | 99)
    ) -> CheckIn {
        CheckIn(
            requester: Requester(connection: web, requestID: requestID), claimed: claimed, freshDevice: fresh,
            freshToken: 4_711, freshDigest: token, refusesWrongToken: refuses)
    }

    @Test("A new device gets its numbers when they are on disk, and the same ones again with the right token")
    func checksIn() {
        let bench = Harness(partitions: 3)
        let fresh = DeviceID(1 << 60 | 99)
        bench.post(.checkIn(checkIn(1, claimed: nil)))
        bench.settle()
        #expect(bench.take(web).words == ["checked in 1 true"])
        #expect(bench.store.records[fresh]?.token == token)
        bench.post(.checkIn(checkIn(2, claimed: (fresh, token))))
        bench.settle()
        #expect(bench.take(web).words == ["checked in 2 false"])
    }

    @Test(
        "A check-in with a wrong token is refused if the client can handle that, else answered with a new device"
    )
    func wrongToken() {
        let bench = Harness.withDevice(partitions: 4)
        let wrong = SecretDigest(bytes: [UInt8](repeating: 8, count: 32))
        bench.post(.checkIn(checkIn(1, claimed: (device, wrong), refuses: true)))
        for number in 2...9 as ClosedRange<UInt32> {
            let fresh = DeviceID(1 << 60 | UInt64(number) << 8)
            bench.post(.checkIn(checkIn(number, claimed: (device, wrong), fresh: fresh)))
        }
        bench.settle()
        let words = bench.take(web).words
        #expect(words.contains("check-in refused 1"))
        #expect(words.count { $0.hasSuffix(" true") } == 8)
        #expect(bench.store.records.count == 9)
    }

    @Test("A repeated registration returns the same token; one with another sender returns another")
    func sameAgain() {
        let bench = Harness.withDevice()
        bench.store.registrations[Harness.target]?.scope = .unnamed
        bench.post(.register(request(1)))
        bench.post(.register(request(2, sender: "200")))
        bench.post(.register(request(3, sender: "200")))
        bench.runTurns()
        bench.post(.register(request(4, sender: "200")))
        bench.runTurns()
        #expect(bench.take(web).isEmpty, "the device has not been read")
        bench.read(bench.partitions[0])
        bench.reportAnswer(bench.partitions[0])
        bench.runTurns()
        bench.post(.register(request(5, sender: "200")))
        bench.runTurns()
        #expect(bench.take(web).words == ["registered 1 1"], "nothing is answered before it is on disk")
        bench.settle()
        #expect(
            bench.take(web).words == ["registered 2 2", "registered 3 2", "registered 4 2", "registered 5 2"])
        #expect(bench.store.registrations.count == 2)
        #expect(bench.store.records[device]?.nextRegistration == 3)
    }

    @Test(
        "A registration resolves senders that are known, listed, foreign, or the key of a web app",
        arguments: [
            ("100", "registered", 100), ("7,200,100", "registered", 200), ("7", "INVALID_SENDER", 0),
            ("", "INVALID_SENDER", 0),
            ("BDOU99-h67HcA6JeFXHbSNMu7e2yNNu3RzoMj8TM4W88jITfq7Z", "registered", 0),
            ("99999999999999999999999999", "INVALID_SENDER", 0),
        ])
    func senders(text: String, word: String, sender: UInt64) {
        let bench = Harness.withDevice()
        bench.post(.register(request(1, category: "new", sender: text)))
        bench.settle()
        #expect(bench.take(web).first?.word.hasPrefix(word) == true)
        let made = bench.store.registrations.values.first { $0.category == bytes("new") }
        #expect(made?.sender?.number ?? 0 == sender)
    }

    @Test(
        "An impossible sender is refused to an app of a package and granted to browsers and their extensions",
        arguments: [
            ("com.example.app", "", "my-project", "INVALID_SENDER"),
            ("com.example.app", "", "100,my-project", "INVALID_SENDER"),
            ("com.example.app", "100", "*", "INVALID_SENDER"),
            ("com.example.app", "", "BOk", "INVALID_SENDER"),
            ("com.example.app", "", String(repeating: "A", count: 87), "INVALID_SENDER"),
            ("com.example.app", "", key, "registered"), ("com.example.app", "", key + "=", "registered"),
            ("com.example.app", "wp:ccs-device#1", "BOk", "registered"),
            ("org.chromium.linux", "wp:https://example.org/#0-V2", "BOk", "registered"),
            ("com.chrome.linux", "", "BOk", "registered"),
            ("abcdefghijklmnopabcdefghijklmnop", "", "my-project", "registered"),
            ("com.google.android.gms", "", "my-project", "registered"),
        ])
    func impossibleSenders(app: String, subtype: String, sender: String, word: String) {
        let bench = Harness.withDevice()
        bench.post(.register(request(1, category: app, subtype: subtype, sender: sender)))
        bench.settle()
        #expect(bench.take(web).first?.word.hasPrefix(word) == true)
    }

    /// The public key of an application server, in the form that clients send.
    private static let key =
        "BDOU99-h67HcA6JeFXHbSNMu7e2yNNu3RzoMj8TM4W88jITfq7ZmPvIM1Iv-4_l2LxQcYwhqby2xGpWwzjfAnG4"

    @Test("An app has at most 100 senders on one device, over all of its registrations")
    func sendersPerApp() {
        let bench = Harness.withDevice()
        let list = (["100"] + (1..<Limits.Registration.sendersPerApp).map { String(1_000 + $0) }).joined(
            separator: ",")
        let app = "com.example.app"
        bench.post(.register(request(1, category: app, sender: list)))
        bench.settle()
        bench.post(.register(request(2, category: app, subtype: "200", sender: "200")))
        bench.post(.register(request(3, category: app, subtype: "100", sender: "100")))
        bench.post(.register(request(4, category: app, sender: "100,1001")))
        bench.post(.register(request(5, category: app, subtype: "wp:a", sender: "200")))
        bench.post(.register(request(6, category: "com.example.other", sender: "200")))
        bench.settle()
        #expect(
            bench.take(web).words.sorted() == [
                "TOO_MANY_REGISTRATIONS 2", "registered 1 2", "registered 3 3", "registered 4 4",
                "registered 5 5", "registered 6 6",
            ])
        bench.post(.unregister(request(7, category: app, sender: list)))
        bench.post(.register(request(8, category: app, subtype: "200", sender: "200")))
        bench.settle()
        #expect(bench.take(web).words == ["unregistered 7", "registered 8 7"], "there is room again")
    }

    @Test("The browser's own registration is always granted")
    func browserItself() {
        let bench = Harness.withDevice()
        bench.post(.register(request(1, category: "com.google.android.gms", sender: "745476177629")))
        bench.settle()
        #expect(bench.take(web).words == ["registered 1 2"])
    }

    @Test(
        "A registration is refused with a wrong token, an empty app, too long a name or too many registrations"
    )
    func refusals() {
        var settings = DeliverySettings()
        settings.registrationsPerDevice = 2
        let bench = Harness.withDevice(settings: settings)
        let wrong = SecretDigest(bytes: [UInt8](repeating: 8, count: 32))
        bench.post(.register(request(1, token: wrong)))
        bench.post(.register(request(2, category: "")))
        bench.post(.register(request(3, subtype: String(repeating: "x", count: 513))))
        bench.post(.register(request(4, subtype: "a")))
        bench.post(.register(request(5, subtype: "b")))
        bench.settle()
        #expect(
            bench.take(web).words.sorted() == [
                "AUTHENTICATION_FAILED 1", "INVALID_PARAMETERS 2", "INVALID_PARAMETERS 3",
                "TOO_MANY_REGISTRATIONS 5", "registered 4 2",
            ])
    }

    @Test("Unregistering removes the messages; further ones are answered as not registered")
    func unregisters() {
        let bench = Harness.withDevice()
        bench.submit(1)
        bench.submit(2)
        bench.settle()
        bench.post(.unregister(request(3, sender: "*")))
        bench.submit(4)
        bench.settle()
        #expect(bench.take(web).words == ["unregistered 3"])
        #expect(bench.take(appServer).words == ["ack 1", "ack 2", "nack 4 not_registered"])
        #expect(bench.store.down.removed == 2 && bench.store.holds)
        bench.post(.register(request(5)))
        bench.settle()
        #expect(bench.take(web).words == ["registered 5 2"], "a number is never reused")
    }

    @Test("Unregistering a sender or subtype removes only its registrations")
    func unregistersOne() {
        let bench = Harness.withDevice()
        bench.post(.register(request(1, subtype: "a")))
        bench.post(.register(request(2, subtype: "b")))
        bench.settle()
        bench.post(.unregister(request(3, subtype: "a")))
        bench.post(.unregister(request(4, sender: "200")))
        bench.settle()
        #expect(
            bench.take(web).words == ["registered 1 2", "registered 2 3", "unregistered 3", "unregistered 4"])
        #expect(bench.store.registrations.keys.map(\.number.number).sorted() == [1, 3])
    }

    @Test("Forgetting a device removes all of its state and closes its connection")
    func forgets() {
        let bench = Harness.withDevice()
        bench.login()
        bench.submit(1)
        bench.settle()
        bench.post(.forgetDevice(device, Requester(connection: web, requestID: 9)))
        bench.settle()
        #expect(bench.take(web).words == ["forgotten 9 1 1"])
        #expect(bench.take(phone).words.last == "close device_forgotten")
        #expect(bench.store.records.isEmpty && bench.store.registrations.isEmpty)
        #expect(bench.store.down.removed == 1 && bench.store.holds)
        bench.post(.forgetDevice(device, Requester(connection: web, requestID: 10)))
        bench.settle()
        #expect(bench.take(web).words == ["forgotten 10 0 0"])
    }

    @Test("A registration is not granted when its batch failed")
    func failedBatch() {
        let bench = Harness.withDevice()
        bench.login()
        bench.settle()
        bench.post(.register(request(1, subtype: "a")))
        bench.runTurns()
        bench.post(.register(request(2, subtype: "a")))
        bench.runTurns()
        bench.apply(bench.partitions[0], failing: true)
        bench.reportOutcome(bench.partitions[0])
        bench.settle()
        #expect(bench.take(web).words == ["SERVICE_NOT_AVAILABLE 1", "SERVICE_NOT_AVAILABLE 2"])
        #expect(bench.store.registrations.count == 1)
    }

    @Test("Idle devices are evicted beyond the limit; busy ones are not")
    func idleLimit() {
        var settings = DeliverySettings()
        settings.idleDevicesInMemory = 3
        let bench = Harness.withDevice(settings: settings)
        bench.login()
        for number in 0..<20 as Range<UInt64> {
            let nobody = RegistrationName(device: DeviceID(number + 500), number: RegistrationNumber(1))
            bench.post(.submitted(Harness.submission(1, to: nobody)))
        }
        bench.settle()
        // The last three are still in memory; the first ones are read again, except the connected device.
        for number in [500, 519, device.number] as [UInt64] {
            let name = RegistrationName(device: DeviceID(number), number: RegistrationNumber(9))
            bench.post(.submitted(Harness.submission(1, to: name)))
        }
        bench.runTurns()
        #expect(bench.partitions[0].loads == [.device(DeviceID(500))])
    }

    @Test("Canary: registrations are refused when the store has no record of the device")
    func canary() {
        let bench = Harness()
        bench.post(.register(request(1)))
        bench.settle()
        #expect(bench.take(web).words == ["AUTHENTICATION_FAILED 1"])
    }
}
