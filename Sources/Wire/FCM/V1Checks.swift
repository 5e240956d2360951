import Basics

/// Checks of fields beyond the schema that matter only to other platforms and to analytics (http 8.2, 8.4).
enum V1Checks {
    private typealias Place = (object: JSONSlice?, path: String)

    /// Checks every `analytics_label` against its pattern.
    static func labels(
        _ message: JSONSlice?, android: JSONSlice?, androidPath: String, in reader: borrowing JSONReader
    ) throws(V1Error) {
        let places: [Place] = [
            (message, "message"), (android, androidPath),
            (ProtoJSON.member("webpush", of: message, in: reader), "message.webpush"),
            (ProtoJSON.member("apns", of: message, in: reader), "message.apns"),
        ]
        for place in places {
            let options = ProtoJSON.member("fcm_options", of: place.object, in: reader)
            guard let label = ProtoJSON.string("analytics_label", of: options, in: reader), !label.isEmpty
            else { continue }
            guard label.count <= Limits.HTTP.analyticsLabelBytes, label.allSatisfy(isLabel) else {
                throw V1Error(
                    invalid: "\(place.path).fcm_options.analytics_label",
                    "The analytics label must match [a-zA-Z0-9-_.~%]{1,\(Limits.HTTP.analyticsLabelBytes)}.")
            }
        }
    }

    private static func isLabel(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."),
            UInt8(ascii: "~"), UInt8(ascii: "%"):
            true
        default: false
        }
    }

    /// Checks that the link which a click opens is an HTTPS URL.
    static func webpush(_ webpush: JSONSlice?, in reader: borrowing JSONReader) throws(V1Error) {
        let options = ProtoJSON.member("fcm_options", of: webpush, in: reader)
        guard let link = ProtoJSON.string("link", of: options, in: reader), !link.isEmpty else { return }
        guard link.starts(with: "https://".utf8) else {
            throw V1Error(invalid: "message.webpush.fcm_options.link", "The link must start with https://.")
        }
    }

    /// Returns the overrides for Apple devices as compact JSON. Throws if they are too long or the badge is not a number.
    static func apns(_ apns: JSONSlice?, in reader: borrowing JSONReader) throws(V1Error) -> [UInt8]? {
        guard let apns else { return nil }
        try badge(apns, in: reader)
        var text = ByteBuffer()
        reader.append(compact: apns, to: &text)
        guard text.count <= Limits.Message.apnsOverrideBytes else {
            throw V1Error(
                invalid: "message.apns",
                "invalid apns of \(text.count) bytes: expected at most \(Limits.Message.apnsOverrideBytes)")
        }
        return text.copied()
    }

    private static func badge(_ apns: JSONSlice, in reader: borrowing JSONReader) throws(V1Error) {
        guard let payload = ProtoJSON.member("payload", of: apns, in: reader),
            let aps = last("aps", of: payload, in: reader), reader.kind(aps) == .object,
            let badge = last("badge", of: aps, in: reader)
        else { return }
        guard reader.kind(badge) == .number else {
            throw V1Error(
                invalid: "message.apns.payload.aps.badge", "Value type for APS key [badge] is a number.")
        }
    }

    /// Returns the last member of that exact name. Unlike in `ProtoJSON`, null is a value.
    private static func last(
        _ name: StaticString, of object: JSONSlice, in reader: borrowing JSONReader
    ) -> JSONSlice? {
        guard reader.kind(object) == .object else { return nil }
        var found: JSONSlice?
        var cursor = reader.begin(object)
        while let member = reader.nextMember(&cursor) {
            if reader.string(member.key, equals: name) { found = member.value }
        }
        return found
    }
}
