import Basics
import Delivery
import Testing
import Wire

@testable import Sessions

/// The description of the HTTP interface says all that the table of endpoints and the tables of errors can do.
@Suite struct OpenAPITests {
    private static let endpoints = HTTPEndpoint.services + HTTPEndpoint.administration
    private let document = OpenAPI.value(version: "1.2.3")

    private func operation(_ endpoint: HTTPEndpoint) -> JSONValue? {
        document["paths"]?[endpoint.path]?[endpoint.method.rawValue.lowercased()]
    }

    private func operations() -> [JSONValue] {
        let paths = document["paths"]?.members ?? []
        return paths.flatMap { path in
            (path.value.members ?? []).filter { !["parameters", "servers"].contains($0.key) }.map(\.value)
        }
    }

    @Test("every endpoint is in the document, and nothing else is")
    func endpoints() {
        for endpoint in Self.endpoints { #expect(operation(endpoint) != nil, "\(endpoint.path)") }
        #expect(operations().count == Self.endpoints.count)
        let names = Set(operations().compactMap { $0["operationId"]?.text })
        #expect(names.count == Self.endpoints.count, "each has a name of its own")
    }

    @Test("every brace of a path is described, and every answer and credential that is referred to")
    func references() {
        for endpoint in Self.endpoints {
            let braces = endpoint.path.count { $0 == "{" }
            let parameters = document["paths"]?[endpoint.path]?["parameters"]?.elements ?? []
            #expect(parameters.count == braces && endpoint.pathParameters.count == braces)
        }
        var references: [String] = []
        func collect(_ value: JSONValue) {
            for member in value.members ?? [] {
                if member.key == "$ref", let text = member.value.text { references.append(text) }
                collect(member.value)
            }
            for element in value.elements ?? [] { collect(element) }
        }
        collect(document)
        #expect(references.count > 500)
        for reference in Set(references) {
            let steps = reference.split(separator: "/").dropFirst().map(String.init)
            let found = steps.reduce(document as JSONValue?) { $0?[$1] }
            #expect(found != nil, "\(reference) leads nowhere")
        }
        let schemes = document["components"]?["securitySchemes"]
        for operation in operations() {
            for way in operation["security"]?.elements ?? [] {
                for member in way.members ?? [] { #expect(schemes?[member.key] != nil) }
            }
        }
    }

    @Test("the document is compact, the same each time, and reads as what it was written from")
    func bytes() throws {
        let bytes = OpenAPI.document(version: "1.2.3")
        #expect(bytes == OpenAPI.document(version: "1.2.3") && !bytes.contains(0x0A))
        #expect(try JSONValue(parsing: bytes.raw) == document)
        #expect(bytes.count < 131_072, "\(bytes.count) bytes are sent to whoever asks")
        #expect(document["info"]?["version"]?.text == "1.2.3")
    }

    /// What generators of clients stumble over in a schema: its path and what is wrong.
    private static func faults(in value: JSONValue, at path: String = "") -> [String] {
        var faults: [String] = []
        for member in value.members ?? [] {
            let here = "\(path)/\(member.key)"
            let isSchema = path.hasSuffix("/properties") || ["schema", "items"].contains(member.key)
            if isSchema, member.value == true || member.value == false { faults.append("\(here): boolean") }
            if path.hasSuffix("/content"), member.value["schema"] == nil {
                faults.append("\(here): no schema")
            }
            for form in member.key == "anyOf" ? member.value.elements ?? [] : []
            where form["type"]?.text == "object" { faults.append("\(here): object without a name") }
            faults += Self.faults(in: member.value, at: here)
        }
        for (index, element) in (value.elements ?? []).enumerated() {
            faults += Self.faults(in: element, at: "\(path)/\(index)")
        }
        return faults
    }

    @Test(
        "generators of clients find no boolean schema, no body without one, and no nameless object in anyOf")
    func generators() {
        #expect(Self.faults(in: document) == [])
        let canary: JSONValue = [
            "content": ["a/b": [:]], "schema": ["anyOf": [["type": "object"]], "properties": ["x": true]],
        ]
        #expect(Self.faults(in: canary).count == 3)
    }

    // MARK: Errors

    private static func answers(_ action: HTTPEndpoint.Action) -> [HTTPDescription.Answer] {
        endpoints.first { $0.action == action }?.answers ?? []
    }

    private func expect(
        _ response: HTTPResponse, of actions: [HTTPEndpoint.Action],
        _ location: SourceLocation = #_sourceLocation
    ) {
        for action in actions {
            #expect(
                HTTPEndpoint.declares(response, Self.answers(action)),
                "\(action): \(response.status) \(response.contentType)", sourceLocation: location)
        }
    }

    /// One of each kind.
    private static let refusals: [Refusal] = [
        .missingTarget, .wrongType(field: "data", expected: "object", found: "1"),
        .outOfRange(field: "time_to_live", value: "-1", lowest: 0, highest: 1),
        .notAllowed(field: "priority", value: "x", allowed: "y"),
        .tooLarge(field: "data", bytes: 2, limit: 1), .tooLarge(field: "collapse_key", bytes: 2, limit: 1),
        .reservedKey("from"), .conflict(field: "to", reason: "x"), .repeatedMessageID,
        .badAck(.missing(field: "x")), .invalidToken, .senderMismatch, .notRegistered, .packageMismatch,
        .deviceRateExceeded, .senderRateExceeded, .topicRateExceeded, .unavailable, .internalError, .draining,
    ]

    @Test("what the core may refuse is declared where it is told")
    func refusals() {
        let topics = [HTTPSession.TopicMethod.create, .delete, .get, .list, .patch]
        for refusal in Self.refusals {
            expect(V1Error(refusal).response, of: [.sendMessage])
            expect(HTTPSession.refusal(refusal), of: [.push])
            for form in [HTTPSend.Form.json(multicastID: 1), .text, .topicText(dryRunID: 1)] {
                let send = HTTPSend(form, recipients: 1)
                send.note(.refused(refusal), at: 0)
                expect(send.response, of: [.legacySend])
            }
            #expect(LegacyError.words.contains("\(LegacyError.word(refusal))"))
        }
        let words = Set(Self.refusals.map { "\(LegacyError.word($0))" })
        #expect(words == Set(LegacyError.words), "no word is told that is never said")
        for refusal in RegistrationRefusal.allCases {
            expect(
                .rpc(HTTPSession.fault(refusal)),
                of: [
                    .createRegistration, .renewRegistration, .deleteRegistration, .deleteInstallation,
                    .connectSubscription, .subscribe, .unsubscribe,
                ])
            expect(HTTPSession.refusal(refusal, isChromium: false), of: [.register])
        }
        for refusal in TokenRefusal.allCases {
            expect(V1Error(refusal).response, of: topics.map { .topicSubscription($0) })
            expect(
                HTTPDesk().session.answer(refused: refusal, .done),
                of: [.tokenInfo, .subscribeToken, .unsubscribeToken])
        }
        expect(.tooManyTopicChanges, of: [.batchAdd, .batchRemove])
        for error in [V1Error.unauthenticated, .expired, .senderMismatch] {
            expect(error.response, of: [.sendMessage] + topics.map { .topicSubscription($0) })
        }
        expect(
            .unauthorizedPage,
            of: [
                .legacySend, .changeGroup, .showGroup, .tokenInfo, .subscribeToken, .batchAdd, .batchRemove,
                .batchImport,
            ])
        for status in [HTTPStatus.badRequest, .unauthorized, .unavailable] {
            expect(.group(GroupFault(.noMembers), status), of: [.changeGroup, .showGroup])
        }
    }

    @Test("canary: another status, and another type, is not declared")
    func canary() {
        let answers = Self.answers(.sendMessage)
        #expect(HTTPEndpoint.declares(V1Error(Refusal.notRegistered).response, answers))
        #expect(!HTTPEndpoint.declares(V1Error(.conflict, "x").response, answers))
        #expect(!HTTPEndpoint.declares(HTTPResponse(.ok, HTTPResponse.text, []), answers))
        #expect(!HTTPEndpoint.declares(.unauthorizedPage, answers))
    }

    // MARK: Found by the tools that read it

    @Test("a path with the end that one endpoint asks for belongs to that one alone")
    func precisePaths() {
        let desk = HTTPDesk()
        let path = "/v1/projects/p/registrations/r/topicSubscriptions/news:subscribe"
        desk.send("DELETE \(path) HTTP/1.1\r\nHost: x\r\n\r\n")
        let answer = desk.taken()
        #expect(answer.hasPrefix("HTTP/1.1 405 "), "\(answer)")
        #expect(answer.contains("\r\nAllow: POST\r\n"))
    }

    @Test("the interface of groups tells all that is wrong in one form")
    func groupFaults() {
        let desk = HTTPDesk()
        desk.send("PUT /fcm/notification HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(desk.taken().hasSuffix("{\"error\":\"The path does not take this method.\"}"))
    }

    @Test("many long answers at once leave piece by piece, as the peer reads")
    func longAnswers() {
        let desk = HTTPDesk()
        let page = String(repeating: "x", count: 100_000)
        for _ in 0..<Limits.HTTP.pipelinedRequests {
            desk.send("GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n")
        }
        #expect(desk.pages.count == Limits.HTTP.pipelinedRequests)
        desk.congested(true)
        for requestID in 1...Limits.HTTP.pipelinedRequests { desk.answerPage(UInt32(requestID), page) }
        #expect(desk.sent.isEmpty && !desk.isReading, "nothing is added to what the peer does not read")
        desk.congested(false)
        let first = desk.taken().utf8.count
        #expect(first > page.utf8.count && first < 2 * page.utf8.count + 1_000)
        var whole = first
        for _ in 0..<Limits.HTTP.pipelinedRequests {
            desk.pass(seconds: 0)
            whole += desk.taken().utf8.count
        }
        #expect(
            whole > Limits.HTTP.pipelinedRequests * page.utf8.count && desk.isReading && desk.close == nil)
    }
}
