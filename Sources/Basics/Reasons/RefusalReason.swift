/// Why a request was refused, as metrics and logs name it: a refusal of the protocol, or what comes before one.
public enum RefusalReason: Sendable, Equatable {
    /// The message or token was understood and refused.
    case refusal(Refusal)
    /// The request cannot be read: invalid JSON or form, or a field that the interface does not take.
    case malformed
    /// The credentials are missing, wrong or expired.
    case unauthorized
    /// It would have added to the registry, and strangers had asked for that too often in this minute.
    case tooManyStrangers
    /// It would have added to the registry, which is as large as it may become.
    case registryFull

    /// The word in logs and metric labels.
    public var word: String {
        switch self {
        case .refusal(let refusal): refusal.word
        case .malformed: "malformed"
        case .unauthorized: "unauthorized"
        case .tooManyStrangers: "too_many_strangers"
        case .registryFull: "registry_full"
        }
    }

    /// Its position among `Metric.refusalReasons`: the value of the label `reason`.
    public var position: Int {
        switch self {
        case .refusal(let refusal): refusal.position
        case .malformed: Metric.refusalWords.count
        case .unauthorized: Metric.refusalWords.count + 1
        case .tooManyStrangers: Metric.refusalWords.count + 2
        case .registryFull: Metric.refusalWords.count + 3
        }
    }
}

/// The interface over which something was refused: the value of the label `interface`.
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
