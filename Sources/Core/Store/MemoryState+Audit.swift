public import Basics
import Delivery

/// What an audit finds in a store in memory.
extension MemoryState {
    /// Rows that the registry would have on a disk, where a device, an installation and a subscription have two each.
    public var registryRows: Int {
        let ofDevices =
            2 * devices.count + positions.count + registrations.values.map(\.count).reduce(0, +)
        let ofInstallations = 2 * installationRecords.count + installations.values.map(\.count).reduce(0, +)
        return ofDevices + ofInstallations + 2 * subscriptions.count + senderRecords.count + groups.count
    }

    /// Counts all devices after one, and their registrations.
    public func census(after: DeviceID?) -> RegistryCensus {
        var census = RegistryCensus()
        let counted = devices.keys.filter { device in after.map { device > $0 } ?? true }
        census.devices = counted.count
        census.registrations = counted.reduce(0) { $0 + (registrations[$1]?.count ?? 0) }
        return census
    }

    /// Counts all records.
    public func audit() -> StoreAudit {
        var audit = StoreAudit()
        audit.add(tallies)
        messages.forEach { if $2.kind == .message { audit.downstreamPending += 1 } }
        upstream.forEach { if $2.kind == .message { audit.upstreamPending += 1 } }
        audit.devices = devices.count
        audit.registrations = registrations.values.reduce(0) { $0 + $1.count }
        audit.senders = senderRecords.count
        audit.groups = groups.count
        audit.installations = installationRecords.count
        audit.subscriptions = subscriptions.count
        audit.topicJobs = topics.reduce(0) { $0 + $1.messages.count }
        return audit
    }
}
