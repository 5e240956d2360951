import Wire

/// What one endpoint takes and answers: the part of the interface's description (OpenAPI) that its code does not say.
///
/// What is common to all endpoints is not repeated here: see `HTTPEndpoint.answers`.
struct HTTPDescription: Sendable {
    /// Whom it is for.
    enum Section: String, Sendable, CaseIterable {
        case devices
        case appServers = "app servers"
        case webPush = "web push"
        case operations

        /// One sentence about it.
        var summary: String {
            switch self {
            case .devices: "Devices, apps and web apps: check-in, registration, installations, topics."
            case .appServers:
                "App servers: sending, groups, tokens and topics, in all generations of the interface."
            case .webPush: "RFC 8030, with encryption by RFC 8291 and authorization by RFC 8292."
            case .operations: "The description itself, and the pages for the operator's tools."
            }
        }
    }

    /// A body in one of the forms that are taken or given.
    struct Content: Sendable {
        /// The media type, without parameters.
        var type: String
        /// Its JSON schema; any bytes where it is true.
        var schema: JSONValue

        static func json(_ schema: JSONValue) -> Content { Content(type: "application/json", schema: schema) }
        static func form(_ schema: JSONValue) -> Content {
            Content(type: "application/x-www-form-urlencoded", schema: schema)
        }
        static func text(_ schema: JSONValue = .string(matching: nil)) -> Content {
            Content(type: "text/plain", schema: schema)
        }
    }

    /// A parameter in the query or in a header; the names of those of the path stand in the table of endpoints.
    struct Parameter: Sendable {
        enum Place: String, Sendable {
            case path
            case query
            case header
        }

        var place: Place
        var name: String
        var meaning: String
        var schema: JSONValue
        var isRequired = false

        static func query(_ name: String, _ meaning: String, _ schema: JSONValue) -> Parameter {
            Parameter(place: .query, name: name, meaning: meaning, schema: schema)
        }
        static func header(
            _ name: String, _ meaning: String, _ schema: JSONValue, isRequired: Bool = false
        ) -> Parameter {
            Parameter(place: .header, name: name, meaning: meaning, schema: schema, isRequired: isRequired)
        }
    }

    /// An answer by its status.
    struct Answer: Sendable {
        var status: HTTPStatus
        var contents: [Content]
        /// Headers that every answer with this status has, and what they mean.
        var headers: [(name: String, meaning: String)] = []
        /// Headers that some of them have.
        var rareHeaders: [(name: String, meaning: String)] = []

        init(_ status: HTTPStatus, _ contents: Content...) {
            self.status = status
            self.contents = contents
        }
    }

    /// Whom it is for.
    var section: Section
    /// What it does, in one line.
    var summary: String
    /// The names by which unmodified clients dial it (http 1.1, mcs-device 5); every name leads to every path.
    var hosts: [String]
    /// What a client shows to be let; any one of these. None: nothing is asked.
    var credentials: [HTTPCredential]
    /// Whether it may also come without.
    var isOpen: Bool
    /// In the query and in headers.
    var parameters: [Parameter]
    /// The forms of the request's body; empty: it has none.
    var content: [Content]
    /// Whether a request without a body is one too.
    var mayBeEmpty: Bool
    /// What it answers beyond what every endpoint may answer.
    var answers: [Answer]

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
}

/// How a client says who it is.
enum HTTPCredential: String, Sendable, CaseIterable {
    case serverKey, accessToken, aidLogin, installationToken, refreshToken, vapid

    /// Its security scheme.
    var scheme: JSONValue {
        switch self {
        case .serverKey: Self.header("Authorization", "`key=` and a server key of a sender (ccsctl senders).")
        case .accessToken:
            [
                "type": "http", "scheme": "bearer",
                "description":
                    "An access token that /token grants to a service account (ccsctl service-accounts). The older interfaces also want the header access_token_auth.",
            ]
        case .aidLogin:
            Self.header(
                "Authorization", "`AidLogin`, a blank, the Android id, a colon and the security token.")
        case .installationToken:
            Self.header(
                "x-goog-firebase-installations-auth",
                "The token of an installation's authToken, also with `FIS ` before it.")
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
