import Basics
import Delivery
import Testing
import Wire

@testable import Sessions

/// What sessions refuse before the core is asked is noted: nothing is turned away without a trace.
@Suite struct RefusalNoteTests {
    @Test("the metrics name every endpoint and every status of the tables, in their order")
    func tables() {
        let endpoints = HTTPEndpoint.services + HTTPEndpoint.administration
        #expect(endpoints.map(\.position) == Array(1..<Metric.httpEndpoints.count))
        #expect(HTTPStatus.allCases.map(\.rawValue) == Metric.httpStatuses)
    }

    @Test("a malformed token of a legacy send is noted for its sender, and its answer by endpoint and status")
    func legacy() {
        let desk = HTTPDesk()
        desk.post(
            "/fcm/send", #"{"registration_ids":["malformed-token-of-nobody","another"],"data":{"a":"b"}}"#)
        #expect(desk.refusals.map(\.reason) == [.refusal(.invalidToken)])
        #expect(desk.refusals.first?.count == 2 && desk.refusals.first?.sender == HTTPDesk.sender)
        #expect(
            desk.refusals.first?.to == Array("malformed-token-".utf8),
            "cut: enough to find it, too little to use it")
        #expect(desk.responses == [Self.note("POST /fcm/send", .ok)])
    }

    @Test("wrong keys are noted as unauthorized, by endpoint")
    func unauthorized() {
        let desk = HTTPDesk()
        desk.post("/gcm/send", "{}", key: "wrong-key")
        desk.post("/v1/projects/1/messages:send", "{}", key: "wrong-key")
        #expect(desk.refusals.map(\.reason) == [.unauthorized, .unauthorized])
        #expect(
            desk.responses == [
                Self.note("POST /gcm/send", .unauthorized),
                Self.note("POST /v1/projects/{project}/messages:send", .unauthorized),
            ])
    }

    @Test("a body that cannot be read and a value out of range are noted by their reasons")
    func reasons() {
        let desk = HTTPDesk()
        desk.post("/fcm/send", "{")
        desk.post("/fcm/send", #"{"to":"x","time_to_live":-1}"#)
        #expect(desk.refusals.map(\.reason.word) == ["malformed", "out_of_range"])
        #expect(
            desk.responses == [
                Self.note("POST /fcm/send", .badRequest), Self.note("POST /fcm/send", .badRequest),
            ])
    }

    @Test("what leads nowhere, or is no request at all, is counted without an endpoint")
    func nowhere() {
        let desk = HTTPDesk()
        desk.send("GET /nothing HTTP/1.1\r\nHost: a\r\n\r\n")
        desk.send("GET / HTTP/9.9\r\n\r\n")
        #expect(desk.responses.map(\.endpoint) == [0, 0])
        #expect(desk.responses.map(\.status) == [.notFound, .versionNotSupported])
    }

    @Test(
        "over XMPP a malformed token, a payload that is no JSON and a message without one are noted for the sender"
    )
    func xmpp() {
        let settings = SessionSettings(
            seal: HTTPDesk.seal, digest: { SecretDigest(bytes: $0) }, random: { 42 })
        let now = Now(monotonic: Instant(nanoseconds: 0), wall: 0)
        var session = AppServerSession(
            connection: HTTPDesk.connection, settings: SharedSettings(settings), now: now)
        var io = SessionIO()
        func receive(_ text: String) { session.receive(Array(text.utf8).raw, now: now, io: &io) }
        let header =
            #"<stream:stream to="x" version="1.0" xmlns="jabber:client" xmlns:stream="http://etherx.jabber.org/streams">"#
        receive(
            header
                + #"<auth mechanism="PLAIN" xmlns="urn:ietf:params:xml:ns:xmpp-sasl">ADEyMzQ1Njc4OTAAS0VZ</auth>"#
        )
        session.perform(.appServer(.loginAccepted), now: now, io: &io)
        receive(header + #"<iq type="set"><bind xmlns="urn:ietf:params:xml:ns:xmpp-bind"/></iq>"#)
        func message(_ payload: String) {
            receive("<message><gcm xmlns=\"google:mobile:data\">\(payload)</gcm></message>")
        }
        message(#"{"to":"malformed","message_id":"m-1","data":{"a":"b"}}"#)
        message("no JSON")
        receive("<message/>")
        #expect(io.refusals.map(\.reason) == [.refusal(.invalidToken), .malformed])
        #expect(io.refusals.map(\.count) == [1, 2])
        #expect(io.refusals.allSatisfy { $0.sender == SenderID(1_234_567_890) })
        #expect(
            io.refusals.first?.to == Array("malformed".utf8)
                && io.refusals.first?.messageID == Array("m-1".utf8))
    }

    @Test("canary: a message that is taken leaves no note of a refusal")
    func canary() {
        let desk = HTTPDesk()
        let token = String(
            decoding: HTTPDesk.seal.token(
                for: RegistrationName(device: DeviceID(5), number: RegistrationNumber(1))),
            as: UTF8.self)
        desk.post("/fcm/send", #"{"to":"\#(token)","data":{"a":"b"}}"#)
        #expect(desk.refusals.isEmpty && desk.responses.isEmpty, "the core has not answered yet")
    }

    private static func note(_ endpoint: String, _ status: HTTPStatus) -> HTTPResponseNote {
        HTTPResponseNote(endpoint: Metric.httpEndpoints.firstIndex(of: endpoint) ?? -1, status: status)
    }
}

extension HTTPDesk {
    fileprivate func post(_ path: String, _ body: String, key: String = "good-key") {
        send(
            "POST \(path) HTTP/1.1\r\nHost: a\r\nAuthorization: key=\(key)\r\nContent-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
        )
    }
}
