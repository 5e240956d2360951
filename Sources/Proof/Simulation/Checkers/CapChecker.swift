import Basics
import Delivery

/// For a device that was never connected, no more messages wait than the settings allow.
///
/// Applies only where every commit succeeds: what a failed one should have removed stays until the next message.
struct CapChecker {
    func didApply(_ batch: WriteBatch, _ endings: EndingChecker, _ truth: Truth, _ world: World) {
        guard world.settings.faults.hasCommitsAll else { return }
        var names: Set<RegistrationName> = []
        for case .putMessage(let message) in batch.mutations
        where !truth.cameOnline.contains(message.device) {
            names.insert(message.name)
        }
        for name in names { check(name, endings, world) }
    }

    private func check(_ name: RegistrationName, _ endings: EndingChecker, _ world: World) {
        var plain = 0
        var keys: [[UInt8]] = []
        // A message for Apple is refused if too many wait: none is discarded.
        for message in endings.messages.values
        where message.name == name && message.kind == .message && message.apns == nil
            && !endings.scheduled.contains(
                EndingChecker.Key(owner: message.device.number, sequence: message.sequence))
        {
            if let key = message.collapseKey { keys.append(key) } else { plain += 1 }
        }
        if plain > world.settings.delivery.storedMessages {
            world.fail("caps", "\(plain) messages wait for one app")
        }
        if keys.count > world.settings.delivery.collapseKeys {
            world.fail("caps", "\(keys.count) collapse keys wait for one app")
        }
        if Set(keys).count < keys.count { world.fail("caps", "a collapse key waits twice") }
    }
}
