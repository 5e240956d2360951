import Basics
import Delivery
import Testing
import Wire

@testable import Sessions

/// Refusals of sessions are recorded even if the core is not asked.
@Suite struct RefusalRecordTests {
    @Test("the metrics list every endpoint and every status of the tables, in their order")
    func tables() {
        let endpoints = HTTPEndpoint.services + HTTPEndpoint.administration
        #expect(endpoints.map(\.position) == Array(1..<Metric.httpEndpoints.count))
        #expect(HTTPStatus.allCases.map(\.rawValue) == Metric.httpStatuses)
    }

    @Test(
        "a malformed token of a legacy send is recorded for its sender, and its answer by endpoint and status"
    )
    func legacy() {
        let harness = HTTPHarness()
        harness.post(
            "/fcm/send", #"{"registration_ids":["malformed-token-unsealed","another"],"data":{"a":"b"}}"#)
        #expect(harness.refusals.map(\.reason) == [.refusal(.invalidToken)])
        #expect(harness.refusals.first?.count == 2 && harness.refusals.first?.sender == HTTPHarness.sender)
        #expect(
            harness.refusals.first?.to == Array("malformed-token-".utf8),
            "truncated: enough to find it, too little to use it")
        #expect(harness.responses == [Self.note("POST /fcm/send", .ok)])
    }

    @Test("wrong keys are recorded as unauthorized, by endpoint")
    func unauthorized() {
        let harness = HTTPHarness()
        harness.post("/gcm/send", "{}", key: "wrong-key")
        harness.post("/v1/projects/1/messages:send", "{}", key: "wrong-key")
        #expect(harness.refusals.map(\.reason) == [.unauthorized, .unauthorized])
        #expect(
            harness.responses == [
                Self.note("POST /gcm/send", .unauthorized),
                Self.note("POST /v1/projects/{project}/messages:send", .unauthorized),
            ])
    }

    @Test("an unreadable body and a value out of range are recorded with their reasons")
    func reasons() {
        let harness = HTTPHarness()
        harness.post("/fcm/send", "{")
        harness.post("/fcm/send", #"{"to":"x","time_to_live":-1}"#)
        harness.post("/fcm/send", #"{"to":"x","delay_while_idle":"yes"}"#)
        #expect(
            harness.refusals.map(\.reason.detail) == [
                "malformed", "out_of_range time_to_live", "wrong_type delay_while_idle",
            ])
        #expect(harness.refusals.allSatisfy { $0.isMessage })
        #expect(
            harness.responses == [
                Self.note("POST /fcm/send", .badRequest), Self.note("POST /fcm/send", .badRequest),
                Self.note("POST /fcm/send", .badRequest),
            ])
    }

    @Test("a refused change of topics is no message")
    func changes() {
        let harness = HTTPHarness()
        harness.post("/iid/v1:batchAdd", #"{"to":"/topics/a","registration_tokens":["malformed"]}"#)
        harness.post("/fcm/send", #"{"to":"malformed","data":{"a":"b"}}"#)
        #expect(harness.refusals.last?.isMessage == true)
        #expect(harness.refusals.count == 2 && harness.refusals.first?.isMessage == false)
    }

    @Test("an unknown path and an unreadable request are counted without an endpoint")
    func nowhere() {
        let harness = HTTPHarness()
        harness.send("GET /nothing HTTP/1.1\r\nHost: a\r\n\r\n")
        harness.send("GET / HTTP/9.9\r\n\r\n")
        #expect(harness.responses.map(\.endpoint) == [0, 0])
        #expect(harness.responses.map(\.status) == [.notFound, .versionNotSupported])
    }

    @Test(
        "over XMPP a malformed token, a payload that is not JSON and a message without one are recorded for the sender"
    )
    func xmpp() {
        let settings = SessionSettings(
            seal: HTTPHarness.seal, digest: { SecretDigest(bytes: $0) }, random: { 42 })
        let now = Now(monotonic: Instant(nanoseconds: 0), wall: 0)
        var session = AppServerSession(
            connection: HTTPHarness.connection, settings: SharedSettings(settings), now: now)
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
        let id = String(repeating: "i", count: 36)
        message(#"{"to":"malformed","message_id":"m-1","data":{"a":"b"}}"#)
        message(#"{"to":"malformed","message_id":"\#(id)","data":{"a":"b"}}"#)
        message("no JSON")
        receive("<message/>")
        let invalid = RefusalReason.refusal(.invalidToken)
        #expect(io.refusals.map(\.reason) == [invalid, invalid, .malformed])
        #expect(io.refusals.map(\.count) == [1, 1, 2])
        #expect(io.refusals[1].messageID == Array(id.utf8), "whole, so that the history finds it")
        #expect(io.refusals.allSatisfy { $0.sender == SenderID(1_234_567_890) })
        #expect(
            io.refusals.first?.to == Array("malformed".utf8)
                && io.refusals.first?.messageID == Array("m-1".utf8))
    }

    @Test("canary: an accepted message leaves no refusal")
    func canary() {
        let harness = HTTPHarness()
        let token = String(
            decoding: HTTPHarness.seal.token(
                for: RegistrationName(device: DeviceID(5), number: RegistrationNumber(1))),
            as: UTF8.self)
        harness.post("/fcm/send", #"{"to":"\#(token)","data":{"a":"b"}}"#)
        #expect(harness.refusals.isEmpty && harness.responses.isEmpty, "the core has not answered yet")
    }

    private static func note(_ endpoint: String, _ status: HTTPStatus) -> HTTPResponseRecord {
        HTTPResponseRecord(
            endpoint: Metric.httpEndpoints.firstIndex(of: endpoint) ?? -1, status: status,
            start: Instant(nanoseconds: 1_000_000_000))
    }
}

extension HTTPHarness {
    fileprivate func post(_ path: String, _ body: String, key: String = "good-key") {
        send(
            "POST \(path) HTTP/1.1\r\nHost: a\r\nAuthorization: key=\(key)\r\nContent-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
        )
    }
}
