/// Why bytes are no heartbeat that this build can use.
public enum HeartbeatFault: Error, Hashable, Sendable {
    /// More bytes than a heartbeat may have.
    case tooLong(bytes: Int)
    /// No heartbeat at all.
    case foreign
    /// It names this cluster, and no node of this cluster has made it.
    case unauthenticated
    /// A newer build has sent it.
    case newer(version: UInt8)
    /// The bytes end too early.
    case cut
    /// Bytes follow the end.
    case trailing(bytes: Int)
    /// A field has a value that no node sends.
    case invalid(Field)

    /// The fields that are checked.
    public enum Field: String, CaseIterable, Sendable {
        case number, cluster, node, count, name, software, frameVersions, linkAddress, draining, partitions
        case role, epoch, position, echoes, rosterChanges
    }
}
