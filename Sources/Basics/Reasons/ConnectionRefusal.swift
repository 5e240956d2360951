/// Why a connection was closed at accept, before `CloseReason` applies.
///
/// The raw value is the word in logs, metrics, `ccsctl` and the docs.
public enum ConnectionRefusal: String, LabelWord, Sendable {
    /// The reactor has reached the number of connections that its descriptors allow.
    case reactorFull = "reactor_full"
    /// The listener has reached its limit of connections.
    case listenerFull = "listener_full"
    /// The address has reached its limit of connections that have not logged in.
    case addressFull = "address_full"
    /// The address has failed to log in too often in this minute.
    case failedLogins = "failed_logins"
    /// The process, or the system, has no descriptors left except those reserved for the store.
    case noDescriptor = "no_descriptor"
    /// The system has no memory for the connection.
    case noMemory = "no_memory"
}
