/// Why a request was refused, for metrics and logs: a refusal of the protocol, or one before the message was looked at.
public enum RefusalReason: Sendable, Equatable {
    /// The message or token was parsed and refused.
    case refusal(Refusal)
    /// The request cannot be parsed: invalid JSON or form, or a field that the interface does not accept.
    case malformed
    /// The credentials are missing, wrong or expired.
    case unauthorized
    /// It would have grown the registry without authentication, and the limit for such requests was reached in this minute.
    case tooManyUnauthenticated
    /// It would have grown the registry, which has reached its limit.
    case registryFull

    /// The word in logs and metric labels.
    public var word: String {
        switch self {
        case .refusal(let refusal): refusal.word
        case .malformed: "malformed"
        case .unauthorized: "unauthorized"
        case .tooManyUnauthenticated: "too_many_unauthenticated"
        case .registryFull: "registry_full"
        }
    }

    /// The word, and the field if one is wrong, as the message history has it.
    public var detail: String {
        if case .refusal(let refusal) = self { refusal.detail } else { word }
    }

    /// The position among `Metric.refusalReasons`, for the label `reason`.
    public var position: Int {
        switch self {
        case .refusal(let refusal): refusal.position
        case .malformed: Metric.refusalWords.count
        case .unauthorized: Metric.refusalWords.count + 1
        case .tooManyUnauthenticated: Metric.refusalWords.count + 2
        case .registryFull: Metric.refusalWords.count + 3
        }
    }
}

/// The interface over which a request was refused: the values of the label `interface`.
public enum RefusalInterface: String, LabelWord, Sendable {
    /// App servers over XMPP.
    case xmpp
    /// App servers and devices over HTTPS.
    case http
    /// Devices over MCS.
    case device
    /// The control socket: `ccsctl send`.
    case control
}
