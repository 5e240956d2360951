import Basics
import Delivery

/// An import of a token of Apple's gives the same registration each time, that of the app where it had registered itself before;
/// the app itself never gets one that was imported.
struct ImportChecker {
    private struct Key: Hashable {
        var app: Int
        var sender: SenderID
    }

    private struct Imported {
        /// What the first import that was answered has told.
        var name: RegistrationName?
        /// Registrations that the app has been told of.
        var own: Set<RegistrationName> = []
        /// Whether an import was asked for before the app knew any: whose answer was lost may have made another.
        var isAskedEarly = false
    }

    /// What was known when an import was asked for.
    struct Question {
        /// What an import had told before.
        fileprivate var name: RegistrationName?
        /// Whether it must find the app's own registration.
        fileprivate var findsOwn: Bool
    }

    private var known: [Key: Imported] = [:]
    /// Devices that an import may have made, and those that one has made: where none was answered, what it put may have failed.
    private var devices: Set<DeviceID> = []
    private var answered: Set<DeviceID> = []

    /// An app server asks for an import.
    mutating func asks(_ app: AppleApp, _ sender: SenderID) -> Question {
        let key = Key(app: app.number, sender: sender)
        devices.insert(app.importedDevice(of: sender))
        var imported = known[key] ?? Imported()
        if imported.own.isEmpty { imported.isAskedEarly = true }
        known[key] = imported
        return Question(name: imported.name, findsOwn: !imported.isAskedEarly)
    }

    /// The answer to an import.
    mutating func imported(
        _ name: RegistrationName, _ app: AppleApp, _ sender: SenderID, _ question: Question, _ world: World
    ) {
        let key = Key(app: app.number, sender: sender)
        let device = app.importedDevice(of: sender)
        if known[key]?.name == nil { known[key]?.name = name }
        if name.device != device { world.met(.importFoundOwn) } else { answered.insert(device) }
        if world.checkers.truth.tokens.app(of: name)?.audience != [sender] {
            world.fail("imports", "a token is that of another sender")
        }
        if question.findsOwn, name.device == device {
            world.fail("imports", "an app that had registered itself was given another token")
        }
        if let before = question.name, before.device == device, before != name {
            world.fail("imports", "the same token has become another registration")
        }
    }

    /// The app was told its registration.
    mutating func registered(_ name: RegistrationName, _ app: AppleApp, _ world: World) {
        known[Key(app: app.number, sender: app.sender), default: Imported()].own.insert(name)
        if devices.contains(name.device) {
            world.fail("imports", "an app was given what was imported for it")
        }
    }

    /// Whether an import has made a device, and said so.
    func isImported(_ device: DeviceID) -> Bool { answered.contains(device) }
}
