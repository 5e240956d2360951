import Basics
import Delivery

/// A device expires, and an unacknowledged receipt counts as received, only after the time in the settings. Covers one process: the
/// contacts of earlier ones are not considered.
struct ContactChecker {
    private struct Key: Hashable {
        var sender: SenderID
        var sequence: SequenceNumber
    }

    private let settings: DeliverySettings
    private var logins: [ConnectionID: DeviceID] = [:]
    private var connected: [DeviceID: ConnectionID] = [:]
    /// Wall clock time of each device's last contact.
    private var lastContact: [DeviceID: UnixMilliseconds] = [:]
    /// When each receipt was first sent, in nanoseconds.
    private var handed: [Key: Int64] = [:]
    private var removed: Set<Key> = []

    init(_ settings: DeliverySettings) { self.settings = settings }

    mutating func check(_ step: CoreStep, _ world: World) {
        switch step.event {
        case .device(_, .login(let login)): logins[login.connection] = login.device
        case .device(let device, .closed(let connection)):
            logins[connection] = nil
            guard connected[device] == connection else { break }
            connected[device] = nil
            lastContact[device] = world.clock.honest
        case .partition(.loaded(.topicMessages(let messages, _))):
            for _ in messages { world.reached(.topicResumed) }
        default: break
        }
        for (id, command) in step.commands {
            switch command {
            case .device(.loginAccepted):
                guard let device = logins[id] else { continue }
                connected[device] = id
                lastContact[device] = world.clock.honest
            case .appServer(.deliver(let message)):
                guard case .receipt = message.kind else { continue }
                let place = Key(sender: message.sender, sequence: message.sequence)
                if handed[place] == nil { handed[place] = step.now.monotonic.nanoseconds }
            default: break
            }
        }
        for mutation in step.mutations {
            switch mutation {
            case .removeDevice(let device): gone(device, step, world)
            case .removeUpstream(let sender, let sequence, _, let reason):
                let place = Key(sender: sender, sequence: sequence)
                guard removed.insert(place).inserted, reason == .delivered,
                    case .partition(.tick) = step.event,
                    let since = handed[place]
                else { continue }
                world.reached(.receiptAged)
                let least = Int64(settings.receiptAckSeconds) * 1_000_000_000
                if step.now.monotonic.nanoseconds - since < least {
                    world.fail("receipts", "a receipt counted as received too early")
                }
            default: break
            }
        }
    }

    private func gone(_ device: DeviceID, _ step: CoreStep, _ world: World) {
        guard step.isExpiry(of: device, world) else { return }
        world.reached(.deviceExpired)
        if world.checkers.imports.isImported(device) {
            world.fail("expiry", "\(device.number) expired although it is reached through Apple")
        }
        world.checkers.expired(device)
        if connected[device] != nil {
            return world.fail("expiry", "\(device.number) expired while connected")
        }
        // The stored time of the last contact may be late by an eighth, whatever failed.
        let least = Int64(settings.deviceExpirySeconds) * 1_000 * 7 / 8
        if let last = lastContact[device], world.clock.honest - last < least {
            world.fail(
                "expiry", "\(device.number) expired \(world.clock.honest - last) ms after it disconnected")
        }
    }
}

extension CoreStep {
    /// Returns whether a device that was removed in this step expired: only after a search has found it, since the rate of the
    /// search limits the harm of a wrong clock; not if an operator removed it.
    func isExpiry(of device: DeviceID, _ world: World) -> Bool {
        switch event {
        case .partition(.loaded): !world.checkers.truth.forgotten.contains(device)
        default: false
        }
    }
}
