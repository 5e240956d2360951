public import Basics
public import ClusterLog

/// Heartbeats as they travel: the bytes of `HeartbeatCodec`, and then a tag of eight bytes, little-endian, that only a node of the cluster
/// can make.
public struct HeartbeatSeal: Sendable {
    private static let tagLength = 8

    private let cluster: ClusterID
    private let tags: SipHash

    /// Creates a seal with the secret of a cluster.
    public init(_ secret: LogSecret, of cluster: ClusterID) {
        self.cluster = cluster
        tags = secret.tags(of: .heartbeats, in: cluster.number)
    }

    /// Returns the bytes of a heartbeat with their tag.
    public func seal(_ heartbeat: Heartbeat) -> [UInt8] {
        let bytes = heartbeat.encoded()
        let tag = tags.hash(bytes.raw)
        return bytes + (0..<Self.tagLength).map { UInt8(truncatingIfNeeded: tag >> (8 * UInt64($0))) }
    }

    /// Reads a heartbeat with its tag.
    ///
    /// A heartbeat of another cluster is returned although its tag cannot be checked: the membership raises an alarm about it, and does
    /// nothing else with it.
    public func open(_ sealed: borrowing RawSpan) throws(HeartbeatFault) -> Heartbeat {
        let length = sealed.byteCount - Self.tagLength
        guard length > 0 else { throw .foreign }
        let heartbeat = try Heartbeat(decoding: sealed.extracting(0..<length))
        // One comparison of two words takes the same time for all tags.
        guard
            heartbeat.cluster != cluster
                || sealed.word(at: length) == tags.hash(sealed.extracting(0..<length))
        else { throw .unauthenticated }
        return heartbeat
    }
}
