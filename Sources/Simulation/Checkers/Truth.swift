import Basics
import Delivery

/// What really happened, as only the world can know it. One object, since all checkers are handed it for every event.
final class Truth {
    /// A downstream message.
    struct Downstream {
        var draft: DownstreamDraft
        var sender: SenderID
        /// The connection it was last submitted on.
        var link: Int
        var submittedAt: UnixMilliseconds
        /// When it was submitted first, by the clock that nobody sets: what comes may be the answer to that.
        var submittedNanoseconds: Int64
        /// How often it was submitted: again after a refusal, or where the answer was lost.
        var submissions = 1
        var answers = 0
        var isAcknowledged = false
        /// How often a commit has put it.
        var puts = 0
        /// The registration that it was put for.
        var registration: RegistrationName?
        var expiresAt: UnixMilliseconds?
        /// Whether it has been on the disk beyond any crash.
        var isSynced = false
        /// Whether the device has received it.
        var isHeard = false
        /// By which ids; as many as places.
        var persistentIDs: Set<PersistentID> = []
        /// Whether the device has said that it has it.
        var isReported = false
        /// Whether too many waited for its app, and a marker stands for them all: the device hears of that instead.
        var isMarked = false
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
        /// When it was first put, by the wall clock; nil where that is not on disk.
        var putAt: UnixMilliseconds?
        /// When it was first sent, by the wall clock.
        var sentAt: UnixMilliseconds
        /// Whether an app server has received it.
        var isHeard = false
        /// Whether an app server has answered it.
        var isAnswered = false
        /// How often it may still be returned to its device: once for each time that it was stored, for after a day one that comes
        /// again is another.
        var returnsOwed = 0
        var isCalm: Bool
    }

    /// By number.
    var downstream: [Int: Downstream] = [:]
    /// By number.
    var upstream: [Int: Upstream] = [:]
    /// Tokens of all apps.
    var tokens = Tokens()
    /// How many messages each marker stands for.
    var markers: [PersistentID: Int] = [:]
    /// Markers in the place of messages that waited until their device is active, and wait like them.
    var delayedMarkers: Set<PersistentID> = []
    /// IDs that several messages of a device have.
    var sharedIDs: Set<[UInt8]> = []
    /// Reports that were put, by device and message ID.
    var reports: [DeviceID: Set<[UInt8]>] = [:]
    /// Devices that have ever connected.
    var cameOnline: Set<DeviceID> = []
    /// Registrations that were made.
    var registered: Set<RegistrationName> = []
    /// Registrations whose removal was asked for.
    var unregistered: Set<RegistrationName> = []
    /// Devices that an operator forgets.
    var forgotten: Set<DeviceID> = []
    /// Registrations whose removal was confirmed.
    var gone: Set<RegistrationName> = []

    /// Whether a registration may be gone, with its messages.
    func mayBeGone(_ name: RegistrationName) -> Bool {
        // Of a device that is to be forgotten, also one that it asked for before, and heard of after.
        unregistered.contains(name) || forgotten.contains(name.device) || tokens.isReplacedOften(name)
    }
}
