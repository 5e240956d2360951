import Wire

/// The options of XMPP and legacy HTTP that concern iOS apps alone.
enum AppleOptions {
    /// Returns them in the form of the object `apns` of HTTP v1, or `nil` if there are none.
    ///
    /// A data message travels through APNs only if it is `content_available` (apns 3.2). The priority is part of the object because
    /// the default for iOS depends on the kind of push, and the message keeps no mark of a default.
    static func apns(of message: borrowing DownstreamMessage) -> [UInt8]? {
        guard message.notification != nil || message.isContentAvailable else { return nil }
        let priority =
            switch message.priority {
            case nil: 0
            case .normal: 1
            case .high: 2
            }
        let flags = (message.isContentAvailable ? 1 : 0) + (message.isMutableContent ? 2 : 0)
        return objects[priority * 4 + flags]
    }

    /// All objects that there can be, by priority and flags: a message allocates none.
    private static let objects: [[UInt8]?] = ["", "5", "10"].flatMap { priority in
        [
            "", #""content-available":1"#, #""mutable-content":1"#,
            #""content-available":1,"mutable-content":1"#,
        ]
        .map { flags in
            let parts = [
                priority.isEmpty ? "" : #""headers":{"apns-priority":"\#(priority)"}"#,
                flags.isEmpty ? "" : #""payload":{"aps":{\#(flags)}}"#,
            ].filter { !$0.isEmpty }
            return parts.isEmpty ? nil : Array("{\(parts.joined(separator: ","))}".utf8)
        }
    }
}
