import Basics
import Delivery

/// The facts, which only the world can know. A class, since all checkers get it for every event.
final class Truth {
    /// A downstream message.
    struct Downstream {
        var draft: DownstreamDraft
        /// The registration that it was sent to.
        let target: RegistrationName
        var sender: SenderID
        /// The connection on which it was last submitted.
        var link: Int
        var submittedAt: UnixMilliseconds
        /// When it was first submitted, by the monotonic clock: an answer may be for the first submission.
        var submittedNanoseconds: Int64
        /// Number of submissions; repeated after a refusal or a lost answer.
        var submissions = 1
        var answers = 0
        var isAcknowledged = false
        /// Number of commits that put it.
        var puts = 0
        /// The registration for which it was put.
        var registration: RegistrationName?
        var expiresAt: UnixMilliseconds?
        /// Whether it was synced to disk.
        var isSynced = false
        /// Whether the device has received it.
        var isDelivered = false
        /// The persistent IDs under which it was received; at most one per put.
        var persistentIDs: Set<PersistentID> = []
        /// Whether the device has acknowledged it.
        var isReported = false
        /// Whether it was discarded for exceeding the cap: the device receives a marker instead.
        var isMarked = false
        /// Whether its receipt was put into the sender's mailbox.
        var hasReceipt = false
        /// Whether it is a now-or-never message for a device that had been asked to reconnect.
        var mayBeMissed = false
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
        /// Wall clock time of its first put; `nil` if that is not on disk.
        var putAt: UnixMilliseconds?
        /// Wall clock time of its first transmission.
        var sentAt: UnixMilliseconds
        /// Whether an app server has received it.
        var isDelivered = false
        /// Whether an app server has answered it.
        var isAnswered = false
        /// Whether an app server has answered it twice at once.
        var isAnsweredTwice = false
        /// How often it can still expire: once for each put, since after a day a duplicate is stored as a new
        /// message.
        var returnsOwed = 0
        /// Whether it is a now-or-never message that was lost with a connection because its device was asked to reconnect.
        var mayBeMissed = false
        var isCalm: Bool
    }

    /// By number.
    var downstream: [Int: Downstream] = [:]
    /// By number.
    var upstream: [Int: Upstream] = [:]
    /// Tokens of all apps.
    var tokens = Tokens()
    /// Number of messages that each marker stands for.
    var markers: [PersistentID: Int] = [:]
    /// Markers for delayed messages, which are delayed as well.
    var delayedMarkers: Set<PersistentID> = []
    /// IDs that several messages of a device share.
    var sharedIDs: Set<[UInt8]> = []
    /// Reports that were put, by device and message ID.
    var reports: [DeviceID: Set<[UInt8]>] = [:]
    /// Devices that have ever connected.
    var cameOnline: Set<DeviceID> = []
    /// Registrations that were made.
    var registered: Set<RegistrationName> = []
    /// Registrations whose removal was asked for.
    var unregistered: Set<RegistrationName> = []
    /// Devices that an operator removes.
    var forgotten: Set<DeviceID> = []
    /// The IDs of messages that an operator or their sender asked to cancel, and the messages of which it was confirmed.
    var cancelling: Set<[UInt8]> = []
    var cancelled: Set<PersistentID> = []
    /// When the removal of each registration was confirmed.
    var gone: [RegistrationName: Int64] = [:]

    /// Returns whether a registration and its messages may be removed.
    func mayBeGone(_ name: RegistrationName) -> Bool {
        // A removed device also includes registrations requested before and answered after its removal.
        unregistered.contains(name) || forgotten.contains(name.device) || tokens.isReplacedOften(name)
    }
}
