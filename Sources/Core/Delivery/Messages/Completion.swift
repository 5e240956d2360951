import Basics

extension Registration {
    /// Completes a message with values that only the registration has, and refuses content that the registration cannot receive.
    ///
    /// `appleData` decides how an iOS app gets a message with neither a notification nor anything for APNs.
    ///
    /// Throws `Refusal.conflict` for `raw_data` to a web app that the server encrypts for, whose messages are JSON, and to an
    /// app behind APNs, which carries no raw bytes (http 2.1; mcs-device 7.1).
    func complete(
        _ content: inout MessageContent, appleData: AppleDataRoute = .store
    ) throws(Refusal) {
        if content.collapseKey?.isEmpty == true {
            // Notifications on an iPhone do not replace each other unless the app server asks for it (apns 3.3).
            content.collapseKey = category.isEmpty || usesAPNs ? nil : category
        }
        if usesAPNs {
            content.lifetimeSeconds = content.apnsLifetimeSeconds ?? content.lifetimeSeconds
            let apns = content.apns(routingDataBy: appleData)
            if content.apns != apns { content.apns = apns }
        } else if content.apns != nil {
            // Only the APNs gateway reads this object: for other channels storing it would waste space.
            content.apns = nil
        }
        guard content.holdsRawData else { return }
        guard web == nil else {
            throw .conflict(
                field: "raw_data",
                reason: "the server encrypts for this token: use \"data\" or \"notification\"")
        }
        guard !usesAPNs else {
            throw .conflict(
                field: "raw_data", reason: "APNs carries no raw bytes: use \"data\" or \"notification\"")
        }
    }
}
