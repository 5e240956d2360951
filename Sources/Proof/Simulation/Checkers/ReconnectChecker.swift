import Basics
import Delivery

/// Records which devices the server asks to reconnect because they leave too many messages unacknowledged.
///
/// Such a device has no connection until its next login, even in the calm: it is the only one that may lose now-or-never messages
/// then. Worlds whose window is smaller than what a device sends to its own group ask it again and again.
struct ReconnectChecker {
    /// The device of each connection that requested a login.
    private var devices: [ConnectionID: DeviceID] = [:]
    /// Devices that were asked to reconnect and have not logged in since.
    private var asked: Set<DeviceID> = []

    mutating func check(_ step: CoreStep, _ truth: Truth, _ world: World) {
        switch step.event {
        case .device(let device, .login(let login)): devices[login.connection] = device
        case .device(let device, .submitted(let submission))
        where submission.content.lifetimeSeconds <= 0 && asked.contains(device):
            if let number = Number.of(submission.content.messageID) {
                truth.downstream[number]?.mayBeMissed = true
            }
        default: break
        }
        for (connection, command) in step.commands {
            guard let device = devices[connection] else { continue }
            switch command {
            case .connection(.close(.tooManyUnacknowledged)):
                world.reached(.reconnectAsked)
                asked.insert(device)
            case .device(.loginAccepted): asked.remove(device)
            default: break
            }
        }
    }

    /// Records that now-or-never messages of a device were on the way when it lost its connection.
    func lost(_ drafts: [UpstreamDraft], of device: DeviceID?, _ truth: Truth) {
        guard let device, asked.contains(device) else { return }
        for draft in drafts { truth.upstream[draft.number]?.mayBeMissed = true }
    }
}
