import Basics
import Testing

@testable import Delivery

/// A registry at its maximum size: nothing can be added; existing rows are served, renewed and removed.
@Suite struct RegistryFullTests {
    private let fresh = DeviceID(1 << 60 | 99)
    private let fid = bytes("cGFzc3dvcmQ_aGVsbG8tdw")
    private let news: TopicName

    init() throws { news = try #require(TopicName(bytes("news"))) }

    private func requester(_ requestID: UInt32, _ growth: Requester.Growth = .full) -> Requester {
        var requester = Requester(connection: web, requestID: requestID)
        requester.growth = growth
        return requester
    }

    private func checkIn(_ requestID: UInt32, claimed: (DeviceID, SecretDigest)? = nil) -> Event {
        .checkIn(
            CheckIn(
                requester: requester(requestID), claimed: claimed, freshDevice: fresh, freshToken: 4_711,
                freshDigest: token, refusesWrongToken: false))
    }

    private func registration(
        _ requestID: UInt32, _ app: String = "app", _ growth: Requester.Growth = .full
    ) -> RegistrationRequest {
        RegistrationRequest(
            requester: requester(requestID, growth), device: device, token: token, category: bytes(app),
            subtype: [],
            senderText: bytes("100"))
    }

    private func topic(_ requestID: UInt32, isEnd: Bool = false, _ growth: Requester.Growth = .full) -> Event
    {
        .subscribe(
            TopicRequest(
                requester: requester(requestID, growth), name: Harness.target, token: token, topic: news,
                isEnd: isEnd))
    }

    private func address(
        _ requestID: UInt32, _ action: TokenRequest.Action, _ growth: Requester.Growth = .full
    ) -> Event {
        .token(
            TokenRequest(
                requester: requester(requestID, growth), name: Harness.target, sender: Harness.sender,
                action: action))
    }

    private func group(
        _ requestID: UInt32, _ operation: GroupRequest.Operation, _ growth: Requester.Growth = .full
    ) -> Event {
        .groupRequested(
            GroupRequest(
                requester: requester(requestID, growth), sender: Harness.sender, operation: operation))
    }

    private func installation(
        _ requestID: UInt32, _ action: InstallationRequest.Action, _ growth: Requester.Growth = .full
    ) -> Event {
        .installation(
            InstallationRequest(
                requester: requester(requestID, growth), installation: fid, sender: Harness.sender,
                action: action))
    }

    private func digest(_ byte: UInt8) -> SecretDigest {
        SecretDigest(bytes: [UInt8](repeating: byte, count: 32))
    }

    private func offer(_ refresh: UInt8, shown: UInt8? = nil) -> InstallationRequest.Action {
        .create(InstallationOffer(refresh: digest(refresh), other: nil, shown: shown.map(digest)))
    }

    private func apple(_ token: String, isImport: Bool = false) -> InstallationRequest.Action {
        .apple(
            AppleRegistration(
                bundle: bytes("ios"), token: bytes(token), freshDevice: fresh, freshDigest: digest(3),
                isImport: isImport))
    }

    private func words(_ bench: Harness, _ event: Event) -> [String] {
        bench.post(event)
        bench.settle()
        return bench.take(web).words
    }

    @Test(
        "A full registry refuses a new device, and still serves a known one"
    )
    func devices() {
        let bench = Harness.withDevice()
        let before = bench.store.records.count
        #expect(words(bench, checkIn(1)) == ["REGISTRY_FULL 1"])
        #expect(words(bench, checkIn(2, claimed: (DeviceID(7), token))) == ["REGISTRY_FULL 2"])
        #expect(bench.store.records.count == before)
        #expect(words(bench, checkIn(3, claimed: (device, token))) == ["checked in 3 false"])
        bench.login()
        bench.settle()
        #expect(bench.take(phone).words.first == "device login accepted")
        #expect(words(bench, .forgetDevice(device, requester(4))) == ["forgotten 4 1 0"])
    }

    @Test(
        "A full registry refuses a new registration, even of a device that has logged in, and repeats a known one"
    )
    func registrations() {
        let bench = Harness.withDevice()
        bench.login()
        bench.settle()
        _ = bench.take(phone)
        #expect(words(bench, .register(registration(1, "new"))) == ["REGISTRY_FULL 1"])
        #expect(words(bench, .register(registration(2))) == ["registered 2 1"])
        var renewed = registration(3)
        renewed.apnsToken = bytes("p_01")
        #expect(words(bench, .register(renewed)) == ["registered 3 1"])
        #expect(words(bench, .unregister(registration(4))) == ["unregistered 4"])
        #expect(words(bench, .register(registration(5))) == ["REGISTRY_FULL 5"])
        #expect(
            words(bench, .register(registration(6, "app", .counted))) == ["refund quota", "registered 6 2"])
    }

    @Test(
        "A full registry refuses new subscriptions of devices and app servers, and keeps or removes existing ones"
    )
    func topics() {
        let bench = Harness.withDevice()
        #expect(words(bench, topic(1)) == ["REGISTRY_FULL 1"])
        #expect(words(bench, address(2, .subscribe(news))) == ["token refused 2 registry_full"])
        #expect(words(bench, address(3, .describe)) == ["token known 3 1 false"])
        #expect(bench.store.subscriptions.isEmpty)
        #expect(words(bench, topic(4, .unbounded)) == ["unregistered 4"])
        #expect(words(bench, topic(5)) == ["unregistered 5"], "the same again adds nothing")
        #expect(words(bench, address(6, .subscribe(news))) == ["token known 6 1 true news"])
        #expect(words(bench, address(7, .unsubscribe(news))) == ["token known 7 1 true news"])
        #expect(words(bench, topic(8, isEnd: true)) == ["unregistered 8"])
    }

    @Test("A full registry refuses new subscriptions of installations, by themselves or by an app server")
    func topicsOfInstallations() {
        let bench = Harness.withDevice()
        var request = registration(1, "installed", .unbounded)
        request.instance = fid
        #expect(words(bench, .register(request)) == ["registered 1 2"])
        #expect(words(bench, installation(2, .subscribe(news))) == ["REGISTRY_FULL 2"])
        #expect(
            words(bench, installation(3, .address(.subscribe(news)))) == ["token refused 3 registry_full"])
        #expect(words(bench, installation(4, .subscribe(news), .unbounded)) == ["unregistered 4"])
        #expect(
            words(bench, installation(5, .address(.subscribe(news)))) == ["token known 5 2 true news"])
        #expect(words(bench, installation(6, .unsubscribe(news))) == ["unregistered 6"])
    }

    @Test("A full registry refuses to create or extend groups, and still shows, shrinks and cleans them up")
    func groups() throws {
        let bench = Harness.withDevice()
        let (one, two) = (Harness.target, RegistrationName(device: device, number: RegistrationNumber(2)))
        #expect(
            words(bench, group(1, .create(label: bytes("g"), members: tokens([one])))) == [
                "group refused 1 registry_full"
            ])
        #expect(
            words(bench, group(2, .create(label: bytes("g"), members: tokens([one])), .unbounded)) == [
                "group known 2 1"
            ])
        let number = try #require(bench.store.groups.first).name.number
        #expect(
            words(bench, group(3, .add(number: number, label: nil, members: tokens([two])))) == [
                "group refused 3 registry_full"
            ])
        #expect(
            words(bench, group(4, .add(number: number, label: nil, members: tokens([one])))) == [
                "group known 4 1"
            ],
            "it already is a member")
        #expect(words(bench, group(5, .find(label: bytes("g")))) == ["group known 5 1"])
        bench.post(
            .groupRequested(
                GroupRequest(
                    requester: nil, sender: Harness.sender,
                    operation: .reconcile(
                        number: number, gone: [], replaced: [(old: one, new: TokenName(two))]))))
        #expect(words(bench, group(6, .show(number: number))) == ["group known 6 2"])
        #expect(
            words(bench, group(7, .remove(number: number, label: nil, members: tokens([two])))) == [
                "group known 7 "
            ])
    }

    @Test("A full registry refuses a new installation, and keeps one whose refresh token is presented")
    func installations() {
        let bench = Harness()
        #expect(words(bench, installation(1, offer(1))) == ["REGISTRY_FULL 1"])
        #expect(bench.store.installationRecords.isEmpty)
        let text = String(decoding: fid, as: UTF8.self)
        #expect(words(bench, installation(2, offer(1), .unbounded)) == ["installation 2 \(text) 0"])
        #expect(words(bench, installation(3, offer(2, shown: 1))) == ["installation 3 \(text) 0"])
        #expect(words(bench, installation(4, .refresh(digest(1)))) == ["installation 4 \(text) 0"])
        #expect(words(bench, installation(5, .end(digest(1)))) == ["unregistered 5"])
    }

    @Test("A full registry refuses a new Apple token to register or import, and renews a known one")
    func appleTokens() {
        for isImport in [false, true] {
            let bench = Harness()
            #expect(words(bench, installation(1, apple("p_01", isImport: isImport))) == ["REGISTRY_FULL 1"])
            #expect(bench.store.records.isEmpty)
            #expect(
                words(bench, installation(2, apple("p_01", isImport: isImport), .unbounded)) == [
                    "registered 2 1"
                ])
            #expect(
                words(bench, installation(3, apple("p_01", isImport: isImport))) == ["registered 3 1"])
        }
    }

    @Test(
        "A full registry refuses a new token of a web app, and renews a known one, also from another endpoint"
    )
    func webApps() throws {
        let bench = Harness.withDevice()
        for (requestID, sender) in [(1, "BDOU99-h67HcA6JeFXHbSNMu7e2yNNu3RzoMj8TM4W88jITfq7Z"), (2, "100")] {
            var endpoint = registration(UInt32(requestID), "org.chromium.linux", .unbounded)
            endpoint.subtype = bytes("wp:a#1")
            endpoint.senderText = bytes(sender)
            #expect(words(bench, .register(endpoint)) == ["registered \(requestID) \(requestID + 1)"])
        }
        func ask(_ requestID: UInt32, _ endpoint: UInt64, renewed: UInt64? = nil, _ growth: Requester.Growth)
            throws
            -> [String]
        {
            let keys = try #require(
                WebKeys(
                    publicKey: [4] + [UInt8](repeating: 1, count: 64), auth: [UInt8](repeating: 1, count: 16))
            )
            func name(_ number: UInt64) -> RegistrationName {
                RegistrationName(device: device, number: RegistrationNumber(number))
            }
            return words(
                bench,
                .registerWeb(
                    WebRegistrationRequest(
                        requester: requester(requestID, growth), endpoint: name(endpoint), keys: keys,
                        project: .sender(Harness.sender), instance: [],
                        renewed: renewed.map {
                            TokenClaim(
                                name: name($0), proof: .device(device, token),
                                projects: [.sender(Harness.sender)])
                        })))
        }
        #expect(try ask(3, 2, .full) == ["REGISTRY_FULL 3"])
        #expect(try ask(4, 2, .unbounded) == ["registered 4 4"])
        #expect(try ask(5, 2, .full) == ["registered 5 4"])
        #expect(
            try ask(6, 3, renewed: 4, .full) == ["registered 6 5"],
            "the token of the other endpoint replaces the first one")
        #expect(bench.store.registrations.keys.map(\.number.number).sorted() == [1, 2, 3, 5])
    }

    @Test("The admission check can limit every request that adds rows, also in nested events, and no other")
    func growth() {
        let member = [Harness.target]
        let added: [(event: Event, needsNoAccount: Bool)] = [
            (checkIn(1), true), (.register(registration(2)), true), (topic(3), true),
            (address(4, .subscribe(news)), false),
            (group(5, .create(label: [], members: tokens(member))), false),
            (group(6, .add(number: 1, label: nil, members: tokens(member))), false),
            (installation(7, .subscribe(news)), true),
            (installation(8, .address(.subscribe(news))), false), (installation(9, offer(1)), true),
            (installation(10, apple("p_01")), true),
            (installation(11, apple("p_01", isImport: true)), false),
            (installation(12, .vouch(for: .register(registration(12)))), true),
            (installation(13, .claim(for: .register(registration(13)), by: device)), true),
        ]
        for (at, row) in added.enumerated() {
            var event = row.event
            for growth in [Requester.Growth.knownOnly, .full, .unbounded] {
                event.growth = growth
                #expect(event.growth == growth, "row \(at)")
            }
            #expect(event.needsNoAccount == row.needsNoAccount, "row \(at)")
        }
        let others: [Event] = [
            topic(1, isEnd: true), address(2, .describe), address(3, .unsubscribe(news)),
            group(4, .remove(number: 1, label: nil, members: tokens(member))), group(5, .find(label: [])),
            group(6, .show(number: 1)), installation(7, .unsubscribe(news)),
            installation(8, .address(.describe)), installation(9, .refresh(digest(1))),
            installation(10, .end(digest(1))), installation(11, .remove),
            installation(12, .vouch(for: topic(12, isEnd: true))), .unregister(registration(13)),
            .submitted(Harness.submission(14)),
        ]
        for (at, event) in others.enumerated() { #expect(event.growth == nil, "row \(at)") }
    }
}
