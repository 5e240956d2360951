public import Basics

/// A message to a device with every field checked; `data` and `notification` are still JSON.
public struct DownstreamMessage: Sendable, Equatable {
    /// The values of `priority`.
    public enum Priority: Sendable, Equatable {
        case normal
        case high
    }

    /// `to`, a string whose token is not checked yet. Absent over HTTP, where the caller has the targets.
    public var to: JSONSlice
    /// `condition`, a string in place of `to`; its grammar is not checked yet.
    public var condition: JSONSlice?
    /// `collapse_key`, at most `Limits.Message.collapseKeyBytes`.
    public var collapseKey: [UInt8]?
    /// `priority`; `nil` for the default of the message's kind.
    public var priority: Priority?
    /// `time_to_live` in seconds, 0 … `Limits.Message.lifetimeSeconds`.
    public var lifetimeSeconds = Limits.Message.lifetimeSeconds
    /// `send_at`, an extension of ccsd: when it is to be sent.
    public var sendAt: UnixMilliseconds?
    /// `replace_message_id`, an extension of ccsd: the ID of the message in whose place it is put.
    public var replaces: [UInt8]?
    /// `delivery_receipt_requested`.
    public var wantsReceipt = false
    /// `dry_run`.
    public var isDryRun = false
    /// `content_available`; only APNs uses it.
    public var isContentAvailable = false
    /// `mutable_content`; only APNs uses it.
    public var isMutableContent = false
    /// `delay_while_idle`; deprecated since 2016 (ccs-xmpp 2.2).
    public var delaysWhileIdle = false
    /// `restricted_package_name`.
    public var restrictedPackage: [UInt8]?
    /// `data`, an object.
    public var data: JSONSlice?
    /// `notification`, an object.
    public var notification: JSONSlice?
    /// `raw_data`, a string whose Base64 is not decoded yet. It excludes `data` and `notification`.
    public var rawData: JSONSlice?

    /// Checks the fields in the order of ccs-xmpp 3.4, step 7; `lenientLifetime` allows `"600"` for 600.
    public init(_ payload: borrowing AppServerPayload, lenientLifetime: Bool = false) throws(Refusal) {
        try payload.checkCommonFields()
        let target = try payload.target()
        try self.init(payload, to: target.to, lenientLifetime: lenientLifetime)
        condition = target.condition
    }

    /// Checks a message sent over legacy HTTP (http 2.1): targets are read elsewhere, and XMPP-only fields are ignored.
    public init(legacy payload: borrowing AppServerPayload) throws(Refusal) {
        try payload.checkNUL()
        try self.init(payload, to: .absent, lenientLifetime: false)
        wantsReceipt = false
    }

    private init(
        _ payload: borrowing AppServerPayload, to: JSONSlice, lenientLifetime: Bool
    ) throws(Refusal) {
        self.to = to
        collapseKey = try payload.text(.collapseKey, limit: Limits.Message.collapseKeyBytes)
        priority = try payload.priority()
        isContentAvailable = try payload.flag(.contentAvailable)
        isMutableContent = try payload.flag(.mutableContent)
        delaysWhileIdle = try payload.flag(.delayWhileIdle)
        lifetimeSeconds = try payload.lifetime(lenient: lenientLifetime)
        sendAt = try payload.sendAt()
        replaces = try payload.replacedID()
        wantsReceipt = try payload.flag(.deliveryReceiptRequested)
        isDryRun = try payload.flag(.dryRun)
        restrictedPackage = try payload.text(.restrictedPackageName, limit: Limits.Registration.fieldBytes)
        data = try payload.object(.data)
        notification = try payload.object(.notification)
        rawData = try payload.rawData()
    }
}
