import Basics

/// Checks of single fields; each throws the refusal that names its field (ccs-xmpp 2.2, 3.4 step 7).
extension AppServerPayload {
    /// Refuses an unknown `message_type`, a message ID that is too long, and U+0000 in any field that is read.
    func checkCommonFields() throws(Refusal) {
        if let type = self[.messageType] {
            guard reader.kind(type) == .string else { throw wrongType(.messageType, "java.lang.String") }
            throw .notAllowed(
                field: PayloadField.messageType.name, value: shown(type), allowed: "ack, nack, cancel")
        }
        try checkMessageID()
        try checkNUL()
    }

    /// Refuses a message ID that is too long.
    func checkMessageID() throws(Refusal) {
        if let id = self[.messageID], id.end - id.start > Limits.AppServer.messageIDBytes {
            let bytes = reader.string(id).count
            guard bytes <= Limits.AppServer.messageIDBytes else {
                throw .tooLarge(
                    field: PayloadField.messageID.name, bytes: bytes, limit: Limits.AppServer.messageIDBytes
                )
            }
        }
    }

    /// Refuses U+0000 in any field that is read: XML cannot carry it, and devices end strings at it.
    func checkNUL() throws(Refusal) {
        guard !reader.isPlain(reader.root) else { return }
        for field in PayloadField.allCases {
            if let value = self[field], reader.holdsNUL(value) {
                throw .conflict(field: field.name, reason: "it holds U+0000")
            }
        }
    }

    /// Returns the one target, from `to` or `condition`; lists are only allowed over HTTP.
    func target() throws(Refusal) -> (to: JSONSlice, condition: JSONSlice?) {
        if self[.registrationIDs] != nil {
            throw .conflict(
                field: PayloadField.registrationIDs.name,
                reason: "it is for HTTP, XMPP has one target in \"to\"")
        }
        if let condition = self[.condition] {
            guard self[.to] == nil else {
                throw .conflict(field: PayloadField.condition.name, reason: "it excludes \"to\"")
            }
            guard reader.kind(condition) == .string else {
                throw wrongType(.condition, "java.lang.String")
            }
            return (.absent, condition)
        }
        guard let to = self[.to] else {
            guard self[.notificationKey] == nil else {
                throw .conflict(
                    field: PayloadField.notificationKey.name,
                    reason: "it is for HTTP, XMPP has its target in \"to\"")
            }
            throw .missingTarget
        }
        guard reader.kind(to) == .string else { throw wrongType(.to, "java.lang.String") }
        return (to, nil)
    }

    func text(_ field: PayloadField, limit: Int) throws(Refusal) -> [UInt8]? {
        guard let value = self[field] else { return nil }
        guard reader.kind(value) == .string else { throw wrongType(field, "java.lang.String") }
        let text = reader.string(value)
        guard text.count <= limit else {
            throw .tooLarge(field: field.name, bytes: text.count, limit: limit)
        }
        return text
    }

    func flag(_ field: PayloadField) throws(Refusal) -> Bool {
        guard let value = self[field] else { return false }
        guard let flag = reader.boolean(value) else { throw wrongType(field, "java.lang.Boolean") }
        return flag
    }

    func priority() throws(Refusal) -> DownstreamMessage.Priority? {
        guard let value = self[.priority] else { return nil }
        guard reader.kind(value) == .string else { throw wrongType(.priority, "java.lang.String") }
        if reader.string(value, equals: "high") { return .high }
        if reader.string(value, equals: "normal") { return .normal }
        throw .notAllowed(
            field: PayloadField.priority.name, value: shown(value), allowed: "normal, high")
    }

    func lifetime(lenient: Bool) throws(Refusal) -> Int {
        guard let value = self[.timeToLive] else { return Limits.Message.lifetimeSeconds }
        let seconds: Int?
        switch reader.kind(value) {
        case .number: seconds = reader.wholeNumber(value)
        case .string where lenient && JSONReader.integer(reader.inside(value)) != nil:
            seconds = JSONReader.integer(reader.inside(value))
        default: throw wrongType(.timeToLive, "java.lang.Number")
        }
        guard let seconds, seconds >= 0, seconds <= Limits.Message.lifetimeSeconds else {
            throw .outOfRange(
                field: PayloadField.timeToLive.name, value: shown(value), lowest: 0,
                highest: Limits.Message.lifetimeSeconds)
        }
        return seconds
    }

    /// Returns the ID in `replace_message_id`, an extension of ccsd.
    func replacedID() throws(Refusal) -> [UInt8]? {
        guard let id = try text(.replaceMessageID, limit: Limits.AppServer.messageIDBytes) else { return nil }
        guard !id.isEmpty else {
            throw .conflict(
                field: PayloadField.replaceMessageID.name, reason: "expected the ID of a message that waits")
        }
        return id
    }

    /// Returns the time of `send_at`, an extension of ccsd.
    func sendAt() throws(Refusal) -> UnixMilliseconds? {
        guard let value = self[.sendAt] else { return nil }
        guard reader.kind(value) == .string else { throw wrongType(.sendAt, "java.lang.String") }
        guard let time = Timestamp.parsed(reader.string(value)) else { throw .notATime(shown(value)) }
        return time
    }

    func object(_ field: PayloadField) throws(Refusal) -> JSONSlice? {
        guard let value = self[field] else { return nil }
        guard reader.kind(value) == .object else { throw wrongType(field, "object") }
        return value
    }

    /// Returns `raw_data`, which excludes `data` and `notification`: devices treat a message with it as encrypted (mcs-device 7.1).
    func rawData() throws(Refusal) -> JSONSlice? {
        guard let value = self[.rawData] else { return nil }
        guard reader.kind(value) == .string else { throw wrongType(.rawData, "java.lang.String") }
        for other in [PayloadField.data, .notification] where self[other] != nil {
            throw .conflict(field: PayloadField.rawData.name, reason: "it excludes \"\(other.name)\"")
        }
        return value
    }

    private func wrongType(_ field: PayloadField, _ expected: String) -> Refusal {
        var text = "null"
        if let value = self[field] { text = shown(value) }
        return .wrongType(field: field.name, expected: expected, found: text)
    }

    /// Returns a value as refusals print it: a string without quotes, cut to `Limits.AppServer.refusalTextBytes`.
    func shown(_ value: JSONSlice) -> String {
        var text = ByteBuffer()
        if reader.kind(value) == .string {
            reader.append(string: value, to: &text)
        } else {
            reader.append(compact: value, to: &text)
        }
        guard text.count > Limits.AppServer.refusalTextBytes else {
            return String(decoding: text.copied(), as: UTF8.self)
        }
        var end = Limits.AppServer.refusalTextBytes
        while end > 0, text.bytes.byte(at: end) & 0xC0 == 0x80 { end -= 1 }
        text.truncate(to: end)
        return String(decoding: text.copied(), as: UTF8.self) + "…"
    }
}

extension Refusal {
    /// The refusal of `send_at` in a form that is not that of a time.
    static func notATime(_ text: String) -> Refusal {
        .conflict(
            field: PayloadField.sendAt.name,
            reason: "invalid time (\(text)), expected RFC 3339 such as 2026-12-24T18:00:00Z")
    }
}
