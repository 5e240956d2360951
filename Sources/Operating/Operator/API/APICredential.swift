public import Basics
public import Wire

/// The credential of a request of the operator API, not yet checked.
public enum APICredential: Sendable {
    case none
    /// The token of an operator: `Authorization: Bearer TOKEN`.
    case token(Redacted<String>)
    /// The secret of a session, in the cookie.
    case session(Redacted<String>)

    /// The start of the name of the cookie, without TLS. Browsers do not separate cookies by port, so the rest of the name differs from process to
    /// process: several consoles at one host name, such as through `ssh -L`, would otherwise replace each other's session.
    public static let cookiePrefix = "ccsd_session_"
    /// The header that every change with a cookie needs: a page of another origin cannot set it.
    public static let changeHeader = "X-CCSD-Request"

    /// Finds the credential of a request, whose session is in the cookie of this name. A header with a token takes precedence. Two
    /// headers with tokens, or two cookies of the name, are none: one of them may come from another site of the same domain.
    public init(_ request: HTTPRequest, cookie: String) {
        if let header = request.header("authorization") {
            self = request.count(of: "authorization") == 1 ? Self.bearer(header) : .none
        } else {
            self = Self.session(in: request.headers("cookie"), cookie)
        }
    }

    private static func bearer(_ header: [UInt8]) -> APICredential {
        guard header.count > 7, header.count <= 7 + Limits.Login.credentialBytes,
            ASCII.equals(header.raw.extracting(0..<7), ignoringCase: "bearer ")
        else { return .none }
        return .token(Redacted(String(decoding: header[7...].drop { $0 == 0x20 }, as: UTF8.self)))
    }

    private static func session(in headers: [[UInt8]], _ cookie: String) -> APICredential {
        var found: [APICredential] = []
        for pair in headers.flatMap({ $0.split(separator: UInt8(ascii: ";")) }) {
            let text = String(decoding: pair.drop { $0 == 0x20 }, as: UTF8.self)
            guard text.hasPrefix(cookie + "=") else { continue }
            let isShort = text.utf8.count <= Limits.Login.credentialBytes
            found.append(isShort ? .session(Redacted(String(text.dropFirst(cookie.count + 1)))) : .none)
        }
        return found.count == 1 ? found[0] : .none
    }

    /// Returns the name of the cookie of a process. With TLS browsers accept a name that begins with `__Host-` from this host alone, so
    /// that no other one of its domain can set it.
    public static func cookieName(_ random: String, isTLS: Bool) -> String {
        (isTLS ? "__Host-" : "") + cookiePrefix + random
    }

    /// Returns the header that sets the cookie of a new session.
    public static func setCookie(_ cookie: String, _ secret: Redacted<String>) -> String {
        "\(cookie)=\(secret.revealed); Path=/; Max-Age=\(Limits.OperatorAPI.sessionSeconds); Secure; HttpOnly; SameSite=Strict"
    }

    /// Returns the header that removes the cookie.
    public static func removeCookie(_ cookie: String) -> String {
        "\(cookie)=; Path=/; Max-Age=0; Secure; HttpOnly; SameSite=Strict"
    }

    /// Throws if a page of another origin may have caused the request. Only browsers are in this danger: they add the cookie by
    /// themselves, and report the origin of the page.
    public static func requireOwnOrigin(
        _ request: HTTPRequest, isTLS: Bool, hasCookie: Bool
    ) throws(APIProblem) {
        let host = text(request.header("host")).lowercased()
        let origin = request.header("origin").map { text($0).lowercased() }
        let site = text(request.header("sec-fetch-site"))
        guard origin == nil || origin == (isTLS ? "https://" : "http://") + host,
            ["", "same-origin", "none"].contains(site)
        else {
            throw APIProblem(
                .forbidden, "the request comes from a page of another origin",
                hint: "use the API from a page of this server, or without a browser")
        }
        guard hasCookie, request.method != .get else { return }
        guard request.header("x-ccsd-request")?.isEmpty == false else {
            throw APIProblem(
                .forbidden, "missing header \(changeHeader): expected any value",
                hint: "a change with a session cookie needs it")
        }
    }

    private static func text(_ header: [UInt8]?) -> String { String(decoding: header ?? [], as: UTF8.self) }
}
