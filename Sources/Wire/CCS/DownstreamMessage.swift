public import Basics

/// A message to a device, its form checked field by field; `data` and `notification` are still JSON.
public struct DownstreamMessage: Sendable, Equatable {
    /// The words of `priority`.
    public enum Priority: Sendable, Equatable {
        case normal
        case high
    }

    /// `to`, a string; the token itself is not checked yet. Absent where the targets are the caller's.
    public var to: JSONSlice
    /// `condition`, a string, in place of `to`; its grammar is not checked yet.
    public var condition: JSONSlice?
    /// `collapse_key`, at most `Limits.Message.collapseKeyBytes`.
    public var collapseKey: [UInt8]?
    /// `priority`; nil: the default of its kind.
    public var priority: Priority?
    /// `time_to_live` in seconds, 0 … `Limits.Message.lifetimeSeconds`.
    public var lifetimeSeconds = Limits.Message.lifetimeSeconds
    /// `delivery_receipt_requested`.
    public var wantsReceipt = false
    /// `dry_run`.
    public var isDryRun = false
    /// `content_available`; of meaning to APNs alone.
    public var isContentAvailable = false
    /// `mutable_content`; of meaning to APNs alone.
    public var isMutableContent = false
    /// `delay_while_idle`; deprecated since 2016 (ccs-xmpp 2.2).
    public var delaysWhileIdle = false
    /// `restricted_package_name`.
    public var restrictedPackage: [UInt8]?
    /// `data`, an object.
    public var data: JSONSlice?
    /// `notification`, an object.
    public var notification: JSONSlice?
    /// `raw_data`, a string; its Base64 is not decoded yet. It excludes `data` and `notification`.
    public var rawData: JSONSlice?

    /// Checks the fields in the order of ccs-xmpp 3.4, step 7; `lenientLifetime` allows `"600"` for 600.
    public init(_ payload: borrowing AppServerPayload, lenientLifetime: Bool = false) throws(Refusal) {
        try payload.checkForm()
        let target = try payload.target()
        try self.init(payload, to: target.to, lenientLifetime: lenientLifetime)
        condition = target.condition
    }

    /// The same for HTTP, which has targets of its own, and to which the fields of XMPP alone mean nothing (http 2.1).
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
        wantsReceipt = try payload.flag(.deliveryReceiptRequested)
        isDryRun = try payload.flag(.dryRun)
        restrictedPackage = try payload.text(.restrictedPackageName, limit: Limits.Registration.fieldBytes)
        data = try payload.object(.data)
        notification = try payload.object(.notification)
        rawData = try payload.rawData()
    }
}
