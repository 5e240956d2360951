public import Basics

extension ConnectionRefusal {
    /// The meaning, with advice to the operator where there is any.
    public var meaning: String {
        switch self {
        case .reactorFull:
            "The number of connections has reached what the file descriptors allow: raise LimitNOFILE= of the unit."
        case .listenerFull: "The listener has its maximum number of connections."
        case .addressFull:
            "The address, or the IPv6 network, had anonymous_per_address connections without a login on one thread; the oldest of them was closed for a newer one."
        case .beforeLoginFull:
            "All connections without a login had reached before_login_bytes; the oldest of them was closed for a newer one."
        case .noDescriptor:
            "No file descriptor is left except those reserved for the store: raise LimitNOFILE= of the unit."
        case .noMemory: "The system is out of memory for another connection."
        }
    }
}
