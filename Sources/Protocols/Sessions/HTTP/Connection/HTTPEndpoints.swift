import Basics
public import Wire

/// An HTTP endpoint: method, path and action.
///
/// The host name is ignored: clients use Google's names, the operator's names and addresses (http 1.1).
public struct HTTPEndpoint: Sendable {
    /// What an endpoint does.
    public enum Action: Sendable, Equatable {
        /// A device checks in (mcs-device 5.1).
        case checkIn
        /// An app registers, unregisters, or subscribes to a topic (mcs-device 5.2 to 5.4).
        case register
        /// A Firebase installation is created, exchanges its refresh token for an access token, or is deleted (mcs-device 5.5).
        case createInstallation, generateToken, deleteInstallation
        /// A web app gets, renews or deletes a token that the server encrypts for (mcs-device 5.6).
        case createRegistration, renewRegistration, deleteRegistration
        /// A web app gets a token by the older interface (mcs-device 5.6).
        case connectSubscription
        /// An installation subscribes to a topic or unsubscribes (mcs-device 5.4).
        case subscribe, unsubscribe
        /// An app server sends to one or many tokens, a group or a topic (http 2).
        case legacySend
        /// A device group is created or changed, or shown (http 6.1, 6.2).
        case changeGroup, showGroup
        /// An app server asks about a token (http 7.1).
        case tokenInfo
        /// An app server subscribes a token to a topic, or unsubscribes it (http 7.2).
        case subscribeToken, unsubscribeToken
        /// An app server subscribes many tokens to a topic, or unsubscribes them (http 7.3).
        case batchAdd, batchRemove
        /// An app server imports APNs tokens (http 7.4).
        case batchImport
        /// An app server reads the list of APNs device tokens that have ended (apns 2.3).
        case appleFeedback
        /// An app server sends by HTTP v1 (http 8).
        case sendMessage
        /// An app server asks what became of a message, or for counts by day; extensions (http 8.9).
        case messageHistory, deliveryData
        /// An app server cancels a message that waits; an extension (http 8.10).
        case cancelMessage
        /// An app server lists the topics of its project, or the subscribers of one; extensions (http 8.11).
        case listTopics, listSubscribers
        /// An app server lists its messages that are sent later; an extension (http 8.12).
        case listScheduled
        /// An app server sends many messages of HTTP v1 in one request (http 8.8).
        case sendBatch
        /// An app server lists, shows, creates or deletes a subscription by HTTP v1 (http 8.7).
        case topicSubscription(HTTPSession.TopicMethod)
        /// A service account gets an access token (http 9.1).
        case grantToken
        /// A library asks which regions its account may use; the answer is always 404 (http 9.3).
        case allowedLocations
        /// A web push, already encrypted (mcs-device 5.7).
        case push
        /// A page of the daemon.
        case page(HostRequest.Page)

        /// Whether web pages of other origins may call it (`PageOrigins`): the services that apps and web apps call. Those for app
        /// servers take keys and service accounts, which belong in no page.
        var isForPages: Bool {
            switch self {
            case .checkIn, .register, .createInstallation, .generateToken, .deleteInstallation,
                .createRegistration, .renewRegistration, .deleteRegistration, .connectSubscription,
                .subscribe, .unsubscribe, .push:
                true
            case .legacySend, .changeGroup, .showGroup, .tokenInfo, .subscribeToken, .unsubscribeToken,
                .batchAdd, .batchRemove, .batchImport, .appleFeedback, .sendMessage, .messageHistory,
                .deliveryData, .cancelMessage, .listTopics, .listSubscribers, .listScheduled, .sendBatch,
                .topicSubscription,
                .grantToken, .allowedLocations,
                .page:
                false
            }
        }
    }

    /// The form of the error answers of an endpoint.
    public enum ErrorForm: String, Sendable, CaseIterable {
        /// One line of text.
        case text
        /// `Error=` and a word, with status 200 if possible: some clients repeat requests forever after any other status.
        case word
        /// The JSON error of Google's services.
        case json
        /// A JSON object with a text in `error`.
        case note
    }

    /// The method; `GET` includes `HEAD`.
    public let method: HTTPMethod
    /// The segments of the path.
    public let segments: [Segment]
    /// What it does.
    public let action: Action
    /// The form of its error answers.
    public let errors: ErrorForm
    /// Whether a request without Content-Length or Transfer-Encoding is refused.
    public let needsBody: Bool
    /// The index in `Metric.httpEndpoints`.
    public let position: Int
    /// Whether web pages of other origins may call it.
    public let isForPages: Bool

    /// One segment of a path, between two slashes.
    public enum Segment: Sendable, Equatable {
        case literal([UInt8])
        /// A parameter of at least one byte, followed by a suffix that may be empty.
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

    /// The path as written in the table.
    public var path: String {
        segments.map { segment in
            switch segment {
            case .literal(let text): "/" + String(decoding: text, as: UTF8.self)
            case .any(let name, let suffix): "/{\(name)}" + String(decoding: suffix, as: UTF8.self)
            }
        }.joined()
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
        isForPages = action.isForPages
        position = Metric.httpEndpoints.firstIndex(of: "\(method.rawValue) \(path)") ?? 0
    }

    private static func post(
        _ path: String, _ action: Action, _ errors: ErrorForm, needsBody: Bool = true
    ) -> HTTPEndpoint { HTTPEndpoint(.post, path, action, errors, needsBody: needsBody) }

    /// The endpoints for devices, apps and app servers. Braces stand for a segment, or for its part before a suffix.
    public static let services = [
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
        HTTPEndpoint(.get, "/v1/apps/{bundle}/apns/feedback", .appleFeedback, .note),
        post("/v1/projects/{project}/messages:send", .sendMessage, .json),
        HTTPEndpoint(.get, "/v1/projects/{project}/messages/{message}", .messageHistory, .json),
        HTTPEndpoint(.get, "/v1/projects/{project}/deliveryData", .deliveryData, .json),
        HTTPEndpoint(
            .delete, "/v1/projects/{project}/registrations/{registration}/messages/{message}", .cancelMessage,
            .json),
        HTTPEndpoint(.get, "/v1/projects/{project}/topics", .listTopics, .json),
        HTTPEndpoint(.get, "/v1/projects/{project}/topics/{topic}/subscribers", .listSubscribers, .json),
        HTTPEndpoint(.get, "/v1/projects/{project}/scheduledMessages", .listScheduled, .json),
        post("/batch", .sendBatch, .json),
        post(subscriptionPath, .topicSubscription(.create), .json, needsBody: false),
        HTTPEndpoint(.get, subscriptionPath, .topicSubscription(.list), .json),
        HTTPEndpoint(.get, subscriptionPath + "/{topic}", .topicSubscription(.get), .json),
        HTTPEndpoint(.patch, subscriptionPath + "/{topic}", .topicSubscription(.patch), .json),
        HTTPEndpoint(.delete, subscriptionPath + "/{topic}", .topicSubscription(.delete), .json),
        post("/fcm/send/{token}", .push, .text),
        post("/gcm/send/{token}", .push, .text),
        post("/wp/{token}", .push, .text),
        HTTPEndpoint(
            .get, "/v1/projects/{project}/serviceAccounts/{account}/allowedLocations", .allowedLocations,
            .json),
        post(tokenPaths[0], .grantToken, .json),
        post(tokenPaths[1], .grantToken, .json),
        post(tokenPaths[2], .grantToken, .json),
        HTTPEndpoint(.get, "/openapi.json", .page(.openAPI)),
    ]

    /// The path of the subscriptions of a token or an installation (http 8.7).
    private static let subscriptionPath =
        "/v1/projects/{project}/registrations/{registration}/topicSubscriptions"

    /// Where access tokens are granted: the current path, and those in older key files (http 1.1).
    static let tokenPaths = ["/token", "/oauth2/v4/token", "/o/oauth2/token"]

    /// The endpoints for the operator's tools, on a port of their own.
    public static let administration = [
        HTTPEndpoint(.get, "/healthz", .page(.health)),
        HTTPEndpoint(.get, "/readyz", .page(.readiness)),
        HTTPEndpoint(.get, "/metrics", .page(.metrics)),
    ]

    /// Returns whether the endpoint accepts a method.
    func accepts(_ method: HTTPMethod) -> Bool {
        method == self.method || method == .head && self.method == .get
    }

    /// Whether a segment has a suffix after a parameter.
    var hasSegmentSuffix: Bool {
        segments.contains { segment in
            if case .any(_, let suffix) = segment { !suffix.isEmpty } else { false }
        }
    }

    /// Returns the answer to `OPTIONS *`: the methods that any endpoint accepts.
    static func allMethods(of endpoints: [HTTPEndpoint]) -> HTTPResponse {
        let taken = HTTPMethod.allCases.filter { method in endpoints.contains { $0.accepts(method) } }
        let names = taken.map(\.rawValue) + [HTTPMethod.options.rawValue]
        return HTTPResponse(
            .ok, HTTPResponse.text, [], extra: ("Allow", names.joined(separator: ", ")))
    }

    /// Returns the `Allow` header for the endpoints at one path.
    static func allow(_ endpoints: [HTTPEndpoint]) -> String {
        endpoints.map { $0.method == .get ? "GET, HEAD" : $0.method.rawValue }.joined(separator: ", ")
    }
}

/// The segments of a path, each percent-decoded separately, so that an escaped slash does not separate segments.
struct HTTPPath {
    private let parts: [[UInt8]]

    /// Splits a path that starts with a slash; `nil` if an escape is malformed.
    ///
    /// Empty segments at its beginning and its end do not count: they come from base URLs that end with a slash.
    init?(_ path: [UInt8]) {
        let slash = UInt8(ascii: "/")
        var inner = path.drop { $0 == slash }
        while inner.last == slash { inner.removeLast() }
        var parts: [[UInt8]] = []
        for part in inner.split(separator: slash, omittingEmptySubsequences: false) {
            guard let decoded = Self.decoded(part) else { return nil }
            parts.append(decoded)
        }
        self.parts = parts
    }

    /// Whether it is below `/v1`, where every client expects errors of Google's services in JSON.
    var isBelowV1: Bool { parts.first == Array("v1".utf8) }

    /// The only segment; `nil` if there are several.
    var only: [UInt8]? { parts.count == 1 ? parts[0] : nil }

    /// Returns the endpoints that match this path, with the values of their parameters.
    ///
    /// An endpoint with a suffix takes precedence over one whose parameter matches the whole segment.
    func found(in endpoints: [HTTPEndpoint]) -> [(endpoint: HTTPEndpoint, captured: [[UInt8]])] {
        let found = endpoints.compactMap { endpoint in
            captured(by: endpoint).map { (endpoint: endpoint, captured: $0) }
        }
        guard found.count > 1 else { return found }
        let precise = found.filter { $0.endpoint.hasSegmentSuffix }
        return precise.isEmpty ? found : precise
    }

    /// Returns the values of an endpoint's parameters; `nil` if the path does not match.
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

    /// Decodes `%XX`; a plus in a path stays a plus.
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
