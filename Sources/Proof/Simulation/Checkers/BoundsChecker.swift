import Delivery
import Store

/// In an idle world the core holds only what is connected, and a few devices that have just left.
struct BoundsChecker {
    func finish(_ figures: [PartitionFigures], _ world: World) {
        for text in findings(figures, world) { world.fail("bounds", text) }
    }

    /// Returns what is held beyond that.
    func findings(_ figures: [PartitionFigures], _ world: World) -> [String] {
        var found: [String] = []
        var sessions = 0
        // A device that is reached only through Apple does not expire. Each search reads and writes it: up to three registrations
        // of its own and one import per sender. The world may end just then.
        let settings = world.settings
        let seen = settings.expiresDevices ? settings.importedApps * (3 + settings.senders) : 0
        let rows = (0..<settings.partitions).map { world.disk.state.topicLog($0).count }
        if figures.map(\.liveTopicMessages) != rows || figures.contains(where: { $0.openTopicMessages > 0 }) {
            found.append("the partitions have more topic messages than \(rows): \(figures)")
        }
        if world.server?.openTopics != 0 { found.append("the count of open topic messages is not 0") }
        for (partition, figures) in figures.enumerated() {
            sessions += figures.sessions
            let most = figures.connectedDevices + settings.delivery.idleDevicesInMemory + 1 + seen
            let isBounded =
                figures.batches <= (settings.expiresDevices ? 3 : 1) + seen && figures.devices <= most
                && figures.waitingEvents <= seen
                && figures.backlog == 0 && figures.outstanding == 0 && figures.leaving <= 1
                && figures.stickyDevices == 0 && figures.pendingLastSeen == 0
            if !isBounded { found.append("partition \(partition) holds \(figures)") }
        }
        let connected = world.appServers.reduce(0) { $0 + $1.readyLinks }
        if sessions != connected { found.append("\(sessions) sessions of \(connected) connections") }
        return found
    }
}
