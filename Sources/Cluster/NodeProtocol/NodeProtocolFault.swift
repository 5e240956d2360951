public import Store

/// Why bytes of another node cannot be read.
public enum NodeProtocolFault: Error, Hashable, Sendable {
    /// A version that this build does not read.
    case version(UInt8)
    /// A case that this version does not have; the number is the one that was read.
    case unknownCase(of: String, number: UInt64)
    /// They end before the last field. Bytes after it are read as a further batch or item.
    case truncated
    /// A length or a count exceeds its limit.
    case tooLong(String, length: Int, limit: Int)
    /// A field has a value that it cannot have.
    case value(of: String)
    /// A record of the store in it cannot be read.
    case record(RecordFault)
}

extension NodeProtocolFault: CustomStringConvertible {
    /// What is wrong, and what is expected, for the log.
    public var description: String {
        let versions = NodeProtocol.versions
        return switch self {
        case .version(let found):
            "unknown version \(found): expected \(versions.lowerBound) to \(versions.upperBound); another node runs a newer ccsd"
        case .unknownCase(let kind, let number): "unknown \(kind) \(number): another node runs a newer ccsd"
        case .truncated: "the bytes end before the last field"
        case .tooLong(let subject, let length, let limit): "\(subject): \(length) is more than \(limit)"
        case .value(let kind): "invalid value of \(kind)"
        case .record(let fault): "a record cannot be read: \(fault.rawValue)"
        }
    }
}
