import Basics

/// Registrations that another instance of the app has replaced: it was installed again without being uninstalled first (ccs-xmpp 6).
///
/// The new instance starts without subscriptions, and the old token stands for the new one: messages to it, and subscriptions that are
/// made with it, are for the new instance.
extension DeviceHub {
    /// Returns the index of the registration that replaced another one, or `nil` if there is none, or none that is `onDisk`.
    ///
    /// The replacement is the newest registration of the same app, subtype and senders that another instance of the app made.
    /// The old token works for `Limits.Registration.replacedSeconds`; afterwards this throws `notRegistered`.
    ///
    /// It changes nothing in the turn, which is `inout` since the compiler copies the 1,160 bytes of a borrowed one.
    func replacement(
        of at: Int, _ entry: DeviceEntry, onDisk: Bool, _ turn: inout Turn
    ) throws(Refusal) -> Int? {
        var place = entry.registrations.count - 1
        while place > at {
            let newer = entry.registrations[place].registration
            let isOpen = entry.registrations[place].batch.map { turn.ledger.isOpen($0) } ?? false
            if !(isOpen && onDisk), newer.replaces(entry.registrations[at].registration) {
                let end = newer.createdAt + Int64(Limits.Registration.replacedSeconds) * 1_000
                // The clock was wrong when it was made, so its age is unknown.
                guard newer.createdAt < Limits.Clock.earliest || turn.now.expiryCutoff < end else {
                    throw .notRegistered
                }
                return place
            }
            place -= 1
        }
        return nil
    }

    /// Returns the index of a registration, or of the one that has replaced it, even if that is not on disk yet: for requests that are not
    /// answered before it is. Returns `nil` if the token no longer works.
    func canonical(of at: Int, _ entry: DeviceEntry, _ turn: inout Turn) -> Int? {
        do throws(Refusal) { return try replacement(of: at, entry, onDisk: false, &turn) ?? at } catch {
            return nil
        }
    }

    /// Ends the subscriptions of the registrations that one replaces.
    mutating func endSubscriptions(
        replacedBy newest: Registration, _ entry: DeviceEntry, _ turn: inout Turn
    ) {
        for at in entry.registrations.indices where newest.replaces(entry.registrations[at].registration) {
            let old = entry.registrations[at]
            for gone in old.topics.all(of: old.registration.name) {
                _ = endSubscription(to: gone.topic, of: gone.sender, at: at, entry, &turn)
            }
        }
    }

    /// Removes the oldest registrations that newer ones of the same app have replaced; only the last ones stay.
    mutating func removeReplaced(by newest: Registration, _ entry: DeviceEntry, _ turn: inout Turn) {
        let numbers = entry.registrations.map(\.registration).filter { $0.isSameApp(as: newest) }
            .map(\.name.number)
        for number in numbers.dropLast(1 + Limits.Registration.replaced) {
            _ = removeRegistration(number, entry, &turn)
        }
    }
}

extension Registration {
    /// Whether it has replaced another one of its device. Old clients name no instance, and replace nothing.
    func replaces(_ older: Registration) -> Bool {
        name.number > older.name.number && !instance.isEmpty && isSameApp(as: older)
    }
}
