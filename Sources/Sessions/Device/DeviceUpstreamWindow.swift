import Basics
import Delivery

/// The upstream frames of a connection that are not settled, and with them how far frames may be acknowledged.
///
/// A frame may be acknowledged only if every upstream message in it and before it is on disk or refused for good.
struct DeviceUpstreamWindow {
    /// An upstream message on its way to the store.
    struct Waiting {
        /// Names it towards the core.
        var requestID: UInt32
        /// Which frame it came in.
        var streamID: Int
        /// The app.
        var category: [UInt8]
        /// The app's id for it.
        var messageID: [UInt8]
        /// The account it is for, in decimal.
        var sender: SenderID
    }

    /// Oldest first; bounded by `Limits.Device.waitingUpstream`.
    private(set) var waiting: [Waiting] = []
    private var nextRequestID: UInt32 = 0
    /// The first frame that is never acknowledged on this connection, because it could not be stored.
    private var barrier = Int.max
    /// What the device was last told.
    private var told = 0

    /// Whether one more message of an app has room.
    func hasRoom(for category: [UInt8]) -> Bool {
        guard waiting.count < Limits.Device.waitingUpstream else { return false }
        return waiting.count < Limits.Mailbox.waitingUpstream
            || waiting.count(where: { $0.category == category }) < Limits.Mailbox.waitingUpstream
    }

    /// Notes a message and names it.
    mutating func note(
        streamID: Int, category: [UInt8], messageID: [UInt8], sender: SenderID
    ) -> UInt32 {
        nextRequestID &+= 1
        waiting.append(
            Waiting(
                requestID: nextRequestID, streamID: streamID, category: category, messageID: messageID,
                sender: sender))
        return nextRequestID
    }

    /// Takes out the message of a request ID; nil if it is not waited for.
    @discardableResult
    mutating func settle(_ requestID: UInt32) -> Waiting? {
        guard let at = waiting.firstIndex(where: { $0.requestID == requestID }) else { return nil }
        return waiting.remove(at: at)
    }

    /// Lets no frame from this one on be acknowledged any more.
    mutating func block(from streamID: Int) { barrier = min(barrier, streamID) }

    /// Frames that may be acknowledged and are not.
    func owed(incoming: Int) -> Int { acknowledgeable(incoming) - told }

    /// The count to put on a frame; nil where nothing is new.
    mutating func takeAcknowledgement(incoming: Int) -> Int32? {
        let count = acknowledgeable(incoming)
        guard count > told else { return nil }
        told = count
        return Int32(clamping: count)
    }

    private func acknowledgeable(_ incoming: Int) -> Int {
        min(incoming, barrier - 1, (waiting.first?.streamID ?? .max) - 1)
    }
}
