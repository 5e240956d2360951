import Basics

/// Checks of fields beyond the schema that matter only to the web and to analytics (http 8.2).
enum V1Checks {
    private typealias Section = (object: JSONSlice?, path: String)

    /// Checks every `analytics_label` against its pattern.
    static func labels(
        _ message: JSONSlice?, android: JSONSlice?, androidPath: String, in reader: borrowing JSONReader
    ) throws(V1Error) {
        let sections: [Section] = [
            (message, "message"), (android, androidPath),
            (ProtoJSON.member("webpush", of: message, in: reader), "message.webpush"),
            (ProtoJSON.member("apns", of: message, in: reader), "message.apns"),
        ]
        for section in sections {
            let options = ProtoJSON.member("fcm_options", of: section.object, in: reader)
            guard let label = ProtoJSON.string("analytics_label", of: options, in: reader), !label.isEmpty
            else { continue }
            guard label.count <= Limits.HTTP.analyticsLabelBytes, label.allSatisfy(isLabel) else {
                throw V1Error(
                    invalid: "\(section.path).fcm_options.analytics_label",
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
}
