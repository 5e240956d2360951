public import Basics

/// Rows of one device that an operator imports, all of them or some.
public struct DeviceImport: Sendable {
    /// Where the answer is sent.
    public var requester: Requester
    public var device: DeviceID
    /// The record of the device. `nil` if it is imported before these rows.
    public var record: DeviceRecord?
    public var registrations: [Registration]
    public var subscriptions: [Subscription]
    /// Whether rows replace those that differ.
    public var replaces: Bool
    /// The seal for lookup keys, if it is not yet the one in use: that of a secret which was imported before.
    public var seal: TokenSeal?

    /// Creates an import without rows.
    public init(requester: Requester, device: DeviceID, replaces: Bool, seal: TokenSeal? = nil) {
        self.requester = requester
        self.device = device
        self.replaces = replaces
        self.seal = seal
        registrations = []
        subscriptions = []
    }
}

/// What an import did with a row.
public enum ImportOutcome: String, Sendable, CaseIterable {
    /// It is new here.
    case added
    /// It was here already.
    case unchanged
    /// It has replaced a row that differed.
    case replaced
    /// A row here differs; it was kept.
    case differs
    /// The row needs a device that is not here.
    case noDevice = "no_device"
    /// The row needs a registration that is not here.
    case noRegistration = "no_registration"
    /// The number of a registration is not below the next one of its device, which would be given out again.
    case beyondDevice = "beyond_device"
    /// The device or registration has the maximum number of such rows.
    case full
}
