import Basics

extension DeviceEntry {
    /// Whether the state in memory matches the store. Events wait until it does.
    enum State {
        /// The state is being read from the store.
        case loading(waiting: [DeviceEvent])
        /// The state is in memory.
        case ready
        /// A batch failed: the state is read again once no other batch with changes to it is outstanding.
        case stale(waiting: [DeviceEvent])

        var isReady: Bool { if case .ready = self { true } else { false } }
        var isLoading: Bool { if case .loading = self { true } else { false } }
        var isStale: Bool { if case .stale = self { true } else { false } }

        /// The events that wait. Only those of a state that is not in memory may change.
        var waiting: [DeviceEvent] {
            get {
                switch self {
                case .ready: []
                case .loading(let waiting), .stale(let waiting): waiting
                }
            }
            _modify {
                var waiting = self.waiting
                let isLoading = isLoading
                // No other reference to the array, so that it is not copied.
                self = .ready
                yield &waiting
                self = isLoading ? .loading(waiting: waiting) : .stale(waiting: waiting)
            }
        }
    }
}

extension [RegistrationState] {
    /// Adds the subscriptions of a device's registrations.
    mutating func insert(_ subscriptions: [Subscription]) {
        for subscription in subscriptions {
            guard let at = firstIndex(where: { $0.registration.name.number == subscription.name.number })
            else { continue }
            self[at].topics.insert(subscription)
        }
    }
}

extension DeviceState {
    /// Its registrations with their subscriptions.
    var registrationStates: [RegistrationState] {
        var states = registrations.map { RegistrationState($0) }
        states.insert(subscriptions)
        return states
    }
}
