public import Basics

extension DoorRefusal {
    /// What it means, and what an operator can do where there is something to do.
    public var meaning: String {
        switch self {
        case .reactorFull:
            "There are as many connections as descriptors allow: LimitNOFILE= of the unit gives more."
        case .listenerFull: "There are as many connections as this listener may have."
        case .addressFull:
            "The address, or the IPv6 network, has as many connections on one reactor that have not logged in as anonymous_per_address allows."
        case .failedLogins:
            "The address, or the IPv6 network, failed to log in as often in this minute as failed_logins_per_address allows."
        case .noDescriptor:
            "No descriptor is left but those spared for the store: LimitNOFILE= of the unit gives more."
        case .noMemory: "The system has no memory for another connection."
        }
    }
}
