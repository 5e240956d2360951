/// What an operator decides about the mapping of messages to APNs (apns 3.3).
public struct APNsMappingSettings: Sendable {
    /// Whether the collapse key becomes `apns-collapse-id`, or the tag of a notification without one. FCM uses neither.
    public var collapseKeyToAPNs = false
    /// Whether a message of XMPP or legacy HTTP without a priority gets 5, as in GCM since August 2015, instead of 10.
    public var uses2015Priority = false
    /// SHA-256, from the host, because the mapper has no crypto library.
    let digest: @Sendable ([UInt8]) -> [UInt8]

    /// Creates the default settings.
    public init(digest: @escaping @Sendable ([UInt8]) -> [UInt8]) { self.digest = digest }
}
