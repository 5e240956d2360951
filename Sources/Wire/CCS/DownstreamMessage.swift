package import Basics

/// A message to a device, its form checked field by field; `data` and `notification` are still JSON.
package struct DownstreamMessage: Sendable, Equatable {
    /// The words of `priority`.
    package enum Priority: Sendable, Equatable {
        case normal
        case high
    }

    /// `to`, a string; the token itself is not checked yet. Absent where the targets are the caller's.
    package var to: JSONSlice
    /// `condition`, a string, in place of `to`; its grammar is not checked yet.
    package var condition: JSONSlice?
    /// `collapse_key`, at most `Limits.collapseKeyBytes`.
    package var collapseKey: [UInt8]?
    /// `priority`; nil: the default of its kind.
    package var priority: Priority?
    /// `time_to_live` in seconds, 0 … `Limits.lifetimeSeconds`.
    package var lifetimeSeconds = Limits.lifetimeSeconds
    /// `delivery_receipt_requested`.
    package var wantsReceipt = false
    /// `dry_run`.
    package var isDryRun = false
    /// `content_available`; of meaning to APNs alone.
    package var isContentAvailable = false
    /// `mutable_content`; of meaning to APNs alone.
    package var isMutableContent = false
    /// `delay_while_idle`; deprecated since 2016 (ccs-xmpp 2.2).
    package var delaysWhileIdle = false
    /// `restricted_package_name`.
    package var restrictedPackage: [UInt8]?
    /// `data`, an object.
    package var data: JSONSlice?
    /// `notification`, an object.
    package var notification: JSONSlice?

    /// Checks the fields in the order of ccs-xmpp 3.4, step 7; `lenientLifetime` allows `"600"` for 600.
    package init(_ payload: borrowing AppServerPayload, lenientLifetime: Bool = false) throws(Refusal) {
        try payload.checkForm()
        let target = try payload.target()
        try self.init(payload, to: target.to, lenientLifetime: lenientLifetime)
        condition = target.condition
    }

    /// The same for HTTP, which has targets of its own, and to which the fields of XMPP alone mean nothing (http 2.1).
    package init(legacy payload: borrowing AppServerPayload) throws(Refusal) {
        try payload.checkNUL()
        try self.init(payload, to: .absent, lenientLifetime: false)
        wantsReceipt = false
    }

    private init(
        _ payload: borrowing AppServerPayload, to: JSONSlice, lenientLifetime: Bool
    ) throws(Refusal) {
        self.to = to
        collapseKey = try payload.text(.collapseKey, limit: Limits.collapseKeyBytes)
        priority = try payload.priority()
        isContentAvailable = try payload.flag(.contentAvailable)
        isMutableContent = try payload.flag(.mutableContent)
        delaysWhileIdle = try payload.flag(.delayWhileIdle)
        lifetimeSeconds = try payload.lifetime(lenient: lenientLifetime)
        wantsReceipt = try payload.flag(.deliveryReceiptRequested)
        isDryRun = try payload.flag(.dryRun)
        restrictedPackage = try payload.text(.restrictedPackageName, limit: Limits.registrationFieldBytes)
        data = try payload.object(.data)
        notification = try payload.object(.notification)
    }
}
