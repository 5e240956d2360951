import Basics
import Delivery
import Testing

@Suite struct WebRegistrationTests {
    private static let key = "BDOU99-h67HcA6JeFXHbSNMu7e2yNNu3RzoMj8TM4W88jITfq7Z"

    private func keys(_ byte: UInt8) throws -> WebKeys {
        try #require(
            WebKeys(
                publicKey: [4] + [UInt8](repeating: byte, count: 64),
                auth: [UInt8](repeating: byte, count: 16)))
    }

    private func name(_ number: UInt64) -> RegistrationName {
        RegistrationName(device: device, number: RegistrationNumber(number))
    }

    private func request(
        _ requestID: UInt32, endpoint: UInt64 = 2, keys: WebKeys,
        project: WebRegistrationRequest.Project = .sender(Harness.sender), instance: String = "",
        renewed: UInt64? = nil
    ) -> WebRegistrationRequest {
        WebRegistrationRequest(
            requester: Requester(connection: web, requestID: requestID), endpoint: name(endpoint), keys: keys,
            project: project, instance: bytes(instance), renewed: renewed.map { claim(name($0)) })
    }

    /// The device's claim to one of its registrations.
    private func claim(_ name: RegistrationName) -> TokenClaim {
        TokenClaim(name: name, proof: .device(device, token), projects: [.sender(Harness.sender)])
    }

    private func endpoint(_ requestID: UInt32, sender: String = key) -> RegistrationRequest {
        RegistrationRequest(
            requester: Requester(connection: web, requestID: requestID), device: device, token: token,
            category: bytes("org.chromium.linux"), subtype: bytes("wp:a#1"), senderText: bytes(sender))
    }

    /// A harness whose device has an endpoint, registration 2, that belongs to no sender.
    private func bench() -> Harness {
        let bench = Harness.withDevice()
        bench.post(.register(endpoint(1)))
        bench.settle()
        _ = bench.take(web)
        return bench
    }

    @Test("A request that names a token applies to that one when a newer one was made from the same endpoint")
    func named() throws {
        let bench = bench()
        bench.post(.registerWeb(request(2, keys: try keys(1))))
        bench.post(.registerWeb(request(3, keys: try keys(1), project: .sender(Harness.otherSender))))
        bench.settle()
        #expect(bench.take(web).words == ["registered 2 3", "registered 3 4"])
        for (requestID, number, sender) in [
            (4, 3, Harness.sender), (5, 4, Harness.otherSender), (6, 2, Harness.otherSender),
            (7, 2, Harness.sender),
        ] as [(UInt32, UInt64, SenderID)] {
            bench.post(
                .token(
                    TokenRequest(
                        requester: Requester(connection: appServer, requestID: requestID), name: name(number),
                        sender: sender, action: .describe)))
        }
        bench.settle()
        #expect(
            bench.take(appServer).words == [
                "token known 4 3 false", "token known 5 4 false", "token known 6 4 false",
                "token known 7 3 false",
            ])
    }

    @Test("Keys are accepted by their length and the prefix of an uncompressed point")
    func lengths() {
        let point = [4] + [UInt8](repeating: 1, count: 64)
        let auth = [UInt8](repeating: 1, count: 16)
        #expect(WebKeys(publicKey: point, auth: auth) != nil)
        #expect(WebKeys(publicKey: Array(point.dropLast()), auth: auth) == nil)
        #expect(WebKeys(publicKey: [2] + point.dropFirst(), auth: auth) == nil)
        #expect(WebKeys(publicKey: [], auth: auth) == nil)
        #expect(WebKeys(publicKey: point, auth: auth + [1]) == nil)
    }

    @Test(
        "A token with keys has the app, subtype and sender text of its endpoint, the project's sender, and the keys"
    )
    func made() throws {
        let bench = bench()
        bench.post(.registerWeb(request(2, keys: try keys(1))))
        bench.runTurns()
        #expect(bench.take(web).isEmpty, "nothing is answered before it is on disk")
        bench.settle()
        #expect(bench.take(web).words == ["registered 2 3"])
        let made = try #require(bench.store.registrations[name(3)])
        #expect(made.category == bytes("org.chromium.linux") && made.subtype == bytes("wp:a#1"))
        #expect(made.senderText == bytes(Self.key) && made.sender == Harness.sender)
        #expect(made.web == (try keys(1)))
        #expect(bench.store.registrations[name(2)]?.web == nil, "the endpoint stays as it was")
    }

    @Test("A message to a token with keys carries the keys; one to its endpoint does not")
    func delivered() throws {
        let bench = bench()
        bench.post(.registerWeb(request(2, keys: try keys(1))))
        bench.login()
        bench.settle()
        bench.post(.submitted(Harness.submission(7, to: name(3))))
        bench.submit(8)
        bench.settle()
        let deliveries = bench.take(phone).compactMap(\.delivery)
        #expect(deliveries.map(\.web) == [try keys(1), nil])
        #expect(deliveries.map(\.from) == [bytes(Self.key), bytes("100")])
        #expect(deliveries.first?.subtype == bytes("wp:a#1"))
    }

    @Test(
        "A repeated request returns the same token, with new keys if the device proves itself, and the same endpoint"
    )
    func again() throws {
        let bench = bench()
        bench.post(.registerWeb(request(2, keys: try keys(1))))
        bench.post(.registerWeb(request(3, keys: try keys(1))))
        bench.post(.register(endpoint(4)))
        bench.settle()
        #expect(bench.take(web).words == ["registered 4 2", "registered 2 3", "registered 3 3"])
        var changed = request(5, keys: try keys(2))
        changed.proof = .device(device, token)
        bench.post(.registerWeb(changed))
        bench.runTurns()
        #expect(bench.take(web).isEmpty, "new keys are on disk before the answer")
        bench.settle()
        #expect(bench.take(web).words == ["registered 5 3"])
        #expect(bench.store.registrations[name(3)]?.web == (try keys(2)))
    }

    @Test("Another project or another installation gets another token")
    func others() throws {
        let bench = bench()
        bench.post(.registerWeb(request(2, keys: try keys(1), instance: "a")))
        bench.post(.registerWeb(request(3, keys: try keys(1), project: .sender(Harness.otherSender))))
        bench.post(.registerWeb(request(4, keys: try keys(1), instance: "b")))
        bench.settle()
        #expect(bench.take(web).words == ["registered 2 3", "registered 3 4", "registered 4 5"])
    }

    @Test("A project is found by number or label; an unknown project or an invalid endpoint is refused")
    func refused() throws {
        var records = Harness.senders
        records[1].label = "shop"
        let bench = bench()
        bench.post(.senders(SenderDirectory(records)))
        let keys = try keys(1)
        bench.post(.registerWeb(request(2, keys: keys, project: .label(bytes("shop")))))
        bench.post(.registerWeb(request(3, keys: keys, project: .label(bytes("sho")))))
        bench.post(.registerWeb(request(4, keys: keys, project: .label([]))))
        bench.post(.registerWeb(request(5, keys: keys, project: .sender(SenderID(9)))))
        bench.post(.registerWeb(request(6, endpoint: 77, keys: keys)))
        bench.settle()
        bench.post(.registerWeb(request(7, endpoint: 3, keys: keys)))
        bench.settle()
        #expect(
            bench.take(web).words == [
                "INVALID_SENDER 3", "INVALID_SENDER 4", "INVALID_SENDER 5", "UNREGISTERED 6",
                "registered 2 3", "INVALID_PARAMETERS 7",
            ])
        #expect(bench.store.registrations[name(3)]?.sender == Harness.otherSender)
    }

    @Test("Renewing keeps the token of the same endpoint and replaces that of another one")
    func renewed() throws {
        let bench = bench()
        bench.post(.registerWeb(request(2, keys: try keys(1))))
        bench.post(.register(endpoint(3, sender: "100")))
        bench.settle()
        bench.post(.registerWeb(request(4, keys: try keys(2), renewed: 3)))
        bench.settle()
        bench.post(.registerWeb(request(5, endpoint: 4, keys: try keys(3), renewed: 3)))
        bench.settle()
        bench.post(.registerWeb(request(6, endpoint: 4, keys: try keys(3), renewed: 3)))
        bench.settle()
        bench.post(.registerWeb(request(7, endpoint: 4, keys: try keys(3), renewed: 2)))
        bench.settle()
        #expect(
            bench.take(web).words == [
                "registered 2 3", "registered 3 4", "registered 4 3", "registered 5 5", "UNREGISTERED 6",
                "INVALID_PARAMETERS 7",
            ])
        #expect(bench.store.registrations.keys.map(\.number.number).sorted() == [1, 2, 4, 5])
    }

    @Test("Unregistering the subtype removes both tokens; unregistering one removes it alone")
    func removed() throws {
        let bench = bench()
        bench.post(.registerWeb(request(2, keys: try keys(1))))
        bench.settle()
        bench.post(.unregisterToken(claim(name(3)), Requester(connection: web, requestID: 3)))
        bench.settle()
        #expect(bench.store.registrations.keys.map(\.number.number).sorted() == [1, 2])
        bench.post(.unregisterToken(claim(name(3)), Requester(connection: web, requestID: 4)))
        bench.post(.registerWeb(request(5, keys: try keys(1))))
        bench.settle()
        #expect(
            bench.take(web).words == ["registered 2 3", "unregistered 3", "unregistered 4", "registered 5 4"])
        var whole = endpoint(6)
        whole.senderText = [UInt8(ascii: "*")]
        bench.post(.unregister(whole))
        bench.settle()
        #expect(bench.take(web).words == ["unregistered 6"])
        #expect(bench.store.registrations.keys.map(\.number.number).sorted() == [1])
    }

    @Test("Only the project's sender can use the token, whichever senders can use the endpoint")
    func oneSender() throws {
        let bench = Harness.withDevice()
        bench.post(.register(endpoint(1, sender: "200,100")))
        bench.settle()
        bench.post(.registerWeb(request(2, keys: try keys(1))))
        bench.settle()
        let made = try #require(bench.store.registrations[name(3)])
        #expect(made.sender == Harness.sender && made.otherSenders.isEmpty)
        var foreign = Harness.submission(7, to: name(3))
        foreign.entitlement = .account(Harness.otherSender)
        bench.post(.submitted(foreign))
        bench.settle()
        #expect(bench.take(appServer).words == ["nack 7 sender_mismatch"])
    }

    @Test("A token of another device is not renewed, and no token of ours is removed with it")
    func foreignRenewal() throws {
        let bench = bench()
        bench.post(.registerWeb(request(2, keys: try keys(1))))
        bench.settle()
        _ = bench.take(web)
        var request = request(3, keys: try keys(2), project: .sender(Harness.otherSender))
        request.renewed = claim(
            RegistrationName(device: DeviceID(device.number + 1), number: RegistrationNumber(3)))
        bench.post(.registerWeb(request))
        bench.settle()
        #expect(bench.take(web).words.allSatisfy { !$0.hasPrefix("registered") })
        #expect(bench.store.registrations[name(3)]?.web == (try keys(1)))
    }
}
