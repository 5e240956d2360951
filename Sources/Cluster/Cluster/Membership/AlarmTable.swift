import Basics

/// The alarms that are raised, each with the last time that there was a reason.
struct AlarmTable: Sendable {
    private var raised: [(alarm: ClusterAlarm, reason: Instant)] = []

    /// All alarms that are raised.
    var all: [ClusterAlarm] { raised.map(\.alarm) }

    func contains(_ alarm: ClusterAlarm) -> Bool { raised.contains { $0.alarm == alarm } }

    /// There is a reason for an alarm now.
    mutating func raise(_ alarm: ClusterAlarm, _ now: Instant, _ effects: inout [MembershipEffect]) {
        if let index = raised.firstIndex(where: { $0.alarm == alarm }) {
            raised[index].reason = now
        } else if raised.count < Limits.Cluster.alarms {
            raised.append((alarm, now))
            effects.append(.raised(alarm))
        }
    }

    /// The reason of an alarm is gone.
    mutating func clear(_ alarm: ClusterAlarm, _ effects: inout [MembershipEffect]) {
        guard let index = raised.firstIndex(where: { $0.alarm == alarm }) else { return }
        raised.remove(at: index)
        effects.append(.cleared(alarm))
    }

    /// Clears the alarms whose reason did not occur for a while.
    mutating func expire(_ now: Instant, _ effects: inout [MembershipEffect]) {
        raised.removeAll { entry in
            let isOver = now.milliseconds(since: entry.reason) > Limits.Cluster.alarmMilliseconds
            if isOver { effects.append(.cleared(entry.alarm)) }
            return isOver
        }
    }
}
