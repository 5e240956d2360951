import Basics

/// `AndroidConfig` or `AndroidConfigV2` of a message that has passed `ProtoJSON.check` (http 8.3).
struct V1Android {
    /// The config object, or `nil`.
    let config: JSONSlice?
    /// The path of the object in the message, for errors.
    let path: String
    /// The `AndroidNotification` of the config, or `nil`.
    let notification: JSONSlice?

    /// Returns `ttl` rounded down to whole seconds; the default is the maximum.
    func lifetime(in reader: borrowing JSONReader) throws(V1Error) -> Int {
        guard let value = ProtoJSON.member("ttl", of: config, in: reader),
            let ttl = ProtoDuration(value, in: reader)
        else { return Limits.Message.lifetimeSeconds }
        let isOver = ttl.seconds == Limits.Message.lifetimeSeconds && ttl.nanoseconds > 0
        guard !ttl.isNegative || ttl.seconds == 0 && ttl.nanoseconds == 0, !isOver,
            ttl.seconds <= Limits.Message.lifetimeSeconds
        else {
            throw V1Error(
                invalid: "\(path).ttl", "The TTL must be from 0s to \(Limits.Message.lifetimeSeconds)s.")
        }
        return ttl.seconds
    }

    /// Returns `priority`, or in version 2 what the kind implies: high for a notification, normal for a background sync.
    func priority(
        isRemote: Bool, in reader: borrowing JSONReader
    ) throws(V1Error) -> DownstreamMessage.Priority? {
        if let value = ProtoJSON.member("priority", of: config, in: reader) {
            return ProtoJSON.number(of: value, in: .priority, reader) == 1 ? .high : .normal
        }
        if isRemote { return .high }
        return ProtoJSON.member("background_sync", of: config, in: reader) == nil ? nil : .normal
    }

    /// Returns the notification for the device: the fields common to all platforms, overridden and extended by Android's.
    func notification(
        common: JSONSlice?, in reader: borrowing JSONReader
    ) throws(V1Error) -> [(key: StaticString, value: [UInt8])]? {
        guard common != nil || notification != nil else { return nil }
        var pairs: [(key: StaticString, value: [UInt8])] = []
        for name: StaticString in ["title", "body", "image"] {
            let text =
                ProtoJSON.string(name, of: notification, in: reader)
                ?? ProtoJSON.string(name, of: common, in: reader)
            if let text { pairs.append((name, text)) }
        }
        guard let own = notification else { return pairs }
        for name in ["icon", "color", "sound", "tag", "click_action", "ticker"] as [StaticString] {
            if let text = ProtoJSON.string(name, of: own, in: reader) { pairs.append((name, text)) }
        }
        if let color = ProtoJSON.string("color", of: own, in: reader), !Self.isColor(color) {
            throw V1Error(
                invalid: "\(path).notification.color", "The color must be in the form #RRGGBB.")
        }
        for name in ["body_loc_key", "title_loc_key"] as [StaticString] {
            if let text = ProtoJSON.string(name, of: own, in: reader) { pairs.append((name, text)) }
        }
        for name in ["body_loc_args", "title_loc_args"] as [StaticString] {
            guard let list = ProtoJSON.member(name, of: own, in: reader) else { continue }
            var text = ByteBuffer()
            reader.append(compact: list, to: &text)
            pairs.append((name, text.copied()))
        }
        if let channel = ProtoJSON.string("channel_id", of: own, in: reader) {
            pairs.append(("android_channel_id", channel))
        }
        appendSettings(own, in: reader, to: &pairs)
        return pairs
    }

    /// Appends the settings that the device library reads as numbers, booleans and lists.
    private func appendSettings(
        _ own: JSONSlice, in reader: borrowing JSONReader,
        to pairs: inout [(key: StaticString, value: [UInt8])]
    ) {
        for name in [
            "sticky", "local_only", "default_sound", "default_vibrate_timings", "default_light_settings",
        ] as [StaticString] {
            guard let flag = ProtoJSON.member(name, of: own, in: reader).flatMap({ reader.boolean($0) })
            else { continue }
            pairs.append((name, Array((flag ? "true" : "false").utf8)))
        }
        for name in ["notification_count", "id"] as [StaticString] {
            guard
                let number = ProtoJSON.member(name, of: own, in: reader).flatMap({
                    ProtoJSON.int32($0, in: reader)
                })
            else { continue }
            pairs.append((name, Array(String(number).utf8)))
        }
        // On the device 0 is the default and a higher number more urgent; unspecified is left out.
        if let urgency = word("notification_priority", .notificationPriority, own, in: reader), urgency > 0 {
            pairs.append(("notification_priority", Array(String(urgency - 3).utf8)))
        }
        if let visibility = word("visibility", .visibility, own, in: reader), visibility > 0 {
            pairs.append(("visibility", Array(["0", "1", "-1"][visibility - 1].utf8)))
        }
        if let time = ProtoJSON.string("event_time", of: own, in: reader).flatMap({ Timestamp.parsed($0) }) {
            pairs.append(("event_time", Array(String(time).utf8)))
        }
        if let timings = ProtoJSON.member("vibrate_timings", of: own, in: reader) {
            var list: [String] = []
            var cursor = reader.begin(timings)
            while let element = reader.nextElement(&cursor) {
                list.append(String(ProtoDuration(element, in: reader)?.milliseconds ?? 0))
            }
            pairs.append(("vibrate_timings", Array("[\(list.joined(separator: ","))]".utf8)))
        }
        if let lights = ProtoJSON.member("light_settings", of: own, in: reader) {
            pairs.append(("light_settings", Array(Self.lights(lights, in: reader).utf8)))
        }
    }

    private func word(
        _ name: StaticString, _ enumeration: ProtoEnumeration, _ object: JSONSlice,
        in reader: borrowing JSONReader
    ) -> Int? {
        ProtoJSON.member(name, of: object, in: reader).flatMap {
            ProtoJSON.number(of: $0, in: enumeration, reader)
        }
    }

    /// Returns color, milliseconds on and milliseconds off in the format of the device library.
    private static func lights(_ lights: JSONSlice, in reader: borrowing JSONReader) -> String {
        let color = ProtoJSON.member("color", of: lights, in: reader)
        var text = ByteBuffer()
        for name in ["red", "green", "blue"] as [StaticString] {
            let share = ProtoJSON.member(name, of: color, in: reader).flatMap {
                ProtoJSON.number($0, in: reader)
            }
            Hex.append(UInt8((min(max(share ?? 0, 0), 1) * 255).rounded()), to: &text)
        }
        let times = (["light_on_duration", "light_off_duration"] as [StaticString]).map { name in
            ProtoJSON.member(name, of: lights, in: reader).flatMap { ProtoDuration($0, in: reader) }?
                .milliseconds ?? 0
        }
        let digits = String(decoding: text.copied(), as: UTF8.self)
        return "[\"#\(digits)\",\(times[0]),\(times[1])]"
    }

    private static func isColor(_ text: [UInt8]) -> Bool {
        text.count == 7 && text[0] == UInt8(ascii: "#")
            && text.dropFirst().allSatisfy { Hex.value(of: $0) != nil }
    }
}
