import Basics
import Delivery
import Store

/// Once no fault occurs any more, every message reaches its recipient.
struct ProgressChecker {
    func finish(_ world: World) {
        for text in findings(world) { world.fail("progress", text) }
    }

    /// Returns what has not finished, sorted.
    func findings(_ world: World) -> [String] {
        var found = left(world)
        if !world.devices.allSatisfy({ $0.isFinished }) { found.append("a device has not finished") }
        let truth = world.checkers.truth
        for (number, message) in truth.downstream where message.isCalm {
            if message.answers == 0 { found.append("m\(number) was never answered") }
            let isNow = message.draft.lifetimeSeconds == 0 && !message.mayBeMissed
            if message.isAcknowledged, !message.isDelivered, isNow || isOwed(message, truth) {
                found.append("m\(number) was never received")
            }
        }
        for (number, message) in truth.upstream where message.isCalm {
            // A device infers from a count which messages are stored: after a message that it must send again there is none, and a
            // now-or-never message is not sent again.
            let isOver =
                message.draft.lifetimeSeconds == 0 && (message.isDelivered || message.mayBeMissed)
            if !message.isConfirmed, !message.isRefused, !isOver {
                found.append("u\(number) was never confirmed")
            }
            if message.isConfirmed, !message.isDelivered { found.append("u\(number) was never received") }
        }
        found += world.checkers.fanOuts.findings(truth, world)
        return found.sorted()
    }

    /// Returns what still waits on disk although its recipient is reachable.
    private func left(_ world: World) -> [String] {
        let state = world.disk.state
        let reachable = Set(world.devices.compactMap { $0.identity?.device })
        var left: [String] = []
        if state.hasTopicMessages { left.append("a partition has not got a topic message") }
        state.forEachMessage { message in
            guard reachable.contains(message.device) || message.apns != nil else { return }
            let what = Number.of(message.messageID).map { "m\($0)" } ?? "a marker"
            left.append("\(what) still waits for \(message.device.number)")
        }
        for entry in state.scheduled where reachable.contains(entry.device) {
            left.append("\(entry.sequence.number) is still on the schedule of \(entry.device.number)")
        }
        state.forEachUpstream { message in
            let text = String(decoding: message.messageID, as: UTF8.self)
            left.append(
                message.kind == .message ? "\(text) still waits" : "the receipt of \(text) still waits")
        }
        return left
    }

    private func isOwed(_ message: Truth.Downstream, _ truth: Truth) -> Bool {
        message.draft.lifetimeSeconds >= 3_600 && !message.draft.isDryRun && message.draft.collapseKey == nil
            && !message.isMarked && !truth.mayBeGone(message.registration ?? message.target)
    }
}
