import Basics
import Delivery
import Testing

/// Rows that an operator imports: added, kept or replaced, also while the device is connected.
@Suite struct ImportTests {
    private let topic = TopicName(bytes("news"))
    private let fresh = DeviceID(1 << 60 | 55)

    private func rows(
        _ requestID: UInt32, of device: DeviceID = device, replaces: Bool = false,
        _ change: (inout DeviceImport) -> Void
    ) -> Event {
        var rows = DeviceImport(
            requester: Requester(connection: web, requestID: requestID), device: device, replaces: replaces)
        change(&rows)
        return .imported(rows)
    }

    private func record(
        _ device: DeviceID, next: UInt64 = 4, token: SecretDigest = token, created: UnixMilliseconds = 0
    ) -> DeviceRecord {
        DeviceRecord(
            device: device, token: token, createdAt: created, seenAt: 5, nextRegistration: next)
    }

    private func registration(
        _ device: DeviceID, _ number: UInt64, app: String = "app"
    ) -> Registration {
        Registration(
            name: RegistrationName(device: device, number: RegistrationNumber(number)), category: bytes(app),
            subtype: [], senderText: bytes("100"), sender: Harness.sender, createdAt: 0)
    }

    private func words(_ bench: Harness, _ event: Event) -> [String] {
        bench.post(event)
        bench.settle()
        return bench.take(web).words
    }

    @Test("A new device is added with its rows, and unchanged when they come again", arguments: [1, 3])
    func added(_ partitions: Int) throws {
        let bench = Harness(partitions: partitions)
        let topic = try #require(topic)
        for (requestID, word) in [(1, "added"), (2, "unchanged")] as [(UInt32, String)] {
            let answer = words(
                bench,
                rows(requestID, of: fresh) {
                    $0.record = record(fresh)
                    $0.registrations = [registration(fresh, 3), registration(fresh, 1)]
                    $0.subscriptions = [
                        Subscription(
                            name: registration(fresh, 1).name, sender: Harness.sender, topic: topic, since: 9)
                    ]
                })
            #expect(answer == ["imported \(requestID) \(word) \(word) \(word) \(word)"])
        }
        #expect(bench.store.records[fresh] == record(fresh))
        #expect(bench.store.registrations.keys.map(\.number.number).sorted() == [1, 3])
        #expect(bench.store.holds)
    }

    @Test("Rows that differ are kept unless they are to be replaced, also of a connected device")
    func differs() {
        let bench = Harness.withDevice()
        bench.login()
        bench.settle()
        _ = bench.take(phone)
        let other = SecretDigest(bytes: [UInt8](repeating: 8, count: 32))
        func change(_ rows: inout DeviceImport) {
            rows.record = record(device, next: 7, token: other)
            rows.registrations = [registration(device, 1, app: "other")]
        }
        #expect(words(bench, rows(1) { change(&$0) }) == ["imported 1 differs differs"])
        #expect(bench.store.records[device]?.token == token)
        #expect(
            words(bench, rows(2, replaces: true) { change(&$0) }) == ["imported 2 replaced replaced"])
        #expect(bench.store.records[device]?.token == other)
        #expect(bench.store.records[device]?.nextRegistration == 7)
        #expect(bench.store.registrations[Harness.target]?.category == bytes("other"))
        // The connection stays, and its messages arrive.
        bench.submit(1)
        bench.settle()
        #expect(bench.take(phone).words == ["deliver m1"])
    }

    @Test("What only increases is never set back")
    func neverBack() {
        let bench = Harness.withDevice()
        let stored = bench.store.records[device]
        #expect(words(bench, rows(1) { $0.record = record(device, next: 1) }) == ["imported 1 unchanged"])
        #expect(bench.store.records[device] == stored)
        #expect(words(bench, rows(2) { $0.record = record(device, next: 9) }) == ["imported 2 unchanged"])
        #expect(bench.store.records[device]?.nextRegistration == 9)
        #expect(bench.store.records[device]?.seenAt == stored?.seenAt)
    }

    @Test("Rows without their device or registration, and numbers beyond their device, are refused")
    func dependencies() throws {
        let bench = Harness.withDevice()
        let topic = try #require(topic)
        let lost = Subscription(
            name: registration(fresh, 1).name, sender: Harness.sender, topic: topic, since: 9)
        #expect(
            words(
                bench,
                rows(1, of: fresh) {
                    $0.registrations = [registration(fresh, 1)]
                    $0.subscriptions = [lost]
                }) == ["imported 1 no_device no_registration"])
        #expect(
            words(bench, rows(2) { $0.registrations = [registration(device, 2)] })
                == ["imported 2 beyond_device"])
        #expect(bench.store.records.count == 1 && bench.store.registrations.count == 1)
    }

    @Test("A device has room for the maximum number of registrations")
    func full() {
        var settings = DeliverySettings()
        settings.registrationsPerDevice = 2
        let bench = Harness.withDevice(settings: settings)
        #expect(
            words(
                bench,
                rows(1) {
                    $0.record = record(device, next: 9)
                    $0.registrations = [registration(device, 2), registration(device, 3)]
                }) == ["imported 1 unchanged added full"])
    }

    @Test("Lookup keys are those of the secret that is imported with the rows")
    func lookupKeys() {
        let bench = Harness.withDevice()
        let imported = TokenSeal(secret: [UInt8](repeating: 9, count: 32))
        var apple = registration(fresh, 1)
        apple.apnsToken = bytes("a1b2")
        func take(_ requestID: UInt32, replaces: Bool = false) -> [String] {
            words(
                bench,
                rows(requestID, of: fresh, replaces: replaces) {
                    $0.seal = imported
                    $0.record = record(fresh)
                    $0.registrations = [apple]
                })
        }
        #expect(take(1) == ["imported 1 added added"])
        let first = imported.indexKey(ofBundle: bytes("app"), token: bytes("a1b2"))
        #expect(bench.store.installations[first] == [apple.name])
        apple.apnsToken = bytes("c3d4")
        #expect(take(2, replaces: true) == ["imported 2 unchanged replaced"])
        let second = imported.indexKey(ofBundle: bytes("app"), token: bytes("c3d4"))
        #expect(bench.store.installations[second] == [apple.name] && bench.store.installations[first] == [])
    }

    @Test(
        "An installation is added, kept if it differs, and replaced on request, in order with other changes")
    func installations() {
        let bench = Harness.withDevice()
        let id = bytes("cGFzc3dvcmQ_aGVsbG8tdw")
        func request(_ requestID: UInt32, _ action: InstallationRequest.Action) -> Event {
            .installation(
                InstallationRequest(
                    requester: Requester(connection: web, requestID: requestID), installation: id,
                    sender: Harness.sender, action: action))
        }
        func imported(
            _ requestID: UInt32, _ refresh: UInt8, used: UnixMilliseconds, replaces: Bool = false
        ) -> Event {
            request(
                requestID,
                .imported(
                    InstallationRecord(
                        id: id, sender: Harness.sender,
                        refresh: SecretDigest(bytes: [UInt8](repeating: refresh, count: 32)), createdAt: 1,
                        usedAt: used), replaces: replaces))
        }
        func stored() -> InstallationRecord? { bench.store.installationRecords[id] }
        #expect(words(bench, imported(1, 1, used: 5)) == ["imported 1 added"])
        #expect(words(bench, imported(2, 1, used: 3)) == ["imported 2 unchanged"])
        #expect(stored()?.usedAt == 5, "never set back")
        #expect(words(bench, imported(3, 1, used: 9)) == ["imported 3 unchanged"])
        #expect(stored()?.usedAt == 9)
        #expect(words(bench, imported(4, 2, used: 1)) == ["imported 4 differs"])
        #expect(stored()?.refresh?.bytes.first == 1)
        #expect(words(bench, imported(5, 2, used: 1, replaces: true)) == ["imported 5 replaced"])
        #expect(stored()?.refresh?.bytes.first == 2 && stored()?.usedAt == 9)
        // The import starts from the result of the revocation before it.
        bench.post(request(6, .revoke))
        let both = words(bench, imported(7, 2, used: 9))
        #expect(both.last == "imported 7 differs" && both.count == 2, "\(both)")
        #expect(stored()?.refresh == nil)
        var full = Requester(connection: web, requestID: 8)
        full.growth = .full
        let other = InstallationRecord(
            id: bytes("dGFzc3dvcmQ_aGVsbG8tdw"), sender: nil, refresh: nil, createdAt: 1, usedAt: 1)
        let refused = words(
            bench,
            .installation(
                InstallationRequest(
                    requester: full, installation: other.id, sender: nil,
                    action: .imported(other, replaces: false))))
        #expect(refused == ["REGISTRY_FULL 8"] && bench.store.installationRecords.count == 1)
    }

    @Test("A full registry refuses all rows")
    func registryFull() {
        let bench = Harness.withDevice()
        var requester = Requester(connection: web, requestID: 1)
        requester.growth = .full
        var rows = DeviceImport(requester: requester, device: fresh, replaces: false)
        rows.record = record(fresh)
        #expect(words(bench, .imported(rows)) == ["REGISTRY_FULL 1"])
        #expect(bench.store.records[fresh] == nil)
    }

    @Test("A group is added under its name, kept if another one has its label, and replaced on request")
    func groups() {
        let bench = Harness.withDevice()
        func imported(_ requestID: UInt32, _ number: UInt64, members: [UInt64], replaces: Bool) -> [String] {
            let group = GroupRecord(
                name: GroupName(sender: Harness.sender, number: number), label: bytes("family"),
                members: members.map { TokenName(registration(device, $0).name) }, createdAt: 4)
            return words(
                bench,
                .groupRequested(
                    GroupRequest(
                        requester: Requester(connection: web, requestID: requestID), sender: Harness.sender,
                        operation: .imported(group, replaces: replaces))))
        }
        #expect(imported(1, 77, members: [1], replaces: false) == ["group known 1 1"])
        #expect(imported(2, 77, members: [1], replaces: false) == ["group known 2 1"])
        #expect(imported(3, 77, members: [1, 2], replaces: false) == ["group refused 3 label_taken"])
        #expect(imported(4, 78, members: [1], replaces: true) == ["group refused 4 label_taken"])
        #expect(imported(5, 77, members: [1, 2], replaces: true) == ["group known 5 1,2"])
    }

    @Test("A registration has room for the maximum number of subscriptions, also of imported ones")
    func fullOfTopics() throws {
        var settings = DeliverySettings()
        settings.subscriptionsPerRegistration = 2
        let bench = Harness.withDevice(settings: settings)
        let subscriptions = try (1...3).map { number in
            Subscription(
                name: Harness.target, sender: Harness.sender,
                topic: try #require(TopicName(bytes("t\(number)"))), since: 9)
        }
        #expect(
            words(bench, rows(1) { $0.subscriptions = subscriptions }) == ["imported 1 added added full"])
        #expect(bench.store.holds)
    }
}
