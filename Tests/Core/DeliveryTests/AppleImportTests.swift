import Basics
import Testing

@testable import Delivery

/// APNs device tokens that an app server imports (http 7.4).
@Suite struct AppleImportTests {
    private let hidden = SecretDigest(bytes: [UInt8](repeating: 3, count: 32))
    private let fid = bytes("dGFzc3dvcmQ_aGVsbG8tdw")

    private func imported(
        _ requestID: UInt32, _ apple: String = "p_01", sender: SenderID = Harness.sender,
        bundle: String = "com.example.ios"
    ) -> Event {
        let seal = DeliverySettings().seal
        let place = seal.indexKey(ofBundle: bytes(bundle), token: bytes(apple))
        return .installation(
            InstallationRequest(
                requester: Requester(connection: web, requestID: requestID), installation: place,
                sender: sender,
                action: .apple(
                    AppleRegistration(
                        bundle: bytes(bundle), token: bytes(apple),
                        freshDevice: DeviceID(seal.deviceNumber(ofIndexKey: place, sender: sender) >> 1),
                        freshDigest: hidden, isImport: true))))
    }

    /// The registration of an app by its installation.
    private func registered(_ requestID: UInt32, _ apple: String, at fresh: UInt64 = 1 << 60 | 900) -> Event {
        .installation(
            InstallationRequest(
                requester: Requester(connection: web, requestID: requestID), installation: fid,
                sender: Harness.sender,
                action: .apple(
                    AppleRegistration(
                        bundle: bytes("com.example.ios"), token: bytes(apple),
                        freshDevice: DeviceID(fresh), freshDigest: hidden))))
    }

    private func names(_ bench: Harness) -> [UInt32: RegistrationName] {
        var names: [UInt32: RegistrationName] = [:]
        for command in bench.take(web) {
            if case .reply(let requestID, .registered(let token)) = command {
                names[requestID] = token.registration
            }
        }
        return names
    }

    @Test(
        "An import of the same APNs token returns the same registration, also after a crash, and a message to it waits"
    )
    func once() throws {
        let bench = Harness(partitions: 3)
        bench.post(imported(1))
        bench.post(imported(2))
        bench.runTurns()
        #expect(bench.take(web).isEmpty, "a registration is not confirmed before it is on disk")
        bench.settle()
        bench.post(imported(3))
        bench.settle()
        let made = names(bench)
        let name = try #require(made[1])
        #expect(made == [1: name, 2: name, 3: name])
        bench.crash(seed: 5)
        bench.post(imported(4))
        bench.settle()
        #expect(names(bench) == [4: name])
        let registration = try #require(bench.store.registrations[name])
        #expect(bench.store.registrations.count == 1)
        #expect(registration.apnsToken == bytes("p_01") && registration.sender == Harness.sender)
        #expect(registration.category == bytes("com.example.ios") && registration.instance.isEmpty)
        bench.post(.submitted(Harness.submission(1, to: name)))
        bench.settle()
        #expect(bench.store.messages[name.device]?.count == 1)
    }

    @Test("An import makes another registration when environment, app or sender differ")
    func apart() {
        let bench = Harness()
        bench.post(imported(1))
        bench.post(imported(2, "s_01"))
        bench.post(imported(3, bundle: "com.example.other"))
        bench.post(imported(4, sender: Harness.otherSender))
        bench.settle()
        #expect(Set(names(bench).values).count == 4)
        bench.post(imported(5, sender: SenderID(9)))
        bench.settle()
        #expect(bench.take(web).words == ["INVALID_SENDER 5"])
    }

    @Test("An import finds the app's own registration by its current APNs token")
    func known() throws {
        let bench = Harness(partitions: 2)
        bench.post(registered(1, "p_01"))
        bench.settle()
        let own = try #require(names(bench)[1])
        bench.post(imported(2))
        bench.settle()
        #expect(names(bench) == [2: own])
        bench.post(registered(3, "p_02"))
        bench.settle()
        bench.post(imported(4, "p_02"))
        bench.post(imported(5))
        bench.settle()
        let found = names(bench)
        #expect(found[4] == own, "the new token belongs to the app's own registration")
        #expect(found[5] != nil && found[5] != own, "the old token makes another registration")
        #expect(
            bench.store.installations.values.count { $0.contains(own) } == 2,
            "it is found by its installation id and its APNs token")
    }

    @Test("An import finds a registration that a device made with the APNs token")
    func ofDevice() throws {
        let bench = Harness.withDevice()
        var request = RegistrationRequest(
            requester: Requester(connection: web, requestID: 1), device: device, token: token,
            category: bytes("com.example.ios"), subtype: [], senderText: bytes("100"))
        request.apnsToken = bytes("p_01")
        bench.post(.register(request))
        bench.settle()
        let own = try #require(names(bench)[1])
        bench.post(imported(2))
        bench.settle()
        #expect(names(bench) == [2: own])
        request.apnsToken = bytes("p_02")
        request.appVersion = bytes("37")
        bench.post(.register(request))
        bench.settle()
        bench.post(imported(3, "p_02"))
        bench.settle()
        #expect(names(bench)[3] == own)
        #expect(bench.store.registrations[own]?.appVersion == bytes("37"))
        request.appVersion = []
        bench.post(.register(request))
        bench.settle()
        #expect(
            bench.store.registrations[own]?.appVersion == bytes("37"),
            "the version stays when a request reports none")
    }

    @Test("An import finds the registration with the APNs token and app when the device has several")
    func several() throws {
        let bench = Harness.withDevice()
        func register(_ requestID: UInt32, _ app: String, senders: String, _ apple: String) throws
            -> RegistrationName
        {
            var request = RegistrationRequest(
                requester: Requester(connection: web, requestID: requestID), device: device, token: token,
                category: bytes(app), subtype: [], senderText: bytes(senders))
            request.apnsToken = bytes(apple)
            bench.post(.register(request))
            bench.settle()
            return try #require(names(bench)[requestID])
        }
        let first = try register(1, "com.example.ios", senders: "100", "p_01")
        let second = try register(2, "com.example.ios", senders: "100,200", "p_02")
        let other = try register(3, "com.example.other", senders: "100", "p_01")
        bench.post(imported(4, "p_01"))
        bench.post(imported(5, "p_02"))
        bench.post(imported(6, "p_01", bundle: "com.example.other"))
        bench.settle()
        #expect(names(bench) == [4: first, 5: second, 6: other])
        #expect(
            bench.store.registrations[second]?.apnsToken == bytes("p_02"),
            "each registration keeps its APNs token")
    }

    @Test("An import gets a device of its own when another sender has imported the same token")
    func otherSender() throws {
        let bench = Harness(partitions: 2)
        bench.post(imported(1))
        bench.settle()
        let first = try #require(names(bench)[1])
        bench.post(imported(2, sender: Harness.otherSender))
        bench.settle()
        let second = try #require(names(bench)[2])
        let seal = DeliverySettings().seal
        let place = seal.indexKey(ofBundle: bytes("com.example.ios"), token: bytes("p_01"))
        let number = seal.deviceNumber(ofIndexKey: place, sender: Harness.otherSender)
        #expect(second.device == DeviceID(number >> 1))
        #expect(second.device != first.device)
        bench.post(imported(3))
        bench.post(imported(4, sender: Harness.otherSender))
        bench.settle()
        #expect(names(bench) == [3: first, 4: second])
    }

    @Test(
        "An app that registers after an import gets a new token, since an APNs token proves nothing",
        arguments: [5, UInt64.max >> 1])
    func later(_ fresh: UInt64) throws {
        let bench = Harness(partitions: 2)
        bench.post(imported(1))
        bench.settle()
        let first = try #require(names(bench)[1])
        bench.post(registered(2, "p_01", at: fresh))
        bench.settle()
        let own = try #require(names(bench)[2])
        #expect(own != first, "an APNs token must not give access to the imported registration")
        bench.post(imported(3))
        bench.settle()
        #expect(names(bench) == [3: first], "a repeated import returns the same registration")
        // The registrations are independent: a new APNs token of the app does not change the imported one.
        bench.post(registered(4, "p_02", at: fresh))
        bench.settle()
        #expect(names(bench) == [4: own])
        #expect(bench.store.registrations[first]?.apnsToken == bytes("p_01"))
    }

    @Test("An import makes a new registration when the earlier one was ended")
    func again() throws {
        let bench = Harness()
        bench.post(imported(1))
        bench.settle()
        let first = try #require(names(bench)[1])
        let claim = TokenClaim(
            name: first, proof: .device(first.device, hidden), projects: [.sender(Harness.sender)])
        bench.post(.unregisterToken(claim, Requester(connection: web, requestID: 2)))
        bench.settle()
        #expect(bench.store.installations.values.allSatisfy { $0.isEmpty })
        bench.post(imported(3))
        bench.settle()
        let second = try #require(names(bench)[3])
        #expect(second.device == first.device && second.number > first.number)
    }

    @Test(
        "An import is no report of the app: a 410 from before it ends the registration, also when it is repeated"
    )
    func endedBefore() throws {
        let bench = Harness()
        bench.post(imported(1))
        bench.settle()
        bench.post(imported(2))
        bench.settle()
        let name = try #require(names(bench)[1])
        var submission = Harness.submission(1, to: name)
        submission.content.isNotification = true
        bench.post(.submitted(submission))
        bench.settle()
        #expect(bench.deliveries.first?.registeredAt == .some(nil))
        let old = APNsVerdict(status: 410, reason: "Unregistered", invalidSince: 1)
        bench.answer(.tokenEnded(old))
        #expect(bench.store.registrations[name]?.apnsState.end?.verdict == old)
        #expect(bench.store.feedback.map(\.verdict) == [old] && bench.store.downPending == 0)
    }

    @Test("An imported registration does not expire without contact, since APNs reports when the app is gone")
    func stays() {
        let bench = Harness()
        bench.post(imported(1))
        bench.settle()
        let device = bench.store.records.keys.first ?? DeviceID(0)
        bench.advance(milliseconds: Int64(Limits.Device.expirySeconds + 10) * 1_000)
        bench.post(.unseen(device))
        bench.settle()
        #expect(bench.expiredDevices == 0 && bench.store.registrations.count == 1)
        #expect(bench.store.records[device]?.seenAt == bench.now.wall, "its last-seen time is updated")
    }
}
