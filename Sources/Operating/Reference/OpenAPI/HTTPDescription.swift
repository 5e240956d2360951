import Wire

/// The OpenAPI description of one endpoint: its parameters, bodies and answers.
///
/// What is common to all endpoints is added in `allAnswers`.
struct HTTPDescription: Sendable {
    /// The users of an endpoint, as an OpenAPI tag.
    enum Section: String, Sendable, CaseIterable {
        case devices
        case appServers = "app servers"
        case webPush = "web push"
        case operations

        var summary: String {
            switch self {
            case .devices:
                "Devices, apps and web apps: check-in, registration, installations, topics. Web pages of the origins in cors_origins may call them."
            case .appServers:
                "App servers: sending, groups, tokens and topics, in all generations of the interface."
            case .webPush:
                "RFC 8030, with encryption by RFC 8291 and authorization by RFC 8292. Web pages of the origins in cors_origins may call it."
            case .operations: "This description, and the pages for the operator's tools."
            }
        }
    }

    /// A media type of a body, with its schema.
    struct Content: Sendable {
        /// The media type, without parameters.
        var type: String
        /// The JSON schema; true for any bytes.
        var schema: JSONValue

        static func json(_ schema: JSONValue) -> Content { Content(type: "application/json", schema: schema) }
        static func form(_ schema: JSONValue) -> Content {
            Content(type: "application/x-www-form-urlencoded", schema: schema)
        }
        static func text(_ schema: JSONValue = .string(matching: nil)) -> Content {
            Content(type: "text/plain", schema: schema)
        }
    }

    /// A parameter; those of the path are derived from the table of endpoints.
    struct Parameter: Sendable {
        enum Location: String, Sendable {
            case path
            case query
            case header
        }

        var location: Location
        var name: String
        var meaning: String
        var schema: JSONValue
        var isRequired = false

        static func query(_ name: String, _ meaning: String, _ schema: JSONValue) -> Parameter {
            Parameter(location: .query, name: name, meaning: meaning, schema: schema)
        }
        static func header(
            _ name: String, _ meaning: String, _ schema: JSONValue, isRequired: Bool = false
        ) -> Parameter {
            Parameter(location: .header, name: name, meaning: meaning, schema: schema, isRequired: isRequired)
        }
    }

    /// The answers with one status.
    struct Answer: Sendable {
        var status: HTTPStatus
        var contents: [Content]
        /// Headers of every answer with this status.
        var headers: [(name: String, meaning: String)] = []
        /// Headers of some answers with this status.
        var rareHeaders: [(name: String, meaning: String)] = []

        init(_ status: HTTPStatus, _ contents: Content...) {
            self.status = status
            self.contents = contents
        }
    }

    var section: Section
    /// The purpose of the endpoint, in one line.
    var summary: String
    /// The host names that unmodified clients use (http 1.1, mcs-device 5); every name serves every path.
    var hosts: [String]
    /// The alternative credentials; empty if none are required.
    var credentials: [HTTPCredential]
    /// Whether a request without credentials is allowed as well.
    var isOpen: Bool
    /// The parameters in the query and in headers.
    var parameters: [Parameter]
    /// The alternative forms of the request body; empty if there is none.
    var content: [Content]
    /// Whether the body is optional.
    var mayBeEmpty: Bool
    /// The answers beyond those common to all endpoints.
    var answers: [Answer]
    /// What FCM answers to it, if the endpoint is an extension of ccsd.
    var atFCM: String?

    init(
        _ section: Section, _ summary: String, hosts: [String], credentials: [HTTPCredential] = [],
        isOpen: Bool = false, parameters: [Parameter] = [], content: [Content] = [], mayBeEmpty: Bool = false,
        _ answers: [Answer]
    ) {
        self.section = section
        self.summary = summary
        self.hosts = hosts
        self.credentials = credentials
        self.isOpen = isOpen
        self.parameters = parameters
        self.content = content
        self.mayBeEmpty = mayBeEmpty
        self.answers = answers
    }

    /// Returns the description as that of an extension.
    func asExtension(atFCM: String) -> HTTPDescription {
        var description = self
        description.atFCM = atFCM
        return description
    }
}

/// The ways in which a client authenticates.
enum HTTPCredential: String, Sendable, CaseIterable {
    case serverKey, accessToken, aidLogin, installationToken, refreshToken, vapid

    /// The OpenAPI security scheme.
    var scheme: JSONValue {
        switch self {
        case .serverKey: Self.header("Authorization", "`key=` and a server key of a sender (ccsctl senders).")
        case .accessToken:
            [
                "type": "http", "scheme": "bearer",
                "description":
                    "An access token that /token grants to a service account (ccsctl service-accounts). The older interfaces also require the header access_token_auth.",
            ]
        case .aidLogin:
            Self.header(
                "Authorization", "`AidLogin`, a space, the Android ID, a colon and the security token.")
        case .installationToken:
            Self.header(
                "x-goog-firebase-installations-auth",
                "The token in an installation's authToken, optionally prefixed with `FIS `.")
        case .refreshToken: Self.header("Authorization", "`FIS_v2 ` and the refreshToken of an installation.")
        case .vapid:
            Self.header(
                "Authorization",
                "`vapid t=` and a JWT signed by the web app's key, `k=` and the key (RFC 8292); or `WebPush` and the JWT, with the key in Crypto-Key."
            )
        }
    }

    private static func header(_ name: String, _ meaning: String) -> JSONValue {
        ["type": "apiKey", "in": "header", "name": .string(name), "description": .string(meaning)]
    }
}
