import Basics
import Delivery
import Testing
import Wire

@testable import Reference
@testable import Sessions

/// The OpenAPI description covers the table of endpoints and the tables of errors.
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

    @Test("the document contains every endpoint and nothing else")
    func endpoints() {
        for endpoint in Self.endpoints { #expect(operation(endpoint) != nil, "\(endpoint.path)") }
        #expect(operations().count == Self.endpoints.count)
        let names = Set(operations().compactMap { $0["operationId"]?.text })
        #expect(names.count == Self.endpoints.count, "operation IDs are unique")
    }

    @Test("every path parameter, and every referenced answer and credential, is described")
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
            #expect(found != nil, "\(reference) is not defined")
        }
        let schemes = document["components"]?["securitySchemes"]
        for operation in operations() {
            for way in operation["security"]?.elements ?? [] {
                for member in way.members ?? [] { #expect(schemes?[member.key] != nil) }
            }
        }
    }

    @Test("the document is compact, deterministic, and parses to its source")
    func bytes() throws {
        let bytes = OpenAPI.document(version: "1.2.3")
        #expect(bytes == OpenAPI.document(version: "1.2.3") && !bytes.contains(0x0A))
        #expect(try JSONValue(parsing: bytes.raw) == document)
        #expect(bytes.count < 147_456, "\(bytes.count) bytes are sent to unauthenticated peers")
        #expect(document["info"]?["version"]?.text == "1.2.3")
    }

    /// Returns what client generators do not support in a schema: its path and the fault.
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
        "client generators find no boolean schema, no body without one, and no unnamed object in anyOf")
    func generators() {
        #expect(Self.faults(in: document) == [])
        let canary: JSONValue = [
            "content": ["a/b": [:]], "schema": ["anyOf": [["type": "object"]], "properties": ["x": true]],
        ]
        #expect(Self.faults(in: canary).count == 3)
    }

    @Test("the endpoints for web pages are those in the sections whose summary names cors_origins")
    func pages() {
        for endpoint in Self.endpoints {
            let section = endpoint.action.description.section
            #expect(endpoint.isForPages == section.summary.contains("cors_origins"), "\(endpoint.path)")
        }
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
    private static let refusals: [Refusal] =
        [
            .missingTarget, .wrongType(field: "data", expected: "object", found: "1"),
            .outOfRange(field: "time_to_live", value: "-1", lowest: 0, highest: 1),
            .notAllowed(field: "priority", value: "x", allowed: "y"),
            .tooLarge(field: "data", bytes: 2, limit: 1),
            .tooLarge(field: "collapse_key", bytes: 2, limit: 1),
            .reservedKey("from"), .conflict(field: "to", reason: "x"), .repeatedMessageID,
            .badAck(.missing(field: "x")), .invalidToken, .senderMismatch, .notRegistered, .packageMismatch,
            .senderSuspended,
            .deviceRateExceeded, .senderRateExceeded, .topicRateExceeded, .unavailable, .storeDamaged,
            .internalError,
            .draining, .scheduleFull(.sender), .unknownMessage, .messageSent,
        ] + APNsRefusal.Kind.allCases.map { .apns(APNsRefusal($0)) }

    @Test("every refusal of the core is declared for the endpoints that report it")
    func refusals() {
        let topics = [HTTPSession.TopicMethod.create, .delete, .get, .list, .patch]
        for refusal in Self.refusals {
            expect(V1Error(refusal).response, of: [.sendMessage])
            expect(HTTPSession.refusal(refusal), of: [.push])
            for form in [HTTPSend.Form.json(multicastID: 1), .text, .topicText(dryRunID: 1)] {
                let send = HTTPSend(form, recipients: 1)
                send.recordResult(.refused(refusal), at: 0)
                expect(send.response, of: [.legacySend])
            }
            #expect(LegacyError.words.contains("\(LegacyError.word(refusal))"))
        }
        let words = Set(Self.refusals.map { "\(LegacyError.word($0))" })
        #expect(words == Set(LegacyError.words), "no unused word is declared")
        for refusal in RegistrationRefusal.allCases {
            expect(
                .rpc(HTTPSession.fault(refusal)),
                of: [
                    .createRegistration, .renewRegistration, .deleteRegistration, .deleteInstallation,
                    .connectSubscription, .subscribe, .unsubscribe,
                ])
            expect(HTTPSession.refusal(refusal, isChromium: false), of: [.register])
        }
        let session = HTTPSession(
            connection: ConnectionID(reactor: 0, slot: 0, generation: 0),
            settings: SharedSettings(
                SessionSettings(
                    seal: TokenSeal(secret: [UInt8](repeating: 9, count: 32)),
                    digest: { SecretDigest(bytes: $0) }, random: { 0 })),
            now: Now(monotonic: Instant(nanoseconds: 0), wall: 0))
        for refusal in TokenRefusal.allCases {
            expect(V1Error(refusal).response, of: topics.map { .topicSubscription($0) })
            expect(
                session.answer(refused: refusal, .done),
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

    @Test("canary: another status or another media type is not declared")
    func canary() {
        let answers = Self.answers(.sendMessage)
        #expect(HTTPEndpoint.declares(V1Error(Refusal.notRegistered).response, answers))
        #expect(!HTTPEndpoint.declares(V1Error(.gone, "x").response, answers))
        #expect(!HTTPEndpoint.declares(HTTPResponse(.ok, HTTPResponse.text, []), answers))
        #expect(!HTTPEndpoint.declares(.unauthorizedPage, answers))
        let position = HTTPEndpoint.services.first { $0.action == .sendMessage }?.position ?? 0
        #expect(DeclaredAnswers.contain(V1Error(Refusal.notRegistered).response, at: position))
        #expect(!DeclaredAnswers.contain(.unauthorizedPage, at: position))
        #expect(DeclaredAnswers.contain(.plain(RequestFault(.headersTooLarge, "x")), at: 0))
        #expect(!DeclaredAnswers.contain(.unauthorizedPage, at: 0))
    }
}
