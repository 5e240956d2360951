import Basics

/// The names of the streams of a cluster in JetStream.
public struct LogNames: Hashable, Sendable {
    /// What all names begin with; two clusters in one account need two.
    public let prefix: String

    /// Creates names. Returns `nil` unless the prefix has 1 to 32 lower-case letters, digits and hyphens.
    public init?(prefix: String = "ccs") {
        let isValid = prefix.utf8.allSatisfy {
            switch $0 {
            case 0x61...0x7A, 0x30...0x39, UInt8(ascii: "-"): true
            default: false
            }
        }
        guard isValid, Limits.JetStream.prefixBytes.contains(prefix.utf8.count) else { return nil }
        self.prefix = prefix
    }

    /// The names with the prefix `ccs`.
    public static let standard = LogNames(unchecked: "ccs")

    private init(unchecked prefix: String) { self.prefix = prefix }

    /// The stream of a partition: `CCS_7`.
    public func stream(_ partition: Int) -> String { "\(prefix.uppercased())_\(partition)" }

    /// The subject of a partition's frames: `ccs.7`.
    public func subject(_ partition: Int) -> String { "\(prefix).\(partition)" }
}
