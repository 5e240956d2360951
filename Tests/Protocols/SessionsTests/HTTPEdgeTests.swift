import Basics
import Delivery
import Testing
import Wire

@testable import Sessions

/// Edge cases of HTTP: keys and tokens over time, repeated replies, deadlines.
@Suite struct HTTPEdgeTests {
    private static let target = RegistrationName(
        device: DeviceID(600_000_000_000_000_001), number: RegistrationNumber(1))
    private static let token = String(decoding: HTTPHarness.seal.token(for: target), as: UTF8.self)
    private static let id = PersistentID(sequence: SequenceNumber(7), salt: 9)

    private static func send(_ body: String, headers: String = "Authorization: key=good-key\r\n") -> String {
        "POST /fcm/send HTTP/1.1\r\nHost: fcm.googleapis.com\r\n\(headers)Content-Type: application/json\r\n"
            + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    private static func requestIDs(_ harness: HTTPHarness) -> [UInt32] {
        harness.events.compactMap {
            if case .device(_, .submitted(let message)) = $0 { message.requester.requestID } else { nil }
        }
    }

    @Test("a server key is validated for the time of the request, by the wall clock")
    func keyOfItsTime() {
        let harness = HTTPHarness { settings in
            settings.senderOfKey = { _, now in now < 1_795_156_967_000 ? HTTPHarness.sender : nil }
        }
        harness.send(Self.send(#"{"to":"\#(Self.token)"}"#))
        #expect(Self.requestIDs(harness).count == 1, "canary: before its end it is accepted")
        harness.now.wall = 1_795_156_967_000
        harness.send(Self.send(#"{"to":"\#(Self.token)"}"#))
        #expect(Self.requestIDs(harness).count == 1)
    }

    @Test("an access token is accepted by the older interfaces only when its header is true")
    func announcedToken() throws {
        for (word, isTaken) in [("true", true), ("TRUE", true), ("false", false), ("1", false)] {
            let harness = HTTPTokenTests.harness()
            let bearer = try HTTPTokenTests.token(harness)
            harness.send(
                Self.send(
                    #"{"to":"\#(Self.token)"}"#,
                    headers: "Authorization: Bearer \(bearer)\r\naccess_token_auth: \(word)\r\n"))
            #expect(Self.requestIDs(harness).count == (isTaken ? 1 : 0), "\(word)")
        }
    }

    @Test(
        "an assertion that expires before it was issued is refused even when both times are within the skew")
    func endsBeforeItBegins() {
        let now = HTTPTokenTests.now
        for (end, isGranted) in [(now + 100, false), (now + 200, false), (now + 201, true)] {
            let harness = HTTPTokenTests.harness()
            let claims = HTTPTokenTests.claims(iat: now + 200, exp: end)
            harness.send(HTTPTokenTests.request(HTTPTokenTests.grant(HTTPTokenTests.jwt(claims))))
            #expect(HTTPTokenTests.answer(harness).status == (isGranted ? "200" : "400"), "\(end)")
        }
    }

    @Test("the first reply about a recipient counts, and the others are still waited for")
    func heardTwice() {
        let harness = HTTPHarness()
        harness.send(Self.send(#"{"registration_ids":["\#(Self.token)","\#(Self.token)"]}"#))
        let requestIDs = Self.requestIDs(harness)
        #expect(requestIDs.count == 2)
        for _ in 0..<2 {
            harness.perform(.submission(requestID: requestIDs[0], .accepted(id: Self.id, canonical: nil)))
        }
        #expect(harness.takeSent().isEmpty)
        harness.perform(.submission(requestID: requestIDs[1], .accepted(id: Self.id, canonical: nil)))
        #expect(harness.takeSent().contains(#""success":2,"failure":0"#))
    }

    @Test("the key of a group among several recipients is an invalid token, and the others get the message")
    func groupAmongOthers() {
        let key = HTTPHarness.seal.groupKey(of: GroupName(sender: HTTPHarness.sender, number: 1))
        let harness = HTTPHarness()
        harness.send(
            Self.send(
                #"{"registration_ids":["\#(String(decoding: key, as: UTF8.self))","\#(Self.token)"]}"#))
        let requestIDs = Self.requestIDs(harness)
        #expect(requestIDs.count == 1 && harness.events.count == 1, "nothing is sent to the group")
        for requestID in requestIDs {
            harness.perform(.submission(requestID: requestID, .accepted(id: Self.id, canonical: nil)))
        }
        let answer = harness.takeSent()
        #expect(answer.contains(#""success":1,"failure":1"#))
        #expect(answer.contains(#"[{"error":"InvalidRegistration"},{"message_id":"#))
    }

    @Test("a request has a deadline of its own when the one before it is answered")
    func ownTime() {
        let harness = HTTPHarness()
        harness.send(HTTPSessionTests.registration)
        harness.pass(seconds: 10)
        harness.send(HTTPSessionTests.registration)
        harness.perform(.reply(requestID: 1, .registered(TokenName(HTTPSessionTests.name(1)))))
        _ = harness.takeSent()
        harness.pass(seconds: Limits.HTTP.answerDeadlineSeconds - 1)
        let early = (harness.close, harness.takeSent())
        #expect(early.0 == nil && early.1.isEmpty)
        harness.pass(seconds: 1)
        let late = (harness.close, harness.takeSent())
        #expect(late.0 == .internalError && late.1.hasSuffix("Error=SERVICE_NOT_AVAILABLE"))
    }

    @Test("buffered bytes count as unauthenticated until a request has shown its sender")
    func strangers() {
        let begun = "POST /fcm/send HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n"
        let harness = HTTPHarness()
        harness.send(begun + String(repeating: "x", count: 100))
        #expect(harness.session.unauthenticatedBytes == 100)
        harness.send(String(repeating: "x", count: 900))
        #expect(harness.takeSent().hasPrefix("HTTP/1.1 401 "))
        harness.send(begun + "x")
        #expect(harness.session.unauthenticatedBytes == 1, "a request without a key does not authenticate")

        let known = HTTPHarness()
        known.send(Self.send(#"{"to":"\#(Self.token)"}"#) + begun + "x")
        #expect(known.session.unauthenticatedBytes == 0)
    }

    @Test("a part of a batch without valid credentials is recorded as unauthorized")
    func partWithoutToken() {
        let part =
            "--b\r\nContent-Type: application/http\r\n\r\n"
            + "POST /v1/projects/lab-project/messages:send HTTP/1.1\r\nContent-Type: application/json\r\n"
            + "Content-Length: 2\r\n\r\n{}\r\n--b--"
        let harness = HTTPTokenTests.harness()
        harness.send(
            "POST /batch HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/mixed; boundary=b\r\n"
                + "Content-Length: \(part.utf8.count)\r\n\r\n\(part)")
        #expect(harness.takeSent().contains("\r\n\r\nHTTP/1.1 401 "))
        #expect(harness.refusals.map(\.reason) == [.unauthorized])
    }

    @Test("the members of another sender's group are not shown")
    func foreignGroup() {
        let key = HTTPHarness.seal.groupKey(of: GroupName(sender: SenderID(5), number: 1))
        let harness = HTTPHarness()
        harness.send(
            "GET /fcm/notification?notification_key=\(String(decoding: key, as: UTF8.self)) HTTP/1.1\r\n"
                + "Host: a\r\nAuthorization: key=good-key\r\nproject_id: 1234567890\r\n\r\n")
        #expect(harness.takeSent().contains("notification_key not found"))
        #expect(harness.events.isEmpty)
    }

    // MARK: Found by tools that read the description

    @Test("a path with the suffix of one endpoint matches that endpoint alone")
    func precisePaths() {
        let harness = HTTPHarness()
        let path = "/v1/projects/p/registrations/r/topicSubscriptions/news:subscribe"
        harness.send("DELETE \(path) HTTP/1.1\r\nHost: x\r\n\r\n")
        let answer = harness.takeSent()
        #expect(answer.hasPrefix("HTTP/1.1 405 "), "\(answer)")
        #expect(answer.contains("\r\nAllow: POST\r\n"))
    }

    @Test("the interface of groups reports all errors in one form")
    func groupFaults() {
        let harness = HTTPHarness()
        harness.send("PUT /fcm/notification HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(harness.takeSent().hasSuffix("{\"error\":\"The path does not accept this method.\"}"))
    }

    @Test("many long answers are sent piece by piece, as the peer reads")
    func longAnswers() {
        let harness = HTTPHarness()
        let page = String(repeating: "x", count: 100_000)
        for _ in 0..<Limits.HTTP.pipelinedRequests {
            harness.send("GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n")
        }
        #expect(harness.pages.count == Limits.HTTP.pipelinedRequests)
        harness.congested(true)
        for requestID in 1...Limits.HTTP.pipelinedRequests { harness.answerPage(UInt32(requestID), page) }
        #expect(harness.sent.isEmpty && !harness.isReading, "nothing is added while the peer does not read")
        harness.congested(false)
        let first = harness.takeSent().utf8.count
        #expect(first > page.utf8.count && first < 2 * page.utf8.count + 1_000)
        var whole = first
        for _ in 0..<Limits.HTTP.pipelinedRequests {
            harness.pass(seconds: 0)
            whole += harness.takeSent().utf8.count
        }
        #expect(
            whole > Limits.HTTP.pipelinedRequests * page.utf8.count && harness.isReading
                && harness.close == nil)
    }
}
