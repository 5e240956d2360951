/// Why a connection was closed at accept, or before its login to make room for a newer one.
///
/// The raw value is the word in logs, metrics, `ccsctl` and the docs.
public enum ConnectionRefusal: String, LabelWord, Sendable {
    /// The reactor has reached the number of connections that its descriptors allow.
    case reactorFull = "reactor_full"
    /// The listener has reached its limit of connections.
    case listenerFull = "listener_full"
    /// The address had reached its limit of connections that have not logged in; this one was the oldest.
    case addressFull = "address_full"
    /// All connections that have not logged in had reached their limit of memory; this one was the oldest.
    case beforeLoginFull = "before_login_full"
    /// The process, or the system, has no descriptors left except those reserved for the store.
    case noDescriptor = "no_descriptor"
    /// The system has no memory for the connection.
    case noMemory = "no_memory"
}
