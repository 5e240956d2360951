public import Basics

/// A message in the form encoding of the legacy interface, with every field checked (http 2.6).
public struct LegacyForm: Sendable {
    /// The target: a token, a group key or `/topics/NAME`; never empty.
    public var target: [UInt8]
    /// `collapse_key`, at most `Limits.Message.collapseKeyBytes`.
    public var collapseKey: [UInt8]?
    /// `time_to_live` in seconds.
    public var lifetimeSeconds = Limits.Message.lifetimeSeconds
    /// `send_at`, an extension of ccsd.
    public var sendAt: UnixMilliseconds?
    /// `delay_while_idle`.
    public var delaysWhileIdle = false
    /// `dry_run`.
    public var isDryRun = false
    /// `restricted_package_name`.
    public var restrictedPackage: [UInt8]?
    /// The pairs of `data.KEY` in order, without the prefix.
    public var data: [(key: [UInt8], value: [UInt8])]

    /// Checks a form. Empty fields count as absent, since Google's own demo sends them.
    public init(_ form: FormBody) throws(Refusal) {
        guard let target = Self.text(form["registration_id"]) ?? Self.text(form["to"]) else {
            throw .missingTarget
        }
        self.target = target
        if let text = Self.text(form["time_to_live"]) { lifetimeSeconds = try Self.lifetime(text) }
        if let text = Self.text(form["send_at"]) {
            guard let time = Timestamp.parsed(text) else { throw .notATime(Self.shown(text)) }
            sendAt = time
        }
        collapseKey = try Self.bounded(form["collapse_key"], .collapseKey, Limits.Message.collapseKeyBytes)
        restrictedPackage = try Self.bounded(
            form["restricted_package_name"], .restrictedPackageName, Limits.Registration.fieldBytes)
        delaysWhileIdle = try Self.flag(form["delay_while_idle"], .delayWhileIdle)
        isDryRun = try Self.flag(form["dry_run"], .dryRun)
        guard Self.text(form["raw_data"]) == nil else {
            throw .conflict(
                field: PayloadField.rawData.name, reason: "it is allowed in JSON only, not in a form")
        }
        data = form.pairs(prefix: "data.")
    }

    private static func text(_ value: [UInt8]?) -> [UInt8]? { value?.isEmpty == true ? nil : value }

    private static func bounded(
        _ value: [UInt8]?, _ field: PayloadField, _ limit: Int
    ) throws(Refusal) -> [UInt8]? {
        guard let text = text(value) else { return nil }
        guard text.count <= limit else {
            throw .tooLarge(field: field.name, bytes: text.count, limit: limit)
        }
        return text
    }

    private static func lifetime(_ text: [UInt8]) throws(Refusal) -> Int {
        guard let seconds = JSONReader.integer(text.raw), seconds >= 0,
            seconds <= Limits.Message.lifetimeSeconds
        else {
            throw .outOfRange(
                field: PayloadField.timeToLive.name, value: shown(text), lowest: 0,
                highest: Limits.Message.lifetimeSeconds)
        }
        return seconds
    }

    /// Parses a boolean in all spellings that clients send.
    private static func flag(_ value: [UInt8]?, _ field: PayloadField) throws(Refusal) -> Bool {
        guard let text = text(value) else { return false }
        if text.raw.equals("1") || ASCII.equals(text.raw, ignoringCase: "true") { return true }
        if text.raw.equals("0") || ASCII.equals(text.raw, ignoringCase: "false") { return false }
        throw .notAllowed(field: field.name, value: shown(text), allowed: "1, 0, true, false")
    }

    private static func shown(_ text: [UInt8]) -> String {
        String(decoding: text.prefix(Limits.AppServer.refusalTextBytes), as: UTF8.self)
    }
}
