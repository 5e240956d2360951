public import Basics

/// An error of HTTP v1: the JSON of Google's services with the details that SDKs read (http 8.5).
public struct V1Error: Error, Sendable {
    /// The `errorCode` of an `FcmError` detail.
    public enum Code: String, Sendable, CaseIterable {
        case invalidArgument = "INVALID_ARGUMENT"
        case senderIDMismatch = "SENDER_ID_MISMATCH"
        case unregistered = "UNREGISTERED"
        case quotaExceeded = "QUOTA_EXCEEDED"
        case unavailable = "UNAVAILABLE"
        case internalError = "INTERNAL"
        case thirdPartyAuthError = "THIRD_PARTY_AUTH_ERROR"
    }

    /// An invalid field and the reason: a detail of `BadRequest`.
    public typealias Violation = (field: String, description: String)

    /// The HTTP status; `HTTPStatus.rpcWord` is its name in the JSON.
    public var status: HTTPStatus
    /// The text for humans.
    public var message: String
    /// The code of the `FcmError` detail, or `nil` for no such detail.
    public var code: Code?
    /// The invalid fields.
    public var violations: [Violation]
    /// What exceeded its quota: a detail of `QuotaFailure`.
    public var quotaSubject: String?
    /// Apple's verdict: a detail of `ApnsError`.
    public var verdict: APNsVerdict?
    /// Seconds for `Retry-After` with 429; set only where endless retries do no harm (http 1.4).
    public var retrySeconds: Int?
    /// Whether the error reports an expired access token; clients then fetch another one and retry without limit.
    public var isExpiry = false
    /// The refusal behind the error; `nil` if the request was malformed or not authenticated.
    public private(set) var refusal: Refusal?

    /// Creates an error.
    public init(
        _ status: HTTPStatus, _ message: String, code: Code? = nil, violations: [Violation] = []
    ) {
        self.status = status
        self.message = message
        self.code = code
        self.violations = violations
    }

    /// An error for a field whose value has the right type but is invalid.
    public init(invalid field: String, _ text: String) {
        self.init(.badRequest, text, code: .invalidArgument, violations: [(field, text)])
    }

    /// An error for a document that does not match its schema; the real service sends no `FcmError` detail with it.
    public init(_ fault: ProtoFault) {
        self.init(.badRequest, fault.text, violations: [(fault.field, fault.text)])
    }

    /// The v1 error for a refusal by the core or the translation (http 8.6).
    public init(_ refusal: Refusal) {
        switch refusal {
        case .invalidToken:
            self.init(
                .badRequest, "The registration token is not a valid FCM registration token",
                code: .invalidArgument)
        case .missingTarget:
            self.init(
                .badRequest, "Recipient of the message is not set.", code: .invalidArgument,
                violations: [("message", "Recipient of the message is not set.")])
        case .reservedKey(let key): self.init(invalid: "message.data", "Invalid data payload key: \(key)")
        case .packageMismatch:
            self.init(
                invalid: "message.android.restricted_package_name",
                "The registration token belongs to another package.")
        case .tooLarge(let field, let bytes, let limit):
            self.init(
                invalid: "message.\(field)",
                "The message is too big: \(bytes) bytes of keys and values, expected at most \(limit)")
        case .conflict(let field, let reason)
        where field == PayloadField.sendAt.name || field == PayloadField.replaceMessageID.name:
            self.init(invalid: "message.\(field)", reason)
        case .wrongType(let field, _, _), .outOfRange(let field, _, _, _), .notAllowed(let field, _, _),
            .conflict(let field, _):
            self.init(invalid: "message.\(field)", "Request contains an invalid argument.")
        case .repeatedMessageID, .badAck:
            self.init(.badRequest, "Request contains an invalid argument.", code: .invalidArgument)
        case .senderMismatch: self = .senderMismatch
        case .senderSuspended:
            self.init(.forbidden, "The sender is suspended.", code: .senderIDMismatch)
        case .notRegistered:
            self.init(.notFound, "Requested entity was not found.", code: .unregistered)
        case .deviceRateExceeded:
            self.init(.tooManyRequests, "The device gets too many messages.", code: .quotaExceeded)
            quotaSubject = "device"
        case .senderRateExceeded:
            self.init(.tooManyRequests, "The project sends too many messages.", code: .quotaExceeded)
            quotaSubject = "project"
        case .topicRateExceeded:
            self.init(.tooManyRequests, "The topic gets too many messages.", code: .quotaExceeded)
            quotaSubject = "topic"
        case .unavailable, .draining:
            self.init(.unavailable, "The service is currently unavailable.", code: .unavailable)
        case .storeDamaged: self.init(.unavailable, "\(DamageText.value)", code: .unavailable)
        case .internalError:
            self.init(.internalError, "Internal error encountered.", code: .internalError)
        case .apns(let refusal): self.init(refusal)
        // Without a code: it would mean that the token was deleted.
        case .unknownMessage:
            self.init(.notFound, "No message of this project with this ID waits for the device.")
        case .messageSent: self.init(.conflict, "Too late: the message was sent to the device.")
        case .scheduleFull(let limit):
            self.init(
                .tooManyRequests, "message.send_at cannot be used: \(limit.text)", code: .quotaExceeded)
            quotaSubject = limit.rawValue
        }
        self.refusal = refusal
    }

    /// The v1 error for a message to an iOS app (apns 4.1).
    private init(_ refusal: APNsRefusal) {
        switch refusal.kind {
        case .credential:
            self.init(
                .unauthorized, "Auth error from APNS or Web Push Service", code: .thirdPartyAuthError)
        case .unregistered:
            self.init(.notFound, "Requested entity was not found.", code: .unregistered)
        case .badToken, .activityEnded, .tooLarge, .invalid:
            self.init(.badRequest, APNsText.description(of: refusal), code: .invalidArgument)
        case .mismatch: self = .senderMismatch
        case .rateExceeded:
            self.init(.tooManyRequests, APNsText.description(of: refusal), code: .quotaExceeded)
            quotaSubject = "device"
        case .unavailable:
            self.init(.unavailable, "The service is currently unavailable.", code: .unavailable)
        case .internalFault:
            self.init(.internalError, "Internal error encountered.", code: .internalError)
        }
        verdict = refusal.verdict
    }

    /// The error for a token or a project of another sender.
    public static let senderMismatch = {
        var error = V1Error(.forbidden, "SenderId mismatch", code: .senderIDMismatch)
        error.refusal = .senderMismatch
        return error
    }()

    /// The error for an access token of a sender that an operator has suspended.
    public static let suspended = V1Error(
        .unauthorized, "The sender that this access token belongs to is suspended.")

    /// The error for a missing or unacceptable access token.
    public static let unauthenticated = V1Error(
        .unauthorized,
        "Request is missing required authentication credential. Expected OAuth 2 access token of a service account of this server."
    )

    /// The error for an expired access token.
    public static let expired = {
        var error = V1Error(.unauthorized, "Request had invalid authentication credentials: it has expired.")
        error.isExpiry = true
        return error
    }()

    /// The HTTP response.
    public var response: HTTPResponse {
        var body = ByteBuffer()
        body.append("{\"error\":{\"code\":")
        body.append(decimal: status.rawValue)
        body.append(",\"message\":")
        JSONWriter.append(text: message, to: &body)
        body.append(",\"status\":\"")
        body.append(status.rpcWord)
        body.append("\"")
        let details = details
        if !details.isEmpty {
            body.append(",\"details\":")
            JSONValue.array(details).append(to: &body)
        }
        body.append("}}")
        var response = HTTPResponse(status, HTTPResponse.json, body.copied())
        switch status {
        // Not with every 429: some clients then retry on their own, and endlessly (http 1.4).
        case .tooManyRequests: response.extra = retrySeconds.map { ("Retry-After", String($0)) }
        case .unavailable: response.extra = ("Retry-After", String(Limits.HTTP.sendRetrySeconds))
        // The caller's own token is good: SDKs would fetch another one and try again.
        case .unauthorized where code != .thirdPartyAuthError:
            response.extra = ("WWW-Authenticate", "Bearer")
        default: break
        }
        return response
    }

    private var details: [JSONValue] {
        var details: [JSONValue] = []
        if let code {
            details.append([
                "@type": "type.googleapis.com/google.firebase.fcm.v1.FcmError",
                "errorCode": .string(code.rawValue),
            ])
        }
        if let verdict, verdict.status > 0 {
            details.append([
                "@type": "type.googleapis.com/google.firebase.fcm.v1.ApnsError",
                "statusCode": .integer(verdict.status), "reason": .string(verdict.reason),
            ])
        }
        if !violations.isEmpty {
            let fields = violations.map { violation -> JSONValue in
                ["field": .string(violation.field), "description": .string(violation.description)]
            }
            details.append([
                "@type": "type.googleapis.com/google.rpc.BadRequest", "fieldViolations": .array(fields),
            ])
        }
        if let quotaSubject {
            details.append([
                "@type": "type.googleapis.com/google.rpc.QuotaFailure",
                "violations": [["subject": .string(quotaSubject), "description": .string(message)]],
            ])
        }
        if isExpiry {
            details.append([
                "@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "ACCESS_TOKEN_EXPIRED",
                "domain": "googleapis.com", "metadata": ["service": "fcm.googleapis.com"],
            ])
        }
        return details
    }
}

/// Writes the responses of HTTP v1 (http 8.1).
public enum V1Reply {
    /// Returns the response for the result of a send; a dry run gets a fake message ID.
    public static func response(
        to result: LegacyReply.Result, project: String, isDryRun: Bool
    ) -> HTTPResponse {
        switch result {
        case .refused(let refusal): return V1Error(refusal).response
        case .sent(let id, _):
            var body = ByteBuffer()
            body.append("{\"name\":\"projects/")
            body.append(text: project)
            body.append("/messages/")
            if let id, !isDryRun { id.append(to: &body) } else { body.append("fake_message_id") }
            body.append("\"}")
            return HTTPResponse(.ok, HTTPResponse.json, body.copied())
        }
    }
}
