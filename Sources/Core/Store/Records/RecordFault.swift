/// Why a stored record could not be read. The store adds the name of the record.
public enum RecordFault: String, Error, Sendable {
    /// It ends before its last field, or has bytes after it.
    case length = "wrong length"
    /// The checksum does not match the bytes, or the bytes belong to another key.
    case checksum = "wrong checksum"
    /// A newer version wrote it.
    case version = "unknown version"
    /// A field has a value that it cannot have.
    case value = "impossible value"
}

/// The identity of a record. It is part of the checksum, so that a record under a wrong key is detected.
public struct RecordIdentity: Sendable {
    let high: UInt64
    let low: UInt64

    /// The kinds of record. The numbers are part of the format.
    enum Kind: UInt64 {
        case message = 1
        case upstream = 2
        case device = 3
        case registration = 4
        case sender = 5
        case tally = 6
        case group = 8
        case subscription = 7
        case topicMessage = 9
        case topicProgress = 10
        case topicBody = 11
        case installation = 12
        case feedback = 13
        case topicEntry = 14
        case requestBody = 15
    }

    init(_ kind: Kind, _ high: UInt64, _ low: UInt64 = 0) {
        self.high = high ^ (kind.rawValue &* 0x9e37_79b9_7f4a_7c15)
        self.low = low
    }
}
