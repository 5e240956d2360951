/// Why a stored record could not be read; the store adds the record's name.
public enum RecordFault: String, Error, Sendable {
    /// It ends before its fields do, or goes on behind them.
    case length = "wrong length"
    /// The checksum does not fit the bytes, or the bytes lie under another record's key.
    case checksum = "wrong checksum"
    /// A newer version wrote it.
    case version = "unknown version"
    /// A field holds what its type cannot.
    case value = "impossible value"
}

/// Which record bytes belong to: it goes into their checksum, so that a misplaced record is found too.
public struct RecordPlace: Sendable {
    let high: UInt64
    let low: UInt64

    /// The kinds of record; the number is part of the format.
    enum Kind: UInt64 {
        case message = 1
        case upstream = 2
        case device = 3
        case registration = 4
        case sender = 5
        case tally = 6
        case group = 8
        case subscription = 7
        case topicJob = 9
        case topicCursor = 10
        case topicBody = 11
        case installation = 12
    }

    init(_ kind: Kind, _ high: UInt64, _ low: UInt64 = 0) {
        self.high = high ^ (kind.rawValue &* 0x9e37_79b9_7f4a_7c15)
        self.low = low
    }
}
