public import Basics

extension ConnectionRefusal {
    /// The meaning, with advice to the operator where there is any.
    public var meaning: String {
        switch self {
        case .reactorFull:
            "The number of connections has reached what the file descriptors allow: raise LimitNOFILE= of the unit."
        case .listenerFull: "The listener has its maximum number of connections."
        case .addressFull:
            "The address, or the IPv6 network, has anonymous_per_address connections without a login on one thread."
        case .failedLogins:
            "The address, or the IPv6 network, has reached failed_logins_per_address in this minute."
        case .noDescriptor:
            "No file descriptor is left except those reserved for the store: raise LimitNOFILE= of the unit."
        case .noMemory: "The system is out of memory for another connection."
        }
    }
}
