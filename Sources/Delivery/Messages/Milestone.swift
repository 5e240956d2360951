/// A step in the life of a message; the raw value is the word in logs, metrics, `ccsctl` and docs.
///
/// Conservation: accepted = delivered + replaced + expired + discarded + removed + pending (design 8). The store maintains it
/// separately for downstream and upstream messages. Markers and receipts are not counted.
public enum Milestone: String, CaseIterable, Sendable {
    case accepted
    case stored
    case sent
    case delivered
    case replaced
    case expired
    case refused
    case discarded
    case removed

    /// Whether the message ends with this step.
    public var isTerminal: Bool {
        switch self {
        case .delivered, .replaced, .expired, .discarded, .removed, .refused: true
        case .accepted, .stored, .sent: false
        }
    }
}
