import Basics

/// The connection of a device, as its partition tracks it.
struct DeviceLink {
    /// The progress of delivery on a connection.
    enum Mode {
        /// The login is accepted once the messages that it reports as received are removed from the store.
        case accepting
        /// A page of its mailbox is being read; `target` is the newest message that the store had confirmed when the read started.
        case loading(target: SequenceNumber)
        /// A read for an earlier connection is still outstanding.
        case queued
        /// A page was sent, or the connection is congested: delivery waits for its next `writable` event.
        case paused
        /// All stored messages have been sent; new ones are sent as soon as they are stored.
        case live
        /// It has been ordered to close.
        case closing

        /// Whether stored messages may be read and sent.
        var takesStored: Bool {
            switch self {
            case .paused, .live: true
            case .accepting, .loading, .queued, .closing: false
            }
        }

        /// Whether a connection may change from this mode to another one. A closing connection does nothing else.
        func mayBecome(_ next: Mode) -> Bool {
            switch (self, next) {
            case (.accepting, .paused), (.paused, .loading), (.paused, .queued), (.paused, .live),
                (.loading, .paused), (.loading, .queued), (.queued, .paused), (.live, .loading),
                (.live, .queued), (.live, .live), (.live, .paused), (_, .closing):
                true
            default: false
            }
        }
    }

    let connection: ConnectionID
    /// When the device logged in.
    let since: Instant
    private(set) var mode = Mode.accepting
    /// Every message stored up to here has been sent or need not be.
    private(set) var cursor = SequenceNumber(0)
    /// The highest value that `cursor` has had.
    private(set) var highestCursor = SequenceNumber(0)
    /// Whether the cursor has passed a message that was removed, and is there again since its removal has failed.
    private(set) var hasPassedOver = false
    /// Whether its outbound buffer is full.
    private(set) var isCongested = false
    /// Whether the device reports that it is idle.
    var isIdle: Bool

    /// Whether messages that are not stored may be sent.
    var acceptsUnstored: Bool {
        switch mode {
        case .accepting, .closing: false
        case .loading, .queued, .paused, .live: !isCongested
        }
    }

    /// Changes the mode. Returns `false`, and keeps it, if the change is not allowed.
    mutating func change(to next: Mode) -> Bool {
        guard mode.mayBecome(next) else { return false }
        mode = next
        return true
    }

    /// Moves the cursor forward, after everything up to `sequence` has been sent or need not be.
    mutating func advance(to sequence: SequenceNumber) {
        cursor = max(cursor, sequence)
        highestCursor = max(highestCursor, cursor)
    }

    /// Records that a message behind the cursor is there again, and was not sent.
    mutating func passOver() { hasPassedOver = true }

    /// Moves the cursor back so that messages from `sequence` on are read again.
    mutating func rewind(before sequence: SequenceNumber) {
        guard sequence <= cursor else { return }
        cursor = SequenceNumber(sequence.number &- 1)
        // The page that is being read starts too late.
        if case .loading = mode { mode = .queued }
    }

    /// Records that its outbound buffer is full or not; a full one ends the live mode.
    mutating func setCongested(_ isFull: Bool) {
        isCongested = isFull
        if isFull, case .live = mode { mode = .paused }
    }
}
