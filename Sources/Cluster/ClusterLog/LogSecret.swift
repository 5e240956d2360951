public import Basics

/// The secret that the nodes of a cluster share for what they write to the servers of the log.
///
/// A writer without the secret can make neither a frame nor a heartbeat: each has a tag of 64 bits that is keyed with this
/// secret, and what has another tag is skipped. A record that is written again is void like any other copy.
public struct LogSecret: Sendable {
    /// The number of bytes of a secret.
    public static let length = 32

    private let key: SipHash
    private let rest: (UInt64, UInt64)

    /// Creates a secret from `length` bytes.
    public init(_ bytes: borrowing RawSpan) {
        precondition(bytes.byteCount == Self.length, "a secret of the log has another length")
        key = SipHash(key: (bytes.word(at: 0), bytes.word(at: 8)))
        rest = (bytes.word(at: 16), bytes.word(at: 24))
    }

    /// What a tag is for: no tag of one use is a tag of another.
    public enum Use: Sendable {
        /// The frames of a partition.
        case frames(partition: Int)
        /// The heartbeats of the nodes.
        case heartbeats
    }

    /// Returns the keyed hash that makes the tags of one use in a cluster.
    public func tags(of use: Use, in cluster: UInt64) -> SipHash {
        let purpose: (UInt64, UInt64) =
            switch use {
            case .frames(let partition): (0, UInt64(partition))
            case .heartbeats: (1, 0)
            }
        var message = ByteBuffer()
        for word in [rest.0, rest.1, cluster, purpose.0, purpose.1] { message.append(word: word) }
        return SipHash(key: key.hash128(message.bytes))
    }
}

/// What the frames of one log are authenticated with. A frame of another cluster or partition has no valid tag in this log.
public struct LogKey: Sendable {
    private let tags: SipHash

    /// The key of the log of a partition.
    public init(_ secret: LogSecret, cluster: UInt64, partition: Int) {
        tags = secret.tags(of: .frames(partition: partition), in: cluster)
    }

    func tag(_ bytes: borrowing RawSpan) -> UInt64 { tags.hash(bytes) }
}
