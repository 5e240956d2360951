import Basics
import Sessions
import Wire

/// The OpenAPI 3.1 description of the HTTP interface, generated from the table of endpoints.
public enum OpenAPI {
    /// Returns the compact document, which depends only on the version.
    public static func document(version: String) -> [UInt8] {
        var body = ByteBuffer()
        value(version: version).append(to: &body)
        return body.copied()
    }

    /// Returns the document as a tree.
    static func value(version: String) -> JSONValue {
        var named = NamedSchemas()
        let paths = named.moved(outOf: .object(paths))
        let components = named.moved(outOf: components)
        return .object([
            .init("openapi", "3.1.0"),
            .init(
                "info",
                [
                    "title": "ccsd", "version": .string(version),
                    "description":
                        "Cloud Connection Server: messages to devices and back, with the interfaces of GCM and FCM. x-hosts are the host names that unmodified clients use for an operation; each of them serves every path. x-extension marks an operation that FCM does not have, and names what FCM answers.",
                    "license": ["name": "MIT", "identifier": "MIT"],
                ]),
            .init("servers", [["url": "/"]]),
            .init(
                "tags",
                .array(
                    HTTPDescription.Section.allCases.map {
                        ["name": .string($0.rawValue), "description": .string($0.summary)]
                    })),
            .init("paths", paths),
            .init("components", adding(named.schemas, to: components)),
        ])
    }

    private static func adding(_ schemas: [JSONValue.Member], to components: JSONValue) -> JSONValue {
        .object(
            (components.members ?? []).map { member in
                guard member.key == "schemas", let known = member.value.members else { return member }
                let isNew = schemas.allSatisfy { named in !known.contains { $0.key == named.key } }
                precondition(isNew, "two schemas have the same name")
                return .init(member.key, .object(known + schemas))
            })
    }

    private static var paths: [JSONValue.Member] {
        paths(of: HTTPEndpoint.services, servers: nil)
            + paths(
                of: HTTPEndpoint.administration,
                servers: [
                    [
                        "url": "http://127.0.0.1:{port}",
                        "description": "For the operator's tools; off by default.",
                        "variables": ["port": ["default": "9100", "description": "admin_port"]],
                    ]
                ])
    }

    /// Returns the endpoints by path, in the order of the table.
    private static func paths(of endpoints: [HTTPEndpoint], servers: JSONValue?) -> [JSONValue.Member] {
        var paths: [JSONValue.Member] = []
        for endpoint in endpoints {
            let operation = JSONValue.Member(endpoint.method.rawValue.lowercased(), operation(endpoint))
            let path = endpoint.path
            if let at = paths.firstIndex(where: { $0.key == path }) {
                paths[at].value = .object((paths[at].value.members ?? []) + [operation])
            } else {
                var members: [JSONValue.Member] = []
                if let servers { members.append(.init("servers", servers)) }
                let parameters = endpoint.pathParameters.map(parameter)
                if !parameters.isEmpty { members.append(.init("parameters", .array(parameters))) }
                paths.append(.init(path, .object(members + [operation])))
            }
        }
        return paths
    }

    private static func operation(_ endpoint: HTTPEndpoint) -> JSONValue {
        let description = endpoint.action.description
        var members: [JSONValue.Member] = [
            .init("operationId", .string(endpoint.operationID)),
            .init("tags", [.string(description.section.rawValue)]),
            .init("summary", .string(description.summary)),
        ]
        if let answer = description.atFCM { members.append(.init("x-extension", .string(answer))) }
        if !description.hosts.isEmpty {
            members.append(.init("x-hosts", .array(description.hosts.map { .string($0) })))
        }
        if !description.credentials.isEmpty {
            let ways = description.credentials.map { JSONValue.object([.init($0.rawValue, [])]) }
            members.append(.init("security", .array(ways + (description.isOpen ? [.object([])] : []))))
        }
        if !description.parameters.isEmpty {
            members.append(.init("parameters", .array(description.parameters.map(parameter))))
        }
        if !description.content.isEmpty {
            var body: [JSONValue.Member] = [.init("content", content(description.content))]
            if !description.mayBeEmpty { body.append(.init("required", true)) }
            members.append(.init("requestBody", .object(body)))
        }
        members.append(.init("responses", responses(endpoint, description)))
        return .object(members)
    }

    // MARK: Answers

    private static func responses(_ endpoint: HTTPEndpoint, _ description: HTTPDescription) -> JSONValue {
        let own = description.answers.map(\.status)
        return .object(
            endpoint.answers.map { answer in
                let isCommon = !own.contains(answer.status)
                return .init(
                    String(answer.status.rawValue),
                    isCommon
                        ? ["$ref": .string("#/components/responses/\(name(answer.status, endpoint.errors))")]
                        : response(answer))
            })
    }

    /// Returns the name of a common answer in the components.
    private static func name(_ status: HTTPStatus, _ form: HTTPEndpoint.ErrorForm) -> String {
        "\(form.rawValue)\(status.rawValue)"
    }

    private static func response(_ answer: HTTPDescription.Answer) -> JSONValue {
        var members: [JSONValue.Member] = [.init("description", .string("\(answer.status.phrase)"))]
        let headers =
            answer.headers.map { header($0.name, $0.meaning, isRequired: true) }
            + answer.rareHeaders.map { header($0.name, $0.meaning, isRequired: false) }
        if !headers.isEmpty { members.append(.init("headers", .object(headers))) }
        members.append(.init("content", content(answer.contents)))
        return .object(members)
    }

    private static func header(_ name: String, _ meaning: String, isRequired: Bool) -> JSONValue.Member {
        var members: [JSONValue.Member] = [
            .init("description", .string(meaning)), .init("schema", .anyString),
        ]
        if isRequired { members.append(.init("required", true)) }
        return .init(name, .object(members))
    }

    // MARK: Parts

    private static func content(_ contents: [HTTPDescription.Content]) -> JSONValue {
        // The empty schema stands for any bytes: some tools support neither a schema `true` nor an absent one.
        .object(
            contents.map { .init($0.type, ["schema": $0.schema == true ? .object([]) : $0.schema]) })
    }

    private static func parameter(_ parameter: HTTPDescription.Parameter) -> JSONValue {
        var members: [JSONValue.Member] = [
            .init("name", .string(parameter.name)), .init("in", .string(parameter.location.rawValue)),
            .init("description", .string(parameter.meaning)), .init("schema", parameter.schema),
        ]
        if parameter.isRequired { members.append(.init("required", true)) }
        return .object(members)
    }

    private static var components: JSONValue {
        let own = HTTPSchema.allCases.map { JSONValue.Member($0.rawValue, $0.schema) }
        let responses = HTTPEndpoint.ErrorForm.allCases.flatMap { form in
            form.commonAnswers.map { JSONValue.Member(name($0.status, form), response($0)) }
        }
        let schemes = HTTPCredential.allCases.map { JSONValue.Member($0.rawValue, $0.scheme) }
        return .object([
            .init("schemas", .object(own + V1Schema.all)), .init("responses", .object(responses)),
            .init("securitySchemes", .object(schemes)),
        ])
    }
}

extension HTTPEndpoint {
    /// A unique name: the method and the words of the path.
    var operationID: String {
        ([method.rawValue.lowercased()] + path.split { !$0.isLetter && !$0.isNumber }.map(String.init))
            .joined(separator: "_")
    }

    /// The parameters of the path, in braces in the table.
    var pathParameters: [HTTPDescription.Parameter] {
        segments.compactMap { segment in
            guard case .any(let name, _) = segment else { return nil }
            let (meaning, schema) = Self.meaning(ofPathParameter: name)
            return HTTPDescription.Parameter(
                location: .path, name: name, meaning: meaning, schema: schema, isRequired: true)
        }
    }

    private static func meaning(ofPathParameter name: String) -> (String, JSONValue) {
        switch name {
        case "project":
            (
                "The project ID, or the sender ID.",
                .string(matching: "^[A-Za-z0-9._:-]{1,\(Limits.Installation.projectNameBytes)}$")
            )
        case "installation": ("The ID of an installation.", .string(matching: "^[A-Za-z0-9_+=-]{22,24}$"))
        case "registration": ("A registration token, or the ID of an installation.", .name())
        case "token": ("A registration token.", .name())
        case "topic": ("The name of a topic.", HTTPSchema.topic)
        case "bundle":
            (
                "The bundle ID of an iOS app.",
                .string(matching: nil, longest: Limits.Registration.fieldBytes)
            )
        case "message":
            (
                "The message_id, or the ID or name that the answer to the submission has. A percent sign may be escaped.",
                .name()
            )
        case "account": ("The email address of a service account.", .name())
        default: preconditionFailure("the path parameter \(name) has no description")
        }
    }
}
