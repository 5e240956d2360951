public import Basics

/// What the response with a file for browsers has besides its content.
public struct BrowserFile: Sendable {
    /// The entity tag, which changes with the content, with its quotes.
    public var entityTag: String
    /// What the page may load and run (Content Security Policy).
    public var policy: StaticString
    /// How long a browser may keep the file.
    public var caching: Caching
    /// The coding of the body.
    public var coding: Coding

    /// How long a browser may keep a file.
    public enum Caching: Sendable {
        /// It asks each time whether the file has changed.
        case revalidated
        /// For good: the name of the file contains a hash of its content.
        case immutable

        var directives: StaticString {
            switch self {
            case .revalidated: "no-cache"
            case .immutable: "public, max-age=31536000, immutable"
            }
        }
    }

    /// The coding of a body (RFC 9110, 8.4).
    public enum Coding: Sendable {
        case identity, gzip
    }

    /// Creates it.
    public init(
        entityTag: String, policy: StaticString, caching: Caching = .revalidated, coding: Coding = .identity
    ) {
        self.entityTag = entityTag
        self.policy = policy
        self.caching = caching
        self.coding = coding
    }
}

/// What a response permits web pages of other origins (Fetch, 3.2).
public enum CrossOriginGrant: Sendable, Equatable {
    /// Pages of every origin may read it.
    case every
    /// Pages of this origin may read it, of none if it is `nil`; the response to another origin differs.
    case one([UInt8]?)
}

/// A complete response of the server; `append` writes its bytes.
public struct HTTPResponse: Sendable {
    /// The status.
    public var status: HTTPStatus
    /// The value of `Content-Type`.
    public var contentType: StaticString
    /// The body.
    public var body: [UInt8]
    /// An additional header, such as `Allow` with 405, `Accept-Encoding` with 415, or `Content-Encoding`.
    public var extra: (name: StaticString, value: String)?
    /// What makes the body a file for browsers; `nil` for anything else.
    public var file: BrowserFile?
    /// The `Location` of a created resource, with 201.
    public var location: String?

    /// What it permits web pages of other origins; `nil` for nothing.
    public var crossOrigin: CrossOriginGrant?
    /// What makes it the answer to a preflight; `nil` for anything else.
    public var preflight: Preflight?

    /// What the answer to a preflight permits the page that asks, if its origin is permitted.
    public struct Preflight: Sendable {
        /// The methods, as a list.
        public var methods: String
        /// The headers, as a list.
        public var headers: StaticString
        /// Seconds for which it is valid.
        public var seconds: Int

        public init(methods: String, headers: StaticString, seconds: Int) {
            self.methods = methods
            self.headers = headers
            self.seconds = seconds
        }
    }

    /// Creates a response.
    public init(
        _ status: HTTPStatus, _ contentType: StaticString, _ body: [UInt8],
        extra: (name: StaticString, value: String)? = nil
    ) {
        self.status = status
        self.contentType = contentType
        self.body = body
        self.extra = extra
    }

    /// The content type of plain-text responses.
    public static let text: StaticString = "text/plain; charset=UTF-8"
    /// The content type of JSON responses and errors (http 1.2).
    public static let json: StaticString = "application/json; charset=UTF-8"

    /// Returns an error response with the reason as one line of text.
    public static func plain(_ fault: RequestFault) -> HTTPResponse {
        var body = ByteBuffer()
        body.append(fault.reason)
        body.append("\n")
        return HTTPResponse(fault.status, text, body.copied())
    }

    /// Returns an error response in the JSON format of Google's services.
    public static func rpc(_ fault: RequestFault) -> HTTPResponse {
        var body = ByteBuffer()
        body.append("{\"error\":{\"code\":")
        body.append(decimal: fault.status.rawValue)
        body.append(",\"message\":\"")
        body.append(fault.reason)
        body.append("\",\"status\":\"")
        body.append(fault.status.rpcWord)
        body.append("\"}}")
        return HTTPResponse(fault.status, json, body.copied())
    }

    /// Calls `give` for each header in order with a closure that writes the value: the same for HTTP/1.1 and HTTP/2.
    ///
    /// Responses carry credentials, so they must not be cached, and no browser may interpret one as a web page. Files for browsers
    /// carry none, and a browser may keep them within their `caching`.
    func headers(
        at now: UnixMilliseconds, isStream: Bool = false,
        _ give: (_ name: StaticString, _ value: (inout ByteBuffer) -> Void) -> Void
    ) {
        give("Date") { HTTPDate.append(now, to: &$0) }
        give("Content-Type") { $0.append(contentType) }
        // With 304 the length would be that of the file, which is not sent (RFC 9110, 8.6).
        if !isStream, status != .notModified { give("Content-Length") { $0.append(decimal: body.count) } }
        give("Cache-Control") { $0.append(file?.caching.directives ?? "no-store") }
        give("X-Content-Type-Options") { $0.append("nosniff") }
        if let extra { give(extra.name) { $0.append(text: extra.value) } }
        if let location { give("Location") { $0.append(text: location) } }
        crossOriginHeaders(give)
        if let file {
            give("ETag") { $0.append(text: file.entityTag) }
            give("Vary") { $0.append("Accept-Encoding") }
            if file.coding == .gzip { give("Content-Encoding") { $0.append("gzip") } }
            give("Content-Security-Policy") { $0.append(file.policy) }
            give("Cross-Origin-Opener-Policy") { $0.append("same-origin") }
            give("Cross-Origin-Resource-Policy") { $0.append("same-origin") }
            give("Referrer-Policy") { $0.append("no-referrer") }
            give("X-Frame-Options") { $0.append("DENY") }
        }
    }

    /// Credentials are never permitted: a browser then sends and accepts no cookies.
    private func crossOriginHeaders(
        _ give: (_ name: StaticString, _ value: (inout ByteBuffer) -> Void) -> Void
    ) {
        guard let crossOrigin else { return }
        switch crossOrigin {
        case .every: give("Access-Control-Allow-Origin") { $0.append("*") }
        case .one(let origin):
            give("Vary") { $0.append("Origin") }
            guard let origin else { return }
            give("Access-Control-Allow-Origin") { $0.append(origin) }
        }
        guard let preflight else {
            return give("Access-Control-Expose-Headers") { $0.append("Location, Retry-After") }
        }
        give("Access-Control-Allow-Methods") { $0.append(text: preflight.methods) }
        give("Access-Control-Allow-Headers") { $0.append(preflight.headers) }
        give("Access-Control-Max-Age") { $0.append(decimal: preflight.seconds) }
    }

    /// Appends status line, headers and body.
    ///
    /// With `isHead` the body is left out; its length is still announced.
    public func append(
        at now: UnixMilliseconds, closes: Bool, isHead: Bool = false, to out: inout ByteBuffer
    ) {
        appendHead(at: now, closes: closes, isStream: false, to: &out)
        if !isHead { out.append(body) }
    }

    /// Appends status line and headers of a response whose body ends with the connection.
    public func appendStreamHead(at now: UnixMilliseconds, to out: inout ByteBuffer) {
        appendHead(at: now, closes: true, isStream: true, to: &out)
    }

    private func appendHead(at now: UnixMilliseconds, closes: Bool, isStream: Bool, to out: inout ByteBuffer)
    {
        out.append("HTTP/1.1 ")
        out.append(decimal: status.rawValue)
        out.append(" ")
        out.append(status.phrase)
        out.append("\r\n")
        headers(at: now, isStream: isStream) { name, value in
            out.append(name)
            out.append(": ")
            value(&out)
            out.append("\r\n")
        }
        if closes { out.append("Connection: close\r\n") }
        out.append("\r\n")
    }

    /// The interim response for a peer that waits before it sends a body (RFC 9110, 10.1.1).
    public static let continuation: StaticString = "HTTP/1.1 100 Continue\r\n\r\n"
}
