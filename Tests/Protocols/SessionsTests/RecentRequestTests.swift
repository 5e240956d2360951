import Basics
import Delivery
import Synchronization
import Testing

@testable import Sessions

/// What a connection keeps of its last request saves no look-up of the senders.
@Suite struct RecentRequestTests {
    private static let token = String(
        decoding: HTTPHarness.seal.token(
            for: RegistrationName(device: DeviceID(77), number: RegistrationNumber(1))), as: UTF8.self)

    private static func request(_ path: String, _ authorization: String, _ body: String) -> String {
        "POST \(path) HTTP/1.1\r\nHost: x\r\nAuthorization: \(authorization)\r\n"
            + "Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    private static func legacy(_ key: String) -> String {
        request("/fcm/send", "key=\(key)", "{\"to\":\"\(token)\",\"data\":{\"a\":\"b\"}}")
    }

    private final class Flag: Sendable {
        let isSet = Mutex(false)
    }

    @Test("A server key that is revoked between two requests of a connection is refused at once")
    func revokedKey() {
        let isRevoked = Flag()
        let good = HTTPHarness.digest(Array("good-key".utf8))
        let harness = HTTPHarness { settings in
            settings.senderOfKey = { key, _ in
                key == good && !isRevoked.isSet.withLock { $0 } ? HTTPHarness.sender : nil
            }
        }
        for _ in 0..<2 { harness.send(Self.legacy("good-key")) }
        #expect(harness.events.count == 2)
        harness.send(Self.legacy("other-key"))
        isRevoked.isSet.withLock { $0 = true }
        harness.send(Self.legacy("good-key"))
        #expect(harness.events.count == 2, "neither a key that is unknown nor one that is revoked submits")
        #expect(harness.refusals.count { $0.reason == .unauthorized } == 2)
    }

    @Test("An access token that was accepted on a connection is refused there once it has expired")
    func expiredToken() {
        let harness = HTTPTokenTests.harness()
        let access = AccessToken(
            sender: HTTPHarness.sender, account: HTTPHarness.seal.mark(ofKeyID: "0a1b2c"),
            expiresAt: harness.now.wall + 60_000)
        let request = Self.request(
            "/v1/projects/lab-project/messages:send",
            "Bearer " + String(decoding: HTTPHarness.seal.text(of: access), as: UTF8.self),
            #"{"message":{"token":"\#(Self.token)","data":{"a":"b"}}}"#)
        for _ in 0..<2 { harness.send(request) }
        #expect(harness.events.count == 2)
        harness.now.wall += 60_000
        harness.send(request)
        #expect(harness.events.count == 2)
        #expect(harness.refusals.count { $0.reason == .unauthorized } == 1)
    }

    @Test("A path is recognised as a whole")
    func paths() {
        let recent = RecentRequest()
        let all = HTTPEndpoint.services
        let send = "/v1/projects/a/messages:send"
        for text in ["/fcm/send", "/fcm/send", "/gcm/send", send, "/fcm/sen", "/fcm/%"] {
            let found = recent.endpoints(at: Array(text.utf8), among: all)
            let expected = HTTPPath(Array(text.utf8))?.found(in: all)
            #expect(found?.map(\.endpoint.position) == expected?.map(\.endpoint.position))
            #expect(found?.map(\.captured) == expected?.map(\.captured))
        }
        var isRead = false
        for _ in 0..<2 {
            isRead = false
            _ = recent.digest(ofKey: Array("k".utf8)) {
                isRead = true
                return HTTPHarness.digest($0)
            }
        }
        #expect(!isRead, "canary: the second time nothing is computed")
    }
}
