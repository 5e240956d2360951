import Basics
public import Wire

/// What a request of the operator API is for.
public enum APITarget: Sendable {
    /// An operation, with its arguments not yet decoded.
    case operation(OperatorRoute, arguments: JSONValue)
    /// The session of a browser: opened with `POST`, shown with `GET`, ended with `DELETE`.
    case session(HTTPMethod)
    /// The figures of `top`, every second.
    case figures
    /// The OpenAPI document of this API.
    case openAPI

    /// The paths besides those of operations.
    public enum Page: String, CaseIterable, Sendable {
        case session = "/operator/v1/session"
        case figures = "/operator/v1/top/stream"
        case openAPI = "/operator/v1/openapi.json"

        /// Its methods.
        public var methods: [HTTPMethod] { self == .session ? [.get, .post, .delete] : [.get] }
    }

    /// Finds the target of a request. Throws the problem of a request without one.
    public init(_ request: HTTPRequest) throws(APIProblem) {
        let path = String(decoding: request.path, as: UTF8.self)
        if let page = Page(rawValue: path) {
            guard page.methods.contains(request.method) else { throw Self.refusal(page.methods) }
            switch page {
            case .session: self = .session(request.method)
            case .figures: self = .figures
            case .openAPI: self = .openAPI
            }
            return
        }
        let (route, values) = try Self.route(path, request.method)
        var arguments = values
        let others = try route.method == .post ? Self.body(request) : Self.query(request)
        for member in others {
            guard !arguments.contains(where: { $0.key == member.key }) else {
                throw APIProblem(
                    .badRequest,
                    "duplicate \(Printable.text(member.key, limit: Limits.Config.shownCharacters))",
                    hint: "give each argument once; those in the path cannot be repeated")
            }
            arguments.append(member)
        }
        self = .operation(route, arguments: .object(arguments))
    }

    /// Finds the route of a path; a route with a word takes precedence over one with a field in that place.
    private static func route(
        _ path: String, _ method: HTTPMethod
    ) throws(APIProblem) -> (OperatorRoute, [JSONValue.Member]) {
        guard path.hasPrefix(OperatorRoute.prefix + "/") else { throw unknown }
        var parts: [String] = []
        for part in path.dropFirst(OperatorRoute.prefix.count + 1).split(
            separator: "/", omittingEmptySubsequences: false)
        {
            // A plus in a path stays a plus.
            let plain = Array(
                part.split(separator: "+", omittingEmptySubsequences: false).joined(separator: "%2B").utf8)
            guard let decoded = try? FormBody.decoded(plain.raw) else { throw badEscape }
            parts.append(String(decoding: decoded, as: UTF8.self))
        }
        let found = OperatorRoute.all.compactMap { route in
            route.values(in: parts).map { (route: route, values: $0) }
        }
        let fewest = found.map(\.values.count).min()
        let nearest = found.filter { $0.values.count == fewest }
        guard !nearest.isEmpty else { throw unknown }
        guard let (route, values) = nearest.first(where: { $0.route.method == method }) else {
            throw refusal(nearest.map(\.route.method))
        }
        return (route, values)
    }

    private static let unknown = APIProblem(
        .notFound, "there is nothing at this path", hint: "\(Page.openAPI.rawValue) describes all paths")
    private static let badEscape = APIProblem(
        .badRequest, "invalid escape: expected two hexadecimal digits after %", hint: "escape % as %25")

    private static func refusal(_ methods: [HTTPMethod]) -> APIProblem {
        let names = methods.map(\.rawValue).joined(separator: ", ")
        var problem = APIProblem(
            .methodNotAllowed, "the path does not accept this method", hint: "expected \(names)")
        problem.header = ("Allow", names)
        return problem
    }

    /// Returns the arguments in the query.
    private static func query(_ request: HTTPRequest) throws(APIProblem) -> [JSONValue.Member] {
        guard request.body.isEmpty else {
            throw APIProblem(
                .badRequest, "unexpected body: expected none with this method",
                hint: "give the arguments in the query")
        }
        var members: [JSONValue.Member] = []
        for part in request.query.split(separator: UInt8(ascii: "&")) {
            let halves = part.split(
                separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard members.count < Limits.OperatorAPI.queryFields else {
                throw APIProblem(
                    .badRequest, "too many arguments: expected up to \(Limits.OperatorAPI.queryFields)")
            }
            let texts = (key: Array(halves[0]), value: halves.count == 2 ? Array(halves[1]) : [])
            guard let key = try? FormBody.decoded(texts.key.raw),
                let value = try? FormBody.decoded(texts.value.raw)
            else { throw badEscape }
            let name = String(decoding: key, as: UTF8.self)
            guard !members.contains(where: { $0.key == name }) else {
                throw APIProblem(
                    .badRequest, "duplicate \(Printable.text(name, limit: Limits.Config.shownCharacters))",
                    hint: "give each argument once")
            }
            members.append(.init(name, .string(String(decoding: value, as: UTF8.self))))
        }
        return members
    }

    /// Returns the arguments in the body.
    private static func body(_ request: HTTPRequest) throws(APIProblem) -> [JSONValue.Member] {
        guard request.query.isEmpty else {
            throw APIProblem(
                .badRequest, "unexpected query: expected none with this method",
                hint: "give the arguments as a JSON object in the body")
        }
        guard !request.body.isEmpty else { return [] }
        guard request.mediaType == "application/json", request.header("content-encoding") == nil else {
            throw APIProblem(
                .unsupportedMediaType, "unsupported content: expected application/json without a coding",
                hint: "send Content-Type: application/json")
        }
        let json: JSONValue
        do throws(JSONError) { json = try JSONValue(parsing: request.body.raw) } catch {
            throw APIProblem(
                .badRequest, "invalid JSON: \(error.fault.rawValue) at byte \(error.offset)",
                hint: "send one JSON object, such as {\"limit\":10}")
        }
        guard let members = json.members else {
            throw APIProblem(
                .badRequest, "invalid body: expected a JSON object", hint: "name each argument with its value"
            )
        }
        guard count(request.body) == members.count else {
            throw APIProblem(
                .badRequest, "duplicate argument in the JSON object", hint: "give each argument once")
        }
        return members
    }

    /// Returns the number of members of a JSON object as written: of several with one key, `JSONValue` has only the last.
    private static func count(_ object: [UInt8]) -> Int {
        guard let reader = try? JSONReader(object.raw) else { return 0 }
        var cursor = reader.begin(reader.root)
        var count = 0
        while reader.nextMember(&cursor) != nil { count += 1 }
        return count
    }
}
