import Basics
import Testing

@testable import Delivery

/// Firebase installations: ownership of an id, its proof, and its end (mcs-device 5.5).
@Suite struct InstallationOwnerTests {
    private let fid = bytes("cGFzc3dvcmQ_aGVsbG8tdw")
    private let fresh = bytes("dGFzc3dvcmQ_aGVsbG8tdw")
    private static let day: Int64 = 86_400_000

    private func digest(_ byte: UInt8) -> SecretDigest {
        SecretDigest(bytes: [UInt8](repeating: byte, count: 32))
    }

    private func ask(
        _ requestID: UInt32, _ action: InstallationRequest.Action, mark: UInt64? = nil
    ) -> Event {
        .installation(
            InstallationRequest(
                requester: Requester(connection: web, requestID: requestID), installation: fid,
                sender: Harness.sender,
                action: action, mark: mark))
    }

    private func create(
        _ requestID: UInt32, _ refresh: UInt8, shown: UInt8? = nil, by pair: (DeviceID, SecretDigest)? = nil
    ) -> Event {
        ask(
            requestID,
            .create(
                InstallationOffer(
                    refresh: digest(refresh), other: (fresh, digest(refresh + 100)),
                    shown: shown.map(digest), device: pair)))
    }

    private func words(_ bench: Harness, _ events: Event...) -> [String] {
        for event in events { bench.post(event) }
        bench.settle()
        return bench.take(web).words
    }

    /// Registers an app of a device that names the installation; with a token of the installation if `mark` is set.
    private func register(
        _ requestID: UInt32, on device: DeviceID = DeliveryTests.device, mark: UInt64? = nil
    ) -> Event {
        var request = RegistrationRequest(
            requester: Requester(connection: web, requestID: requestID), device: device, token: token,
            category: bytes("installed"), subtype: [], senderText: bytes("100"), instance: fid)
        request.isProved = mark != nil
        return mark == nil
            ? ask(requestID, .claim(for: .register(request), by: device))
            : ask(requestID, .vouch(for: .register(request)), mark: mark)
    }

    private func send(_ requestID: UInt32) -> Event {
        .installation(
            InstallationRequest(
                requester: Requester(connection: appServer, requestID: requestID), installation: fid,
                sender: Harness.sender, action: .send(Harness.submission(requestID).content)))
    }

    private func addDevice(_ bench: Harness, _ number: UInt64) -> DeviceID {
        let device = DeviceID(1 << 60 | number)
        bench.store.records[device] = DeviceRecord(
            device: device, token: token, createdAt: 0, seenAt: bench.now.wall, nextRegistration: 1)
        return device
    }

    private let name = "cGFzc3dvcmQ_aGVsbG8tdw"
    private let other = "dGFzc3dvcmQ_aGVsbG8tdw"

    @Test(
        "An installation id belongs to its first owner, and any other requester gets a fresh one"
    )
    func first() {
        let bench = Harness(partitions: 3)
        #expect(
            words(bench, create(1, 1), create(2, 2)) == [
                "installation 1 \(name) 0", "installation 2 \(other) 0",
            ])
        #expect(bench.store.installationRecords[fid]?.refresh == digest(1))
        #expect(bench.store.installationRecords[fresh]?.refresh == digest(102))
        #expect(
            words(bench, create(3, 3, shown: 2)) == ["SERVICE_NOT_AVAILABLE 3"], "the fresh id is taken too")
        #expect(
            words(bench, create(4, 4, shown: 1)) == ["installation 4 \(name) 0"],
            "the refresh token proves ownership")
        #expect(bench.store.installationRecords[fid]?.refresh == digest(1), "the refresh token stays valid")
    }

    @Test("An installation is confirmed when it is on disk, and a failed write lets the next request proceed")
    func written() {
        let bench = Harness()
        bench.post(create(1, 1))
        bench.post(create(2, 2))
        bench.runTurns()
        bench.read(bench.partitions[0])
        bench.reportAnswer(bench.partitions[0])
        bench.runTurns()
        #expect(bench.take(web).isEmpty)
        bench.apply(bench.partitions[0], failing: true)
        bench.reportOutcome(bench.partitions[0])
        bench.settle()
        #expect(bench.take(web).words == ["SERVICE_NOT_AVAILABLE 1", "installation 2 \(name) 0"])
        bench.post(ask(3, .refresh(digest(2))))
        bench.runTurns()
        bench.read(bench.partitions[0], failing: true)
        bench.reportAnswer(bench.partitions[0])
        bench.settle()
        #expect(bench.take(web).words == ["SERVICE_NOT_AVAILABLE 3"])
        #expect(words(bench, ask(4, .refresh(digest(2)))) == ["installation 4 \(name) 0"])
    }

    @Test(
        "A foreign, deleted, revoked or expired refresh token is refused, and so are its access tokens"
    )
    func refused() throws {
        let bench = Harness.withDevice()
        _ = words(bench, create(1, 1))
        let mark = InstallationRecord.mark(of: digest(1))
        #expect(words(bench, ask(2, .refresh(digest(2)))) == ["AUTHENTICATION_FAILED 2"])
        #expect(words(bench, register(3, mark: mark + 1)) == ["AUTHENTICATION_FAILED 3"])
        #expect(words(bench, register(4, mark: mark)) == ["registered 4 2"], "canary")
        #expect(words(bench, ask(5, .revoke)) == ["installation 5 \(name) 1 ended"])
        #expect(words(bench, ask(6, .refresh(digest(1)))) == ["UNREGISTERED 6"])
        #expect(words(bench, register(7, mark: mark)) == ["AUTHENTICATION_FAILED 7"])
        #expect(
            words(bench, create(8, 3)) == ["installation 8 \(other) 0"], "its id is not given to another app")
        bench.post(send(9))
        bench.settle()
        #expect(bench.take(appServer).words == ["ack 9"], "its registrations stay")
        bench.store.installationRecords[fid]?.refresh = digest(1)
        bench.advance(milliseconds: 271 * Self.day)
        #expect(words(bench, ask(10, .refresh(digest(1)))) == ["UNREGISTERED 10"])
    }

    @Test(
        "An installation ends with its registrations only for its refresh token, and its id stays reserved"
    )
    func ended() {
        let bench = Harness.withDevice()
        _ = words(bench, create(1, 1))
        _ = words(bench, register(2, mark: InstallationRecord.mark(of: digest(1))))
        #expect(words(bench, ask(3, .end(digest(2)))) == ["AUTHENTICATION_FAILED 3"])
        #expect(words(bench, ask(4, .remove, mark: 5)) == ["AUTHENTICATION_FAILED 4"])
        #expect(bench.store.registrations.count == 2)
        #expect(words(bench, ask(5, .end(digest(1)))) == ["unregistered 5"])
        #expect(bench.store.registrations.count == 1)
        #expect(words(bench, create(6, 3)) == ["installation 6 \(other) 0"])
        #expect(words(bench, ask(7, .end(digest(1)))) == ["UNREGISTERED 7"])
    }

    @Test("A device that names an installation without its token receives no message to the installation")
    func named() {
        let bench = Harness.withDevice()
        let stranger = addDevice(bench, 77)
        _ = words(bench, create(1, 1))
        #expect(words(bench, register(2, on: stranger)) == ["AUTHENTICATION_FAILED 2"])
        bench.post(send(3))
        bench.settle()
        #expect(bench.take(appServer).words == ["nack 3 not_registered"])
        #expect(
            words(bench, register(4, mark: InstallationRecord.mark(of: digest(1)))) == ["registered 4 2"])
        #expect(words(bench, register(5, on: stranger)) == ["AUTHENTICATION_FAILED 5"])
        bench.login()
        bench.post(send(6))
        bench.settle()
        #expect(bench.take(appServer).words == ["ack 6"])
        #expect(bench.take(phone).words.last == "deliver m6")
    }

    @Test(
        "A registration older than installation records stays reachable, protected, and is bound by its device"
    )
    func earlier() throws {
        let bench = Harness.withDevice()
        let stranger = addDevice(bench, 77)
        #expect(words(bench, register(1)) == ["registered 1 2"])
        bench.post(send(2))
        bench.settle()
        #expect(bench.take(appServer).words == ["ack 2"])
        #expect(words(bench, create(3, 1)) == ["installation 3 \(other) 0"])
        bench.store.installationRecords[fresh] = nil
        #expect(words(bench, register(4, on: stranger)) == ["AUTHENTICATION_FAILED 4"])
        #expect(words(bench, create(5, 1, by: (stranger, token))) == ["installation 5 \(other) 0"])
        bench.store.installationRecords[fresh] = nil
        #expect(words(bench, create(6, 1, by: (device, digest(77)))) == ["installation 6 \(other) 0"])
        bench.store.installationRecords[fresh] = nil
        #expect(words(bench, create(7, 1, by: (device, token))) == ["installation 7 \(name) 0"])
        let bound = bench.store.registrations.values.first { $0.installation == fid }
        #expect(bound?.isProved == true)
        bench.post(send(8))
        bench.settle()
        #expect(bench.take(appServer).words == ["ack 8"])
    }

    /// A registration that was made without a token of the installation, which has a record now.
    private func unprovedBesideRecord() -> Harness {
        let bench = Harness.withDevice()
        _ = words(bench, register(1))
        bench.store.installationRecords[fid] = InstallationRecord(
            id: fid, sender: Harness.sender, refresh: digest(9), createdAt: bench.now.wall,
            usedAt: bench.now.wall)
        return bench
    }

    @Test("A message does not reach a registration without proof when the installation has a record")
    func unproved() {
        let bench = unprovedBesideRecord()
        bench.post(send(2))
        bench.settle()
        #expect(bench.take(appServer).words == ["nack 2 not_registered"])
        #expect(words(bench, create(3, 1, by: (device, token))) == ["installation 3 \(other) 0"])
    }

    @Test("An installation stays when it is used to register between the search and its removal")
    func registeredMeanwhile() {
        let bench = Harness.withDevice()
        _ = words(bench, create(1, 1))
        _ = words(bench, register(2, mark: InstallationRecord.mark(of: digest(1))))
        bench.advance(milliseconds: 30 * Self.day)
        let now = bench.now.wall
        _ = words(
            bench, .installation(fid, .unused(before: now - 200 * Self.day, unlinkedBefore: now - Self.day)))
        #expect(bench.store.installationRecords[fid] != nil)
        _ = words(bench, .installation(fid, .unused(before: now - Self.day, unlinkedBefore: now - Self.day)))
        #expect(bench.store.installationRecords[fid] == nil)
    }

    @Test("An unused installation expires, sooner without registrations, and use keeps it")
    func expiry() {
        let bench = Harness.withDevice()
        _ = words(bench, create(1, 1))
        let events = { (days: Int64) in
            bench.advance(milliseconds: days * Self.day)
            bench.post(.tick)
            bench.settle()
        }
        events(13)
        #expect(bench.store.installationRecords[fid] != nil)
        #expect(words(bench, ask(2, .refresh(digest(1)))) == ["installation 2 \(name) 0"])
        events(13)
        #expect(bench.store.installationRecords[fid] != nil, "it was used meanwhile")
        _ = words(bench, register(3, mark: InstallationRecord.mark(of: digest(1))))
        events(30)
        #expect(bench.store.installationRecords[fid] != nil, "it has a registration")
        bench.store.records[device]?.seenAt += 400 * Self.day
        events(300)
        #expect(bench.store.installationRecords[fid] == nil)
    }

    @Test("The number of waiting changes is bounded")
    func bounded() {
        let bench = Harness()
        for requestID in 0...UInt32(Limits.Installation.waiting) {
            bench.post(ask(requestID, .refresh(digest(1))))
        }
        bench.runTurns()
        #expect(bench.take(web).words == ["SERVICE_NOT_AVAILABLE \(Limits.Installation.waiting)"])
    }

    @Test("No installation expires where devices do not")
    func noExpiry() {
        var settings = DeliverySettings()
        settings.deviceExpirySeconds = 0
        let bench = Harness.withDevice(settings: settings)
        _ = words(bench, create(1, 1))
        bench.advance(milliseconds: 400 * Self.day)
        bench.post(.tick)
        bench.settle()
        #expect(bench.store.installationRecords[fid] != nil)
    }
}
