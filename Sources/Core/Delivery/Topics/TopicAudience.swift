import Basics

/// The connected devices of a partition by the topics that they subscribe to: who is sent a topic message at once.
struct TopicAudience {
    private var subscribers: [TopicKey: Set<DeviceID>] = [:]

    /// A device has connected with subscriptions, has changed them, or has left.
    mutating func change(_ device: DeviceID, from old: [TopicKey], to new: [TopicKey]) {
        guard old != new else { return }
        for key in old {
            guard var devices = subscribers.removeValue(forKey: key) else { continue }
            devices.remove(device)
            if !devices.isEmpty { subscribers[key] = devices }
        }
        for key in new { subscribers[key, default: []].insert(device) }
    }

    /// Returns the devices that a message may be for, in order; `nil` if all that are connected may be.
    func devices(for message: TopicMessage) -> [DeviceID]? {
        var found: Set<DeviceID> = []
        for pass in message.target.passes {
            switch pass {
            case .topic(let at):
                if let devices = subscribers[message.key(at)] { found.formUnion(devices) }
            case .everyone: return nil
            }
        }
        return found.sorted()
    }

    /// Number of topics with connected subscribers.
    var count: Int { subscribers.count }
}
