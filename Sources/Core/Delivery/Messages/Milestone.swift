/// A step in the life of a message; the raw value is the word in logs, metrics, `ccsctl` and docs.
///
/// Conservation: accepted = delivered + forwarded + replaced + expired + discarded + removed + pending (docs/concepts.md, Milestones).
/// The store maintains it separately for downstream and upstream messages. Markers and receipts are not counted.
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
    /// Accepted by APNs for an iOS app, which does not report whether the device got it.
    case forwarded

    /// Whether the message ends with this step.
    public var isTerminal: Bool {
        switch self {
        case .delivered, .replaced, .expired, .discarded, .removed, .refused, .forwarded: true
        case .accepted, .stored, .sent: false
        }
    }
}
