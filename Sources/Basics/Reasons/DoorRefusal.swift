/// Why a connection was closed as soon as it was accepted: it never was one of those that `CloseReason` speaks of.
///
/// The raw value is the word in logs, metrics, `ccsctl` and the docs.
public enum DoorRefusal: String, LabelWord, Sendable {
    /// The reactor has as many connections as its descriptors allow.
    case reactorFull = "reactor_full"
    /// The listener has as many as it may have.
    case listenerFull = "listener_full"
    /// The address has too many that have not logged in.
    case addressFull = "address_full"
    /// The address has failed to log in too often in this minute.
    case failedLogins = "failed_logins"
    /// The process, or the system, has no descriptor left but those that are spared for the store.
    case noDescriptor = "no_descriptor"
    /// The system has no memory for it.
    case noMemory = "no_memory"
}
