import Basics
public import Wire

/// The OpenAPI 3.1 description of the operator API, made from the fields of the operations.
public enum OperatorOpenAPI {
    /// Returns the document, which depends only on the version.
    public static func document(version: String) -> JSONValue {
        var paths: [JSONValue.Member] = []
        func add(_ path: String, _ method: HTTPMethod, _ operation: JSONValue) {
            let member = JSONValue.Member(method.rawValue.lowercased(), operation)
            if let place = paths.firstIndex(where: { $0.key == path }) {
                paths[place].value = .object((paths[place].value.members ?? []) + [member])
            } else {
                paths.append(.init(path, .object([member])))
            }
        }
        for route in OperatorRoute.all { add(route.path, route.method, operation(route)) }
        for page in APITarget.Page.allCases {
            for method in page.methods { add(page.rawValue, method, self.page(page, method)) }
        }
        return [
            "openapi": "3.1.0",
            "info": [
                "title": "ccsd operator API", "version": .string(version),
                "description":
                    "The commands of ccsctl over HTTPS. An operation that sends lines or progress before its answer sends server-sent events if the request accepts text/event-stream: progress, the lines by their names, and last result or problem.",
                "license": ["name": "MIT", "identifier": "MIT"],
            ],
            "servers": [
                [
                    "url": "https://localhost:{port}", "description": "The administrative port.",
                    "variables": ["port": ["default": "9100", "description": "admin_port"]],
                ]
            ],
            "security": [["operatorToken": []], ["session": []]],
            "paths": .object(paths),
            "components": [
                "schemas": ["Problem": OutputSchema.object(ProblemBody.fields.descriptions)],
                "responses": .object(problems.map { .init(name($0.status), problem($0.status, $0.isEarly)) }),
                "securitySchemes": [
                    "operatorToken": [
                        "type": "http", "scheme": "bearer", "description": "A token of ccsctl operators add.",
                    ],
                    "session": [
                        "type": "apiKey", "in": "cookie", "name": .string("\(APICredential.cookiePrefix)*"),
                        "description": .string(
                            "The cookie that POST \(APITarget.Page.session.rawValue) sets, for browsers; the rest of its name differs for each process. Changes also need the header \(APICredential.changeHeader)."
                        ),
                    ],
                ],
            ],
        ]
    }

    // MARK: Operations

    private static func operation(_ route: OperatorRoute) -> JSONValue {
        let summary = route.operation.summary
        let isPost = route.method == .post
        let pathFields = route.operation.arguments.filter { route.pathFields.contains($0.name) }
        let parameters =
            pathFields.map { parameter($0, in: "path") }
            + (isPost ? [] : route.otherFields.map { parameter($0, in: "query") })
        var members: [JSONValue.Member] = [
            .init("operationId", .string(identifier(summary.name))),
            .init("tags", [.string(String(summary.name.prefix { $0 != " " }))]),
            .init("summary", .string(summary.text)),
            .init("x-role", .string(summary.role.rawValue)),
            .init("x-ccsctl", .string("ccsctl \(summary.name)")),
        ]
        if !summary.details.isEmpty {
            members.append(.init("description", .string(summary.details.joined(separator: "\n\n"))))
        }
        if !parameters.isEmpty { members.append(.init("parameters", .array(parameters))) }
        if isPost, !route.otherFields.isEmpty {
            let schema = OutputSchema.object(route.otherFields)
            var body: [JSONValue.Member] = [
                .init("content", ["application/json": ["schema": schema]])
            ]
            if route.otherFields.contains(where: { $0.presence == .required }) {
                body.append(.init("required", true))
            }
            members.append(.init("requestBody", .object(body)))
        }
        let events = JSONValue.Member("text/event-stream", ["schema": ["type": "string"]])
        let answer = JSONValue.Member(
            "application/json", ["schema": OutputSchema.object(route.operation.answer)])
        members.append(.init("responses", responses(content: route.isStream ? [events] : [answer, events])))
        return .object(members)
    }

    private static func page(_ page: APITarget.Page, _ method: HTTPMethod) -> JSONValue {
        let session = OutputSchema.object(OperatorSessionAnswer.fields.descriptions)
        let (summary, type, schema): (String, String, JSONValue) =
            switch (page, method) {
            case (.session, .post):
                (
                    "Open a session for a browser: the answer to a request with a token sets the cookie.",
                    "application/json", session
                )
            case (.session, .delete): ("End the session.", "application/json", session)
            case (.session, _): ("Show the caller and the session.", "application/json", session)
            case (.figures, _):
                (
                    "Send the answer of top as an event named figures, every second.", "text/event-stream",
                    ["type": "string"]
                )
            case (.openAPI, _): ("Show this document.", "application/json", ["type": "object"])
            }
        return [
            "operationId": .string(identifier("\(method.rawValue.lowercased()) \(page.rawValue)")),
            "tags": ["api"], "summary": .string(summary),
            "responses": responses(content: [.init(type, ["schema": schema])]),
        ]
    }

    private static func identifier(_ text: String) -> String {
        text.split { !$0.isLetter && !$0.isNumber }.joined(separator: "_")
    }

    private static func parameter(_ field: FieldDescription, in place: String) -> JSONValue {
        var members: [JSONValue.Member] = [
            .init("name", .string(field.name)), .init("in", .string(place)),
            .init("description", .string(field.documentation)),
            .init("schema", .object(OutputSchema.form(field.form))),
        ]
        if field.presence == .required { members.append(.init("required", true)) }
        return .object(members)
    }

    // MARK: Answers

    /// The statuses of problems. Unreadable requests are answered with text, before their path is known.
    private static let problems: [(status: HTTPStatus, isEarly: Bool)] = [
        (.badRequest, true), (.unauthorized, false), (.forbidden, false), (.notFound, false),
        (.methodNotAllowed, false), (.requestTimeout, true), (.conflict, false), (.contentTooLarge, true),
        (.targetTooLong, true), (.unsupportedMediaType, false), (.expectationFailed, true),
        (.tooManyRequests, false), (.headersTooLarge, true), (.notImplemented, true), (.unavailable, false),
        (.versionNotSupported, true),
    ]

    private static func name(_ status: HTTPStatus) -> String { "problem\(status.rawValue)" }

    private static func responses(content: [JSONValue.Member]) -> JSONValue {
        .object(
            [.init("200", ["description": "The answer.", "content": .object(content)])]
                + problems.map {
                    .init(
                        String($0.status.rawValue),
                        ["$ref": .string("#/components/responses/\(name($0.status))")])
                })
    }

    private static func problem(_ status: HTTPStatus, _ isEarly: Bool) -> JSONValue {
        let own = JSONValue.Member(
            "\(APIProblem.contentType)", ["schema": ["$ref": "#/components/schemas/Problem"]])
        let text = JSONValue.Member("text/plain", ["schema": ["type": "string"]])
        return [
            "description": .string("\(status.phrase)"), "content": .object(isEarly ? [own, text] : [own]),
        ]
    }
}
