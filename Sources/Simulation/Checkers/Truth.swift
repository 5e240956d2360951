import Basics
import Delivery

/// What really happened, as only the world can know it.
struct Truth {
    /// A downstream message.
    struct Downstream {
        var draft: DownstreamDraft
        var sender: SenderID
        /// The connection it was last submitted on.
        var link: Int
        var submittedAt: UnixMilliseconds
        var answers = 0
        var isAcknowledged = false
        /// Its place, once a commit has put it.
        var sequence: Sequence?
        var expiresAt: UnixMilliseconds?
        /// Whether it has been on the disk beyond any crash.
        var isSynced = false
        /// Whether the device has received it.
        var isHeard = false
        var persistentID: PersistentID?
        /// Whether its receipt has been put into the sender's mailbox.
        var hasReceipt = false
        /// Whether it was submitted after the faults had ended.
        var isCalm: Bool
    }

    /// An upstream message.
    struct Upstream {
        var draft: UpstreamDraft
        var device: DeviceID?
        var isConfirmed = false
        var isRefused = false
        var isSynced = false
        var expiresAt: UnixMilliseconds?
        /// Whether an app server has received it.
        var isHeard = false
        var isCalm: Bool
    }

    /// By number.
    var downstream: [Int: Downstream] = [:]
    /// By number.
    var upstream: [Int: Upstream] = [:]
    /// Registrations that were made.
    var registered: Set<RegistrationName> = []
    /// Registrations whose removal was asked for.
    var unregistered: Set<RegistrationName> = []
    /// Registrations whose removal was confirmed.
    var gone: Set<RegistrationName> = []
}
