import Basics
import Delivery

/// Importing an Apple token returns the same registration each time, and the app's own if it had registered before. The app itself
/// never gets an imported registration.
struct ImportChecker {
    private struct Key: Hashable {
        var app: Int
        var sender: SenderID
    }

    private struct Imported {
        /// The result of the first import that was answered.
        var name: RegistrationName?
        /// Registrations that the app received.
        var own: Set<RegistrationName> = []
        /// Whether an import was requested before the app had a registration: an import whose answer was lost may have made another
        /// one.
        var isAskedEarly = false
    }

    /// What was known when an import was requested.
    struct ImportRequest {
        /// The result of an earlier import.
        fileprivate var name: RegistrationName?
        /// Whether it must find the app's own registration.
        fileprivate var findsOwn: Bool
    }

    private var known: [Key: Imported] = [:]
    /// Devices that an import may have created, and those that one has created. What an unanswered import put may have failed.
    private var devices: Set<DeviceID> = []
    private var answered: Set<DeviceID> = []

    /// Records an import request.
    mutating func requested(_ app: AppleApp, _ sender: SenderID) -> ImportRequest {
        let key = Key(app: app.number, sender: sender)
        devices.insert(app.importedDevice(of: sender))
        var imported = known[key] ?? Imported()
        if imported.own.isEmpty { imported.isAskedEarly = true }
        known[key] = imported
        return ImportRequest(name: imported.name, findsOwn: !imported.isAskedEarly)
    }

    /// Checks the result of an import.
    mutating func imported(
        _ name: RegistrationName, _ app: AppleApp, _ sender: SenderID, _ request: ImportRequest,
        _ world: World
    ) {
        let key = Key(app: app.number, sender: sender)
        let device = app.importedDevice(of: sender)
        if known[key]?.name == nil { known[key]?.name = name }
        if name.device != device { world.reached(.importFoundOwn) } else { answered.insert(device) }
        if world.checkers.truth.tokens.app(of: name)?.audience != [sender] {
            world.fail("imports", "a token belongs to another sender")
        }
        if request.findsOwn, name.device == device {
            world.fail("imports", "an import ignored the app's own registration")
        }
        if let before = request.name, before.device == device, before != name {
            world.fail("imports", "a repeated import returned another registration")
        }
    }

    /// Checks the registration that an app received.
    mutating func registered(_ name: RegistrationName, _ app: AppleApp, _ world: World) {
        known[Key(app: app.number, sender: app.sender), default: Imported()].own.insert(name)
        if devices.contains(name.device) {
            world.fail("imports", "an app received an imported registration")
        }
    }

    /// Returns whether an answered import created the device.
    func isImported(_ device: DeviceID) -> Bool { answered.contains(device) }
}
