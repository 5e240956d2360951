/// The status codes that the server sends (RFC 9110, 15).
public enum HTTPStatus: Int, CaseIterable, Sendable {
    case ok = 200
    case created = 201
    case noContent = 204
    case notModified = 304
    case temporaryRedirect = 307
    case badRequest = 400
    case unauthorized = 401
    case forbidden = 403
    case notFound = 404
    case methodNotAllowed = 405
    case requestTimeout = 408
    case conflict = 409
    case gone = 410
    case lengthRequired = 411
    case contentTooLarge = 413
    case targetTooLong = 414
    case unsupportedMediaType = 415
    case expectationFailed = 417
    case misdirectedRequest = 421
    case tooManyRequests = 429
    case headersTooLarge = 431
    case internalError = 500
    case notImplemented = 501
    case unavailable = 503
    case versionNotSupported = 505

    /// The reason phrase of the status line.
    public var phrase: StaticString {
        switch self {
        case .ok: "OK"
        case .created: "Created"
        case .noContent: "No Content"
        case .notModified: "Not Modified"
        case .temporaryRedirect: "Temporary Redirect"
        case .badRequest: "Bad Request"
        case .unauthorized: "Unauthorized"
        case .forbidden: "Forbidden"
        case .notFound: "Not Found"
        case .methodNotAllowed: "Method Not Allowed"
        case .requestTimeout: "Request Timeout"
        case .conflict: "Conflict"
        case .gone: "Gone"
        case .lengthRequired: "Length Required"
        case .contentTooLarge: "Content Too Large"
        case .targetTooLong: "URI Too Long"
        case .unsupportedMediaType: "Unsupported Media Type"
        case .expectationFailed: "Expectation Failed"
        case .misdirectedRequest: "Misdirected Request"
        case .tooManyRequests: "Too Many Requests"
        case .headersTooLarge: "Request Header Fields Too Large"
        case .internalError: "Internal Server Error"
        case .notImplemented: "Not Implemented"
        case .unavailable: "Service Unavailable"
        case .versionNotSupported: "HTTP Version Not Supported"
        }
    }

    /// Whether the status reports that the request exceeded a size limit.
    public var isTooLarge: Bool {
        self == .contentTooLarge || self == .targetTooLong || self == .headersTooLarge
    }

    /// The `status` in the JSON errors of Google's services.
    public var rpcWord: StaticString {
        switch self {
        case .ok, .created, .noContent, .notModified, .temporaryRedirect: "OK"
        case .unauthorized: "UNAUTHENTICATED"
        case .forbidden: "PERMISSION_DENIED"
        case .notFound, .gone: "NOT_FOUND"
        case .conflict: "ALREADY_EXISTS"
        case .tooManyRequests: "RESOURCE_EXHAUSTED"
        case .requestTimeout: "DEADLINE_EXCEEDED"
        case .internalError: "INTERNAL"
        case .notImplemented, .methodNotAllowed: "UNIMPLEMENTED"
        case .unavailable: "UNAVAILABLE"
        default: "INVALID_ARGUMENT"
        }
    }
}

/// Why a request is refused: a status, and a reason that quotes nothing the peer sent.
public struct RequestFault: Error, Sendable {
    /// The status of the response.
    public var status: HTTPStatus
    /// One sentence for the response body and the log.
    public var reason: StaticString

    /// Creates a fault.
    public init(_ status: HTTPStatus, _ reason: StaticString) {
        self.status = status
        self.reason = reason
    }
}
