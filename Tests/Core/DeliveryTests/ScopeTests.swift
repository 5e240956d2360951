import Basics
import Delivery
import Testing

/// Tokens of `chrome.gcm.register`, which names no scope, and of `chrome.instanceID`, which does (mcs-device 5.2, 5.3).
@Suite struct ScopeTests {
    private static let app = "abcdefghijklmnopabcdefghijklmnop"

    private func request(
        _ requestID: UInt32, _ scope: RegistrationScope = .unnamed, app: String = app, subtype: String = "",
        sender: String = "100", instance: String = "", ends: EndedScopes = .any
    ) -> RegistrationRequest {
        var request = RegistrationRequest(
            requester: Requester(connection: web, requestID: requestID), device: device, token: token,
            category: bytes(app), subtype: bytes(subtype), senderText: bytes(sender),
            instance: bytes(instance))
        request.scope = scope
        request.endedScopes = ends
        return request
    }

    private func register(_ bench: Harness, _ requests: RegistrationRequest...) -> [String] {
        for request in requests {
            bench.post(.register(request))
            bench.settle()
        }
        return bench.take(web).words
    }

    private func unregister(_ bench: Harness, _ request: RegistrationRequest) -> [UInt64] {
        bench.post(.unregister(request))
        bench.settle()
        #expect(bench.take(web).words == ["unregistered \(request.requester.requestID)"])
        return bench.store.registrations.keys.map(\.number.number).filter { $0 > 1 }.sorted()
    }

    /// A harness with an extension that has both kinds of tokens, and one of another scope.
    private func bench() -> Harness {
        let bench = Harness.withDevice()
        let made = register(
            bench, request(1), request(2, .all, instance: "iid"),
            request(3, .only(bytes("x")), instance: "iid"),
            request(4), request(5, .all, instance: "iid"))
        #expect(
            made == [
                "registered 1 2", "registered 2 3", "registered 3 4", "registered 4 2", "registered 5 3",
            ])
        return bench
    }

    @Test("Tokens with and without a scope are two registrations, and removing one leaves the other")
    func two() {
        #expect(
            unregister(bench(), request(6, sender: "", ends: .unnamed)) == [3, 4], "chrome.gcm.unregister")
        let one = request(6, .all, instance: "iid", ends: .one(.all))
        #expect(unregister(bench(), one) == [2, 4], "chrome.instanceID.deleteToken with GCM")
        let other = request(6, .only(bytes("x")), instance: "iid", ends: .one(.only(bytes("x"))))
        #expect(unregister(bench(), other) == [2, 3], "deleteToken with another scope")
        let all = request(6, .all, sender: "*", instance: "iid", ends: .named)
        #expect(unregister(bench(), all) == [2], "chrome.instanceID.deleteID")
        #expect(unregister(bench(), request(6, sender: "")) == [], "the app was uninstalled")
    }

    @Test("A message to the token without a scope is not redirected to the one with an instance")
    func notReplaced() {
        let bench = bench()
        let first = RegistrationName(device: device, number: RegistrationNumber(2))
        bench.post(.submitted(Harness.submission(1, to: first)))
        bench.settle()
        #expect(bench.take(appServer).words == ["ack 1"])
    }

    @Test("A web app that removes all tokens of its subtype loses only those, in every scope")
    func subtype() {
        let bench = Harness.withDevice()
        let product = "org.chromium.linux"
        _ = register(
            bench, request(1, .all, app: product, subtype: "wp:a", instance: "one"),
            request(2, app: product, subtype: "wp:a", sender: "200"),
            request(3, .all, app: product, subtype: "wp:b", instance: "two"))
        let left = unregister(
            bench, request(4, .all, app: product, subtype: "wp:a", sender: "*", instance: "one", ends: .named)
        )
        #expect(left == [4])
    }

    @Test(
        "A registration stored before scopes existed is found by the request that created it, and its scope is recorded"
    )
    func older() {
        for (instance, scope, isFound) in [
            ("", .unnamed, true), ("", .all, true), ("iid", .all, true), ("iid", .unnamed, false),
            ("", .only(bytes("x")), false),
        ] as [(String, RegistrationScope, Bool)] {
            let bench = Harness.withDevice()
            let name = RegistrationName(device: device, number: RegistrationNumber(7))
            bench.store.records[device]?.nextRegistration = 8
            bench.store.registrations[name] = Registration(
                name: name, category: bytes(Self.app), subtype: [], senderText: bytes("100"),
                sender: Harness.sender, instance: bytes(instance), createdAt: 0)
            let given = scope == .all ? instance : ""
            let words = register(bench, request(1, scope, instance: given))
            #expect(words == ["registered 1 \(isFound ? 7 : 8)"], "\(instance) \(scope)")
            #expect(bench.store.registrations[name]?.scope == (isFound ? scope : .unrecorded))
        }
        let bench = Harness.withDevice()
        let name = RegistrationName(device: device, number: RegistrationNumber(7))
        bench.store.records[device]?.nextRegistration = 8
        bench.store.registrations[name] = Registration(
            name: name, category: bytes(Self.app), subtype: [], senderText: bytes("100"),
            sender: Harness.sender, createdAt: 0)
        #expect(register(bench, request(1, .all, instance: "iid")) == ["registered 1 8"])
        #expect(unregister(bench, request(2, .all, sender: "*", instance: "iid", ends: .named)) == [7])
        #expect(unregister(bench, request(3, sender: "", ends: .unnamed)) == [])
    }
}
