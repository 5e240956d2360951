import Basics
import Wire

/// What can be asked for over HTTP: method, path and what it leads to.
///
/// The host name plays no part: clients come by Google's names, by ours and by address (http 1.1).
struct HTTPEndpoint: Sendable {
    /// What it does.
    enum Action: Sendable, Equatable {
        /// A device checks in (mcs-device 5.1).
        case checkIn
        /// An app registers, unregisters, or subscribes to a topic (mcs-device 5.2 to 5.4).
        case register
        /// A Firebase installation is made, shows its refresh token, or ends (mcs-device 5.5).
        case createInstallation, generateToken, deleteInstallation
        /// A web app gets a token that the server encrypts for, renews it, or gives it up (mcs-device 5.6).
        case createRegistration, renewRegistration, deleteRegistration
        /// The same by the older interface of web apps (mcs-device 5.6).
        case connectSubscription
        /// An installation subscribes to a topic or unsubscribes (mcs-device 5.4).
        case subscribe, unsubscribe
        /// An app server sends to one or many (http 2).
        case legacySend
        /// A device group is made or changed, or shown (http 6.1, 6.2).
        case changeGroup, showGroup
        /// An app server asks about a token (http 7.1).
        case tokenInfo
        /// An app server subscribes a token to a topic, or ends that (http 7.2).
        case subscribeToken, unsubscribeToken
        /// The same for many tokens (http 7.3).
        case batchAdd, batchRemove
        /// An app server brings tokens of Apple's along (http 7.4).
        case batchImport
        /// An app server sends by HTTP v1 (http 8).
        case sendMessage
        /// The same for many messages at once (http 8.8).
        case sendBatch
        /// An app server asks about a subscription, makes or ends one by HTTP v1 (http 8.7).
        case topicSubscription(HTTPSession.TopicMethod)
        /// A service account gets an access token (http 9.1).
        case grantToken
        /// Where a library asks which regions its account may use; nothing is known of that here (http 9.3).
        case allowedLocations
        /// A web push, encrypted already (mcs-device 5.7).
        case push
        /// The daemon answers.
        case page(HostRequest.Page)
    }

    /// In which form its errors are told.
    enum ErrorForm: String, Sendable, CaseIterable {
        /// One line of text.
        case text
        /// `Error=` and a word with status 200 wherever that can be: some clients repeat anything else for ever.
        case word
        /// The JSON error of Google's services.
        case json
        /// A JSON object whose `error` is a text.
        case note
    }

    /// The method; `GET` stands for `HEAD` too.
    var method: HTTPMethod
    /// The segments of the path.
    var segments: [Segment]
    /// What it leads to.
    var action: Action
    /// The form of its errors.
    var errors: ErrorForm
    /// Whether a request without any length is refused.
    var needsBody: Bool
    /// What it may answer, its own answers and those of all endpoints: nothing else is ever sent.
    let answers: [HTTPDescription.Answer]
    /// Its position among `Metric.httpEndpoints`.
    let position: Int

    /// One part of a path between two slashes.
    enum Segment: Sendable, Equatable {
        /// This text.
        case literal([UInt8])
        /// Any text that ends in this, which may be empty; what stands before the end is not, and has this name.
        case any(name: String, suffix: [UInt8])

        init(_ text: Substring) {
            guard text.first == "{", let end = text.firstIndex(of: "}") else {
                self = .literal(Array(text.utf8))
                return
            }
            let suffix = text[text.index(after: end)...]
            self = .any(name: String(text[..<end].dropFirst()), suffix: Array(suffix.utf8))
        }
    }

    private init(
        _ method: HTTPMethod, _ path: String, _ action: Action, _ errors: ErrorForm = .text,
        needsBody: Bool = false
    ) {
        self.method = method
        segments = path.split(separator: "/").map(Segment.init)
        self.action = action
        self.errors = errors
        self.needsBody = needsBody
        answers = action.description.allAnswers(errors, needsBody: needsBody)
        position = Metric.httpEndpoints.firstIndex(of: "\(method.rawValue) \(path)") ?? 0
    }

    private static func post(
        _ path: String, _ action: Action, _ errors: ErrorForm, needsBody: Bool = true
    ) -> HTTPEndpoint { HTTPEndpoint(.post, path, action, errors, needsBody: needsBody) }

    /// What devices, apps and app servers may ask for. Braces stand for one segment, or its part in front of a suffix.
    static let services = [
        post("/checkin", .checkIn, .text),
        post("/c2dm/register3", .register, .word),
        post("/register", .register, .word),
        post("/iid/register", .register, .word),
        post("/v1/projects/{project}/installations", .createInstallation, .json),
        post(
            "/v1/projects/{project}/installations/{installation}/authTokens:generate", .generateToken, .json,
            needsBody: false),
        HTTPEndpoint(
            .delete, "/v1/projects/{project}/installations/{installation}", .deleteInstallation, .json),
        post("/v1/projects/{project}/registrations", .createRegistration, .json),
        HTTPEndpoint(
            .patch, "/v1/projects/{project}/registrations/{registration}", .renewRegistration, .json,
            needsBody: true),
        HTTPEndpoint(
            .delete, "/v1/projects/{project}/registrations/{registration}", .deleteRegistration, .json),
        post(
            "/v1/projects/{project}/registrations/{registration}/topicSubscriptions/{topic}:subscribe",
            .subscribe, .json,
            needsBody: false),
        post(
            "/v1/projects/{project}/registrations/{registration}/topicSubscriptions/{topic}:unsubscribe",
            .unsubscribe, .json,
            needsBody: false),
        post("/fcm/connect/subscribe", .connectSubscription, .json),
        post("/fcm/send", .legacySend, .text),
        post("/gcm/send", .legacySend, .text),
        post("/fcm/notification", .changeGroup, .note),
        post("/gcm/notification", .changeGroup, .note),
        HTTPEndpoint(.get, "/fcm/notification", .showGroup, .note),
        HTTPEndpoint(.get, "/gcm/notification", .showGroup, .note),
        HTTPEndpoint(.get, "/iid/info/{token}", .tokenInfo, .note),
        post("/iid/v1/{token}/rel/topics/{topic}", .subscribeToken, .note, needsBody: false),
        HTTPEndpoint(.delete, "/iid/v1/{token}/rel/topics/{topic}", .unsubscribeToken, .note),
        post("/iid/v1:batchAdd", .batchAdd, .note),
        post("/iid/v1:batchRemove", .batchRemove, .note),
        post("/iid/v1:batchImport", .batchImport, .note),
        post("/v1/projects/{project}/messages:send", .sendMessage, .json),
        post("/batch", .sendBatch, .json),
        post(subscriptionPath, .topicSubscription(.create), .json, needsBody: false),
        HTTPEndpoint(.get, subscriptionPath, .topicSubscription(.list), .json),
        HTTPEndpoint(.get, subscriptionPath + "/{topic}", .topicSubscription(.get), .json),
        HTTPEndpoint(.patch, subscriptionPath + "/{topic}", .topicSubscription(.patch), .json),
        HTTPEndpoint(.delete, subscriptionPath + "/{topic}", .topicSubscription(.delete), .json),
        post("/fcm/send/{token}", .push, .text),
        post("/wp/{token}", .push, .text),
        HTTPEndpoint(
            .get, "/v1/projects/{project}/serviceAccounts/{account}/allowedLocations", .allowedLocations,
            .json),
        post(tokenPaths[0], .grantToken, .json),
        post(tokenPaths[1], .grantToken, .json),
        post(tokenPaths[2], .grantToken, .json),
        HTTPEndpoint(.get, "/openapi.json", .page(.openAPI)),
    ]

    /// Where the subscriptions of a token or of an installation are (http 8.7).
    private static let subscriptionPath =
        "/v1/projects/{project}/registrations/{registration}/topicSubscriptions"

    /// Where access tokens are granted: today, and by older key files (http 1.1).
    static let tokenPaths = ["/token", "/oauth2/v4/token", "/o/oauth2/token"]

    /// What the operator's tools may ask for, on a port of their own.
    static let administration = [
        HTTPEndpoint(.get, "/healthz", .page(.health)),
        HTTPEndpoint(.get, "/readyz", .page(.readiness)),
        HTTPEndpoint(.get, "/metrics", .page(.metrics)),
    ]

    /// Whether it takes a method.
    func takes(_ method: HTTPMethod) -> Bool {
        method == self.method || method == .head && self.method == .get
    }

    /// Whether it asks for the end of a segment whose begin may be any.
    var asksForEnd: Bool {
        segments.contains { segment in
            if case .any(_, let suffix) = segment { !suffix.isEmpty } else { false }
        }
    }

    /// The answer to `OPTIONS *`: the methods that some endpoint takes.
    static func allMethods(of endpoints: [HTTPEndpoint]) -> HTTPResponse {
        let taken = HTTPMethod.allCases.filter { method in endpoints.contains { $0.takes(method) } }
        let names = taken.map(\.rawValue) + [HTTPMethod.options.rawValue]
        return HTTPResponse(
            .ok, HTTPResponse.text, [], extra: ("Allow", names.joined(separator: ", ")))
    }

    /// What an `Allow` header says of endpoints at one path.
    static func allow(_ endpoints: [HTTPEndpoint]) -> String {
        endpoints.map { $0.method == .get ? "GET, HEAD" : $0.method.rawValue }.joined(separator: ", ")
    }
}

/// The segments of a path, each decoded by itself, so that a slash in one of them is none between two.
struct HTTPPath {
    private let parts: [[UInt8]]

    /// Cuts a path that begins with a slash; nil if an escape in it is none.
    init?(_ path: [UInt8]) {
        var parts: [[UInt8]] = []
        for part in path.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
            guard let decoded = Self.decoded(part) else { return nil }
            parts.append(decoded)
        }
        self.parts = parts
    }

    /// The segment of a path that has one; nil of any other.
    var only: [UInt8]? { parts.count == 1 ? parts[0] : nil }

    /// The endpoints at this path, and what their braces stand for.
    ///
    /// Where one asks for the end of a segment and another takes any segment, only the first is at this path.
    func found(in endpoints: [HTTPEndpoint]) -> [(endpoint: HTTPEndpoint, captured: [[UInt8]])] {
        let found = endpoints.compactMap { endpoint in
            captured(by: endpoint).map { (endpoint: endpoint, captured: $0) }
        }
        guard found.count > 1 else { return found }
        let precise = found.filter { $0.endpoint.asksForEnd }
        return precise.isEmpty ? found : precise
    }

    /// What the braces of an endpoint stand for; nil if it is at another path.
    func captured(by endpoint: HTTPEndpoint) -> [[UInt8]]? {
        guard parts.count == endpoint.segments.count else { return nil }
        var captured: [[UInt8]] = []
        for (part, segment) in zip(parts, endpoint.segments) {
            switch segment {
            case .literal(let text): guard part == text else { return nil }
            case .any(_, let suffix):
                guard part.count > suffix.count, part.suffix(suffix.count).elementsEqual(suffix) else {
                    return nil
                }
                captured.append(part.dropLast(suffix.count))
            }
        }
        return captured
    }

    /// Undoes `%XX`; a plus is a plus in a path.
    private static func decoded(_ part: ArraySlice<UInt8>) -> [UInt8]? {
        guard part.contains(UInt8(ascii: "%")) else { return Array(part) }
        var decoded: [UInt8] = []
        var at = part.startIndex
        while at < part.endIndex {
            guard part[at] == UInt8(ascii: "%") else {
                decoded.append(part[at])
                at += 1
                continue
            }
            guard at + 2 < part.endIndex, let high = Hex.value(of: part[at + 1]),
                let low = Hex.value(of: part[at + 2])
            else { return nil }
            decoded.append(high << 4 | low)
            at += 3
        }
        return decoded
    }
}
