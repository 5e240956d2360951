import Basics
import Delivery
import Testing
import Wire

@testable import Sessions

/// The answer of each interface when the registry is full: the limit's name, or a word upon which its clients retry.
@Suite struct HTTPRegistryFullTests {
    private static let name = RegistrationName(
        device: DeviceID(600_000_000_000_000_001), number: RegistrationNumber(1))
    private static let token = String(decoding: HTTPHarness.seal.token(for: name), as: UTF8.self)

    private static func request(_ line: String, _ body: String = "", _ header: String = "") -> String {
        "\(line) HTTP/1.1\r\nHost: x\r\nAuthorization: key=good-key\r\nproject_id: 1234567890\r\n\(header)"
            + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    /// Expects a 503 answer that contains the limit's name and Retry-After.
    private func expectNamed(
        _ text: String, seconds: Int, _ location: SourceLocation = #_sourceLocation
    ) {
        #expect(text.hasPrefix("HTTP/1.1 503 "), sourceLocation: location)
        #expect(text.contains("\r\nRetry-After: \(seconds)\r\n"), sourceLocation: location)
        #expect(text.contains("The registry is full (registry_bytes)"), sourceLocation: location)
    }

    @Test("A check-in and an installation are answered 503, with the limit and Retry-After")
    func devices() {
        let harness = HTTPHarness()
        for (requestID, request) in [
            "POST /checkin HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 14\r\n\r\n{\"checkin\":{}}",
            Self.request("POST /v1/projects/p/installations", "{}"),
        ].enumerated() {
            harness.send(request)
            harness.perform(.reply(requestID: UInt32(requestID + 1), .registrationRefused(.registryFull)))
            expectNamed(harness.takeSent(), seconds: Limits.Registry.retrySeconds)
        }
    }

    @Test("Android and Chromium get the words for a temporary error that each of them recognises")
    func words() {
        for (agent, word) in [("", "SERVICE_NOT_AVAILABLE"), ("Chrome/156.0", "InternalServerError")] {
            let harness = HTTPHarness()
            harness.send(
                HTTPHarness.register(
                    "app=a.b&device=600000000000000001&sender=123", headers: "User-Agent: \(agent)\r\n"))
            harness.perform(.reply(requestID: 1, .registrationRefused(.registryFull)))
            #expect(harness.takeSent() == HTTPHarness.text("Error=\(word)"))
            #expect(
                HTTPSession.refusal(.tooManyUnauthenticated, isChromium: !agent.isEmpty).body
                    == HTTPSession.refusal(.registryFull, isChromium: !agent.isEmpty).body)
        }
    }

    @Test("A device group is refused with 503 and the limit in `error`")
    func groups() throws {
        let harness = HTTPHarness()
        harness.send(
            Self.request(
                "POST /fcm/notification",
                "{\"operation\":\"create\",\"notification_key_name\":\"n\",\"registration_ids\":[\"\(Self.token)\"]}",
                "Content-Type: application/json\r\n"))
        let looked = try #require(
            harness.events.compactMap {
                if case .device(_, .submitted(let submission)) = $0 { submission } else { nil }
            }
            .first)
        harness.perform(
            .submission(requestID: looked.requester.requestID, .accepted(id: nil, canonical: nil)))
        harness.perform(.reply(requestID: 1, .groupRefused(.registryFull)))
        let text = harness.takeSent()
        expectNamed(text, seconds: Limits.HTTP.sendRetrySeconds)
        #expect(text.contains("{\"error\":\"The registry"))
    }

    @Test("A subscription of an app server is refused with 503 and the limit, in the form of each interface")
    func subscriptions() throws {
        let harness = HTTPTokenTests.harness()
        let bearer = try HTTPTokenTests.token(harness)
        _ = harness.takeSent()
        harness.send(
            "POST /v1/projects/lab-project/registrations/\(Self.token)/topicSubscriptions?topic_name=a HTTP/1.1\r\n"
                + "Host: x\r\nAuthorization: Bearer \(bearer)\r\nContent-Length: 0\r\n\r\n")
        harness.perform(.reply(requestID: 2, .tokenRefused(.registryFull)))
        let text = harness.takeSent()
        expectNamed(text, seconds: Limits.HTTP.sendRetrySeconds)
        #expect(text.contains("\"status\":\"UNAVAILABLE\"") && text.contains("\"errorCode\":\"UNAVAILABLE\""))
        let older = HTTPHarness()
        older.send(Self.request("POST /iid/v1/\(Self.token)/rel/topics/news"))
        older.perform(.reply(requestID: 1, .tokenRefused(.registryFull)))
        expectNamed(older.takeSent(), seconds: Limits.HTTP.sendRetrySeconds)
    }

    @Test(
        "Each of many tokens has its own result when some were done, and the whole request is refused when none was"
    )
    func batches() {
        let list = "\"\(Self.token)\",\"\(Self.token)\""
        let add = Self.request(
            "POST /iid/v1:batchAdd", "{\"to\":\"/topics/news\",\"registration_tokens\":[\(list)]}")
        let requestIDs = (0..<2).map { RecipientRequestID.make(request: 1, index: $0) }
        let some = HTTPHarness()
        some.send(add)
        some.perform(.reply(requestID: requestIDs[0], .tokenRefused(.registryFull)))
        some.perform(.reply(requestID: requestIDs[1], .tokenRefused(.notRegistered)))
        #expect(
            HTTPTokenTests.answer(some).body
                == "{\"results\":[{\"error\":\"RESOURCE_EXHAUSTED\"},{\"error\":\"NOT_FOUND\"}]}")
        let none = HTTPHarness()
        none.send(add)
        for requestID in requestIDs {
            none.perform(.reply(requestID: requestID, .tokenRefused(.registryFull)))
        }
        expectNamed(none.takeSent(), seconds: Limits.HTTP.sendRetrySeconds)
        let imports = Self.request(
            "POST /iid/v1:batchImport", "{\"application\":\"a\",\"apns_tokens\":[\"0a1b\",\"0a1c\"]}")
        let imported = HTTPHarness()
        imported.send(imports)
        imported.perform(.reply(requestID: requestIDs[0], .registrationRefused(.registryFull)))
        imported.perform(.reply(requestID: requestIDs[1], .registered(TokenName(Self.name))))
        let body = HTTPTokenTests.answer(imported).body
        #expect(body.contains("{\"apns_token\":\"0a1b\",\"status\":\"Internal Server Error\"}"))
        let refused = HTTPHarness()
        refused.send(imports)
        for requestID in requestIDs {
            refused.perform(.reply(requestID: requestID, .registrationRefused(.registryFull)))
        }
        expectNamed(refused.takeSent(), seconds: Limits.HTTP.sendRetrySeconds)
    }
}
