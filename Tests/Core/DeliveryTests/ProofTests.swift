import Basics
import Delivery
import Testing

/// Attacks by a peer that has a token or an endpoint: none has an effect on the app.
@Suite struct ProofTests {
    private let fid = "cGFzc3dvcmQ_aGVsbG8tdw"
    private let secret = SecretDigest(bytes: [UInt8](repeating: 8, count: 32))

    private func name(_ number: UInt64) -> RegistrationName {
        RegistrationName(device: device, number: RegistrationNumber(number))
    }

    private func keys(_ byte: UInt8) throws -> WebKeys {
        try #require(
            WebKeys(
                publicKey: [4] + [UInt8](repeating: byte, count: 64),
                auth: [UInt8](repeating: byte, count: 16)))
    }

    private func web(
        _ requestID: UInt32, endpoint: UInt64 = 2, _ keys: WebKeys, _ sender: SenderID = Harness.sender,
        instance: String = "", proof: RegistrationProof = .none
    ) -> WebRegistrationRequest {
        var request = WebRegistrationRequest(
            requester: Requester(connection: DeliveryTests.web, requestID: requestID),
            endpoint: name(endpoint),
            keys: keys, project: .sender(sender), instance: bytes(instance))
        request.isProved = !instance.isEmpty
        request.proof = proof
        return request
    }

    /// A device with three registrations: 1 of an ordinary app, 2 a web push endpoint, 3 a token with keys of an installation.
    private func bench() throws -> Harness {
        let bench = Harness.withDevice()
        bench.post(
            .register(
                RegistrationRequest(
                    requester: Requester(connection: DeliveryTests.web, requestID: 1), device: device,
                    token: token,
                    category: bytes("org.chromium.linux"), subtype: bytes("wp:a#1"),
                    senderText: bytes("BDOU99"))))
        bench.settle()
        bench.post(.registerWeb(web(2, try keys(1), instance: fid)))
        bench.settle()
        #expect(bench.take(DeliveryTests.web).words == ["registered 1 2", "registered 2 3"])
        return bench
    }

    private func end(
        _ bench: Harness, _ number: UInt64, _ proof: RegistrationProof,
        _ projects: [WebRegistrationRequest.Project] = [.sender(Harness.sender)]
    ) -> String {
        bench.post(
            .unregisterToken(
                TokenClaim(name: name(number), proof: proof, projects: projects),
                Requester(connection: DeliveryTests.web, requestID: 9)))
        bench.settle()
        return bench.take(DeliveryTests.web).words.joined()
    }

    @Test(
        "A token is removed only by its device or installation, and only for its own project"
    )
    func ended() throws {
        let bench = try bench()
        let installation = RegistrationProof.installation(bytes(fid))
        let other = DeviceID(device.number + 1)
        #expect(end(bench, 3, .none) == "PERMISSION_DENIED 9")
        #expect(end(bench, 3, .installation(bytes("dGFzc3dvcmQ_aGVsbG8tdw"))) == "PERMISSION_DENIED 9")
        #expect(end(bench, 3, .device(device, secret)) == "AUTHENTICATION_FAILED 9")
        #expect(end(bench, 3, .device(other, token)) == "AUTHENTICATION_FAILED 9")
        #expect(end(bench, 77, .device(device, secret)) == "AUTHENTICATION_FAILED 9")
        for projects in [
            [.sender(Harness.otherSender)], [.sender(Harness.otherSender), .sender(Harness.sender)], [],
            [.label(bytes("unknown"))],
        ] as [[WebRegistrationRequest.Project]] {
            #expect(end(bench, 3, installation, projects) == "PERMISSION_DENIED 9", "\(projects)")
        }
        // A registration without an installation can be removed only by its device.
        #expect(end(bench, 1, installation) == "PERMISSION_DENIED 9")
        #expect(bench.store.registrations.count == 3)
        let unknown = WebRegistrationRequest.Project.label(bytes("unknown"))
        #expect(end(bench, 3, installation, [unknown, .sender(Harness.sender)]) == "unregistered 9")
        #expect(end(bench, 3, installation) == "unregistered 9", "removing it again succeeds")
        #expect(end(bench, 1, .device(device, token)) == "unregistered 9")
        #expect(bench.store.registrations.keys.map(\.number.number) == [2])
    }

    @Test(
        "A token is renewed with other keys only by its installation; renewing it with the same keys changes nothing"
    )
    func renewed() throws {
        let bench = try bench()
        let projects = [WebRegistrationRequest.Project.sender(Harness.sender)]
        for (proof, word) in [
            (.none, "PERMISSION_DENIED 5"),
            (.installation(bytes("dGFzc3dvcmQ_aGVsbG8tdw")), "PERMISSION_DENIED 5"),
            (.device(device, secret), "AUTHENTICATION_FAILED 5"),
            (.installation(bytes(fid)), "registered 5 3"),
        ] as [(RegistrationProof, String)] {
            #expect(bench.store.registrations[name(3)]?.web == (try keys(1)))
            var request = web(5, try keys(2), proof: proof)
            request.renewed = TokenClaim(name: name(3), proof: proof, projects: projects)
            bench.post(.registerWeb(request))
            bench.settle()
            #expect(bench.take(DeliveryTests.web).words == [word])
        }
        #expect(bench.store.registrations[name(3)]?.web == (try keys(2)))
        var same = web(6, try keys(2), instance: "dGFzc3dvcmQ_aGVsbG8tdw")
        same.renewed = TokenClaim(name: name(3), proof: .none, projects: projects)
        bench.post(.registerWeb(same))
        bench.settle()
        #expect(bench.take(DeliveryTests.web).words == ["registered 6 3"])
        #expect(bench.store.registrations[name(3)]?.instance == bytes(fid))
    }

    @Test(
        "Only a web push endpoint gets a token with keys, never an app's token or another sender's endpoint"
    )
    func endpoints() throws {
        let bench = try bench()
        bench.post(.registerWeb(web(4, endpoint: 1, try keys(1), Harness.otherSender)))
        bench.post(.registerWeb(web(5, endpoint: 1, try keys(1))))
        bench.post(
            .register(
                RegistrationRequest(
                    requester: Requester(connection: DeliveryTests.web, requestID: 6), device: device,
                    token: token,
                    category: bytes("org.chromium.linux"), subtype: bytes("wp:b#1"), senderText: bytes("100"))
            ))
        bench.settle()
        bench.post(.registerWeb(web(7, endpoint: 4, try keys(1), Harness.otherSender)))
        bench.post(.registerWeb(web(8, endpoint: 4, try keys(1))))
        bench.settle()
        #expect(
            bench.take(DeliveryTests.web).words == [
                "INVALID_PARAMETERS 4", "INVALID_PARAMETERS 5", "registered 6 4", "INVALID_PARAMETERS 7",
                "registered 8 5",
            ])
    }

    @Test(
        "A project's message to a web app names the project, or the key of the web app's own server")
    func senderText() throws {
        let bench = try bench()
        #expect(bench.store.registrations[name(3)]?.senderText == bytes("BDOU99"))
        bench.post(
            .register(
                RegistrationRequest(
                    requester: Requester(connection: DeliveryTests.web, requestID: 6), device: device,
                    token: token,
                    category: bytes("org.chromium.linux"), subtype: bytes("wp:b#1"),
                    senderText: bytes("100,200"))))
        bench.settle()
        bench.post(.registerWeb(web(7, endpoint: 4, try keys(1), Harness.otherSender)))
        bench.settle()
        #expect(bench.store.registrations[name(5)]?.senderText == bytes("200"))
    }

    @Test(
        "Keys registered by an attacker with the endpoint do not replace or redirect the app's token"
    )
    func beside() throws {
        let bench = try bench()
        let strange = try keys(7)
        bench.post(.registerWeb(web(4, strange, instance: "dGFzc3dvcmQ_aGVsbG8tdw")))
        bench.post(.registerWeb(web(5, strange, Harness.otherSender)))
        bench.post(
            .registerWeb(web(6, strange, proof: .installation(bytes("dGFzc3dvcmQ_aGVsbG8tdw")))))
        bench.settle()
        #expect(
            bench.take(DeliveryTests.web).words == ["registered 4 4", "registered 5 5", "registered 6 4"])
        #expect(bench.store.registrations[name(3)]?.web == (try keys(1)))
        bench.login()
        bench.settle()
        bench.post(.submitted(Harness.submission(7, to: name(3))))
        bench.settle()
        #expect(bench.take(appServer).words == ["ack 7"], "no canonical token")
        #expect(bench.take(phone).compactMap(\.delivery).map(\.web) == [try keys(1)])
        // The endpoint still resolves to the app's own token.
        bench.post(
            .token(
                TokenRequest(
                    requester: Requester(connection: appServer, requestID: 8), name: name(2),
                    sender: Harness.sender,
                    action: .describe)))
        bench.settle()
        #expect(bench.take(appServer).words == ["token known 8 3 false"])
    }

    @Test("An endpoint gets a bounded number of tokens with keys")
    func bound() throws {
        let bench = try bench()
        for byte in 10..<30 as Range<UInt8> {
            bench.post(.registerWeb(web(UInt32(byte), try keys(byte))))
        }
        bench.settle()
        let words = bench.take(DeliveryTests.web).words
        #expect(words.count { $0.hasPrefix("registered") } == Limits.Registration.perEndpoint - 1)
        #expect(words.contains("TOO_MANY_REGISTRATIONS 29"))
        bench.post(.registerWeb(web(40, try keys(1), instance: fid)))
        bench.settle()
        #expect(bench.take(DeliveryTests.web).words == ["registered 40 3"], "the app itself is still served")
    }
}
