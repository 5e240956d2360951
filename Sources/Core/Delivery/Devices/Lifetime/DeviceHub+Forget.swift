import Basics

/// Removal of devices with all their registrations and messages.
extension DeviceHub {
    mutating func forget(_ entry: DeviceEntry, _ requester: Requester, _ turn: inout Turn) {
        let registrations = entry.registrations.count
        guard entry.record != nil || registrations > 0 else {
            return answerOnceCommitted(.forgotten(registrations: 0, messages: 0), entry, to: requester, &turn)
        }
        let messages = removeDevice(entry, &turn)
        close(entry, .deviceForgotten, &turn)
        turn.replyWhenStored(.forgotten(registrations: registrations, messages: messages), to: requester)
    }

    /// Removes a device from the store with its registrations and messages. Returns the number of messages, markers not counted.
    mutating func removeDevice(_ entry: DeviceEntry, _ turn: inout Turn) -> Int {
        var messages = 0
        for number in entry.registrations.map(\.registration.name.number) {
            messages += removeRegistration(number, entry, &turn)
        }
        entry.removeRecord(&turn)
        turn.traceConnection(entry.device, .forgotten, .committed)
        return messages
    }
}
