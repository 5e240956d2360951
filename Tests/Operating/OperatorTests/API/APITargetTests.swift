import Basics
import Operator
import Testing
import Wire

/// Requests without a target, or with arguments in the wrong place, get a problem with what to do.
@Suite("Requests of the operator API") struct APITargetTests {
    private struct Case: Sendable {
        var method: String
        var path: String
        var headers: [String: String] = [:]
        var body = ""
        var status: HTTPStatus
        var text: String
    }

    private static let cases = [
        Case(method: "GET", path: "/operator/v1/", status: .notFound, text: "there is nothing at this path"),
        Case(method: "GET", path: "/operator/v1/../status", status: .notFound, text: "nothing"),
        Case(method: "GET", path: "/operator/v1/%2e%2e/status", status: .notFound, text: "nothing"),
        Case(method: "GET", path: "/operator/v1/devices/", status: .notFound, text: "nothing"),
        Case(method: "GET", path: "/operator/v1//status", status: .notFound, text: "nothing"),
        Case(method: "GET", path: "/operator/v2/status", status: .notFound, text: "nothing"),
        Case(method: "GET", path: "/operator/v1/status%2", status: .badRequest, text: "invalid escape"),
        Case(method: "POST", path: "/operator/v1/status", status: .methodNotAllowed, text: "method"),
        Case(method: "HEAD", path: "/operator/v1/status", status: .methodNotAllowed, text: "method"),
        Case(method: "PUT", path: "/operator/v1/session", status: .methodNotAllowed, text: "method"),
        Case(
            method: "GET", path: "/operator/v1/devices?limit=1&limit=2", status: .badRequest,
            text: "duplicate limit"),
        Case(
            method: "GET", path: "/operator/v1/devices?limit=%zz", status: .badRequest, text: "invalid escape"
        ),
        Case(
            method: "GET", path: "/operator/v1/devices?" + (0..<33).map { "a\($0)" }.joined(separator: "&"),
            status: .badRequest, text: "too many arguments"),
        Case(
            method: "GET", path: "/operator/v1/devices/5?device=6", status: .badRequest,
            text: "duplicate device"),
        Case(
            method: "GET", path: "/operator/v1/status", body: "{}", status: .badRequest,
            text: "unexpected body"),
        Case(
            method: "POST", path: "/operator/v1/drain?sender_id=5", status: .badRequest,
            text: "unexpected query"),
        Case(
            method: "POST", path: "/operator/v1/drain", headers: ["Content-Type": "text/plain"], body: "{}",
            status: .unsupportedMediaType, text: "application/json"),
        Case(
            method: "POST", path: "/operator/v1/drain",
            headers: ["Content-Type": "application/json", "Content-Encoding": "gzip"], body: "{}",
            status: .unsupportedMediaType, text: "application/json"),
        Case(
            method: "POST", path: "/operator/v1/drain", body: "{", status: .badRequest, text: "invalid JSON"),
        Case(
            method: "POST", path: "/operator/v1/drain", body: "[1]", status: .badRequest,
            text: "expected a JSON object"),
        Case(
            method: "POST", path: "/operator/v1/senders/5/rotate-key", body: "{\"sender_id\":6}",
            status: .badRequest, text: "duplicate sender_id"),
        Case(
            method: "POST", path: "/operator/v1/drain",
            body: "{\"sender_id\":\"6\",\"sender\\u005fid\":\"7\"}", status: .badRequest,
            text: "duplicate argument"),
    ]

    @Test("each wrong request has its own status and text", arguments: cases.indices)
    func wrong(index: Int) throws {
        let row = Self.cases[index]
        let request = try APIRequests.request(row.method, row.path, row.headers, body: row.body)
        let problem = #expect(throws: APIProblem.self) { _ = try APITarget(request) }
        #expect(problem?.status == row.status, "\(row.path)")
        #expect(problem?.detail.contains(row.text) == true, "\(problem?.detail ?? "")")
    }

    @Test("the methods that a path accepts are in the problem and in the header Allow")
    func allowed() throws {
        let problem = #expect(throws: APIProblem.self) {
            _ = try APITarget(try APIRequests.request("PUT", "/operator/v1/senders"))
        }
        #expect(problem?.header?.value == "GET, POST" || problem?.header?.value == "POST, GET")
        #expect("\(problem?.header?.name ?? "")" == "Allow")
    }

    @Test("a problem has the field, what is expected, and what to do")
    func body() throws {
        let problem = #expect(throws: FieldProblem.self) {
            _ = try ListDevices(arguments: ["limit": "many"])
        }
        let json = try #require(problem.map { APIProblem($0).body.json })
        #expect(json["status"] == 400 && json["title"] == "Bad Request" && json["field"] == "limit")
        #expect(json["detail"] == "invalid limit \"many\": expected a whole number from 1 to 10000")
        #expect(json["hint"]?.text?.isEmpty == false)
    }

    @Test("an event is its name and one line of JSON")
    func events() {
        var bytes = ByteBuffer()
        let event = EventStream.event(.result(["text": "a\nb"]))
        EventStream.append(event.name, event.json, to: &bytes)
        #expect(
            String(decoding: bytes.copied(), as: UTF8.self) == "event: result\ndata: {\"text\":\"a\\nb\"}\n\n"
        )
    }

    @Test("a stream is sent only to a caller that accepts one")
    func accepts() throws {
        func accepts(_ value: String?) throws -> Bool {
            EventStream.isAccepted(
                by: try APIRequests.request("GET", "/operator/v1/audit", value.map { ["Accept": $0] } ?? [:]))
        }
        #expect(try accepts("text/event-stream") && accepts("application/json, Text/Event-Stream;q=0.5"))
        #expect(try !accepts(nil) && !accepts("*/*") && !accepts("application/json"))
    }
}
