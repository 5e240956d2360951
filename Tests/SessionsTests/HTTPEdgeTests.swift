import Basics
import Delivery
import Testing
import Wire

@testable import Sessions

/// Corners of HTTP: who is asked for which key, what counts once, what has a time of its own.
@Suite struct HTTPEdgeTests {
    private static let target = RegistrationName(
        device: DeviceID(600_000_000_000_000_001), number: RegistrationNumber(1))
    private static let token = String(decoding: HTTPDesk.seal.token(for: target), as: UTF8.self)
    private static let id = PersistentID(sequence: SequenceNumber(7), salt: 9)

    private static func send(_ body: String, headers: String = "Authorization: key=good-key\r\n") -> String {
        "POST /fcm/send HTTP/1.1\r\nHost: fcm.googleapis.com\r\n\(headers)Content-Type: application/json\r\n"
            + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    private static func requestIDs(_ desk: HTTPDesk) -> [UInt32] {
        desk.events.compactMap {
            if case .device(_, .submitted(let message)) = $0 { message.requester.requestID } else { nil }
        }
    }

    @Test("a server key counts at the time of the request, by the wall clock")
    func keyOfItsTime() {
        let desk = HTTPDesk { settings in
            settings.senderOfKey = { _, now in now < 1_795_156_967_000 ? HTTPDesk.sender : nil }
        }
        desk.send(Self.send(#"{"to":"\#(Self.token)"}"#))
        #expect(Self.requestIDs(desk).count == 1, "canary: before its end it is taken")
        desk.now.wall = 1_795_156_967_000
        desk.send(Self.send(#"{"to":"\#(Self.token)"}"#))
        #expect(Self.requestIDs(desk).count == 1)
    }

    @Test("an access token counts in the older interfaces only where its header says true")
    func announcedToken() throws {
        for (word, isTaken) in [("true", true), ("TRUE", true), ("false", false), ("1", false)] {
            let desk = HTTPTokenTests.desk()
            let bearer = try HTTPTokenTests.token(desk)
            desk.send(
                Self.send(
                    #"{"to":"\#(Self.token)"}"#,
                    headers: "Authorization: Bearer \(bearer)\r\naccess_token_auth: \(word)\r\n"))
            #expect(Self.requestIDs(desk).count == (isTaken ? 1 : 0), "\(word)")
        }
    }

    @Test("an assertion that ends before it was issued is none, though both are near enough")
    func endsBeforeItBegins() {
        let now = HTTPTokenTests.now
        for (end, isGranted) in [(now + 100, false), (now + 200, false), (now + 201, true)] {
            let desk = HTTPTokenTests.desk()
            let claims = HTTPTokenTests.claims(iat: now + 200, exp: end)
            desk.send(HTTPTokenTests.request(HTTPTokenTests.grant(HTTPTokenTests.jwt(claims))))
            #expect(HTTPTokenTests.answer(desk).status == (isGranted ? "200" : "400"), "\(end)")
        }
    }

    @Test("the word on a recipient counts once: the others are still waited for")
    func heardTwice() {
        let desk = HTTPDesk()
        desk.send(Self.send(#"{"registration_ids":["\#(Self.token)","\#(Self.token)"]}"#))
        let requestIDs = Self.requestIDs(desk)
        #expect(requestIDs.count == 2)
        for _ in 0..<2 {
            desk.perform(.submission(requestID: requestIDs[0], .accepted(id: Self.id, canonical: nil)))
        }
        #expect(desk.taken().isEmpty)
        desk.perform(.submission(requestID: requestIDs[1], .accepted(id: Self.id, canonical: nil)))
        #expect(desk.taken().contains(#""success":2,"failure":0"#))
    }

    @Test("a request behind one that was answered has its own time")
    func ownTime() {
        let desk = HTTPDesk()
        desk.send(HTTPSessionTests.registration)
        desk.pass(seconds: 10)
        desk.send(HTTPSessionTests.registration)
        desk.perform(.reply(requestID: 1, .registered(HTTPSessionTests.name(1))))
        _ = desk.taken()
        desk.pass(seconds: Limits.HTTP.answerDeadlineSeconds - 1)
        let early = (desk.close, desk.taken())
        #expect(early.0 == nil && early.1.isEmpty)
        desk.pass(seconds: 1)
        let late = (desk.close, desk.taken())
        #expect(late.0 == .internalError && late.1.hasSuffix("Error=SERVICE_NOT_AVAILABLE"))
    }

    @Test("what is held of requests counts against strangers, until a request has shown its sender")
    func strangers() {
        let begun = "POST /fcm/send HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n"
        let desk = HTTPDesk()
        desk.send(begun + String(repeating: "x", count: 100))
        #expect(desk.session.unauthenticatedBytes == 100)
        desk.send(String(repeating: "x", count: 900))
        #expect(desk.taken().hasPrefix("HTTP/1.1 401 "))
        desk.send(begun + "x")
        #expect(desk.session.unauthenticatedBytes == 1, "a request without a key shows nothing")

        let known = HTTPDesk()
        known.send(Self.send(#"{"to":"\#(Self.token)"}"#) + begun + "x")
        #expect(known.session.unauthenticatedBytes == 0)
    }

    @Test("a part of a batch that nobody may send is noted as such")
    func partWithoutToken() {
        let part =
            "--b\r\nContent-Type: application/http\r\n\r\n"
            + "POST /v1/projects/lab-project/messages:send HTTP/1.1\r\nContent-Type: application/json\r\n"
            + "Content-Length: 2\r\n\r\n{}\r\n--b--"
        let desk = HTTPTokenTests.desk()
        desk.send(
            "POST /batch HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/mixed; boundary=b\r\n"
                + "Content-Length: \(part.utf8.count)\r\n\r\n\(part)")
        #expect(desk.taken().contains("\r\n\r\nHTTP/1.1 401 "))
        #expect(desk.refusals.map(\.reason) == [.unauthorized])
    }

    @Test("the members of another sender's group are not shown")
    func foreignGroup() {
        let key = HTTPDesk.seal.groupKey(of: GroupName(sender: SenderID(5), number: 1))
        let desk = HTTPDesk()
        desk.send(
            "GET /fcm/notification?notification_key=\(String(decoding: key, as: UTF8.self)) HTTP/1.1\r\n"
                + "Host: a\r\nAuthorization: key=good-key\r\nproject_id: 1234567890\r\n\r\n")
        #expect(desk.taken().contains("notification_key not found"))
        #expect(desk.events.isEmpty)
    }
}
