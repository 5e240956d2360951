import Basics
import Wire

/// The web pages of other origins that may call the services for devices and web push (Fetch, 3.3).
public enum PageOrigins: Sendable, Equatable {
    /// Those of every origin, as at Google: what a page may do is decided by what it presents, never by cookies.
    case any
    /// Those of these origins, each as browsers write it; of none if the list is empty.
    case only([[UInt8]])

    /// Creates the origins of a list of the configuration, in which `*` stands for all.
    public init(_ origins: [String]) {
        self = origins.contains("*") ? .any : .only(origins.map { Array($0.utf8) })
    }

    /// Returns what the answer to a request permits. `nil` if it is the same for every page, and the request comes from none.
    func grant(to request: HTTPRequest) -> CrossOriginGrant? {
        let origin = request.header("origin")
        switch self {
        case .any: return origin == nil ? nil : .every
        case .only(let origins):
            guard !origins.isEmpty else { return nil }
            // The configured text, so that nothing of the request is repeated.
            return .one(origins.first { $0 == origin })
        }
    }
}

extension HTTPEndpoint {
    /// Headers that pages send: those of the Firebase SDK, those of web push, and the one that `*` does not stand for. The asterisk
    /// stands for all others, in browsers since 2018.
    private static let requestHeaders: StaticString =
        "authorization, content-encoding, content-type, crypto-key, encryption, topic, ttl, urgency, x-firebase-client, x-goog-api-key, x-goog-firebase-installations-auth, *"

    /// Returns the answer to a preflight: the question of a browser, before it sends the request of a page. `nil` if the request is
    /// something else.
    ///
    /// It is answered from the table alone, before authentication, and costs what any refused request costs.
    static func preflight(
        _ request: HTTPRequest, _ found: [HTTPEndpoint], _ grant: CrossOriginGrant?
    ) -> HTTPResponse? {
        guard let grant, request.method == .options, request.header("access-control-request-method") != nil
        else { return nil }
        guard grant != .one(nil) else {
            return .plain(
                RequestFault(.forbidden, "invalid Origin: expected one of the origins in cors_origins"))
        }
        let methods = found.filter(\.isForPages).map(\.method.rawValue)
        var response = HTTPResponse(.ok, HTTPResponse.text, [])
        response.preflight = HTTPResponse.Preflight(
            methods: methods.joined(separator: ", "), headers: requestHeaders,
            seconds: Limits.HTTP.preflightSeconds)
        return response
    }
}
