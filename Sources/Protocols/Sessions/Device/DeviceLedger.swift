import Basics

/// The stored messages sent over this connection and not yet acknowledged, with their frames, oldest first.
///
/// The caller limits them to `Limits.Mailbox.unacknowledgedPerDevice`.
struct DeviceLedger {
    private struct Entry {
        var streamID: Int
        var message: PersistentID
        /// The ID in the frame if it differs: an error report is sent with the ID of the app's message.
        var alias: [UInt8]?
    }

    private var entries: [Entry] = []
    /// Acknowledged entries at the front; removed in bulk, so that not every ack shifts the array.
    private var acknowledgedCount = 0

    /// The number of unacknowledged messages.
    var count: Int { entries.count - acknowledgedCount }

    /// Records a message sent in a frame; stream IDs must ascend.
    mutating func add(_ message: PersistentID, as alias: [UInt8]? = nil, streamID: Int) {
        entries.append(Entry(streamID: streamID, message: message, alias: alias))
    }

    /// Removes all messages of frames up to a stream ID and appends their sequences.
    mutating func acknowledge(upTo streamID: Int, into sequences: inout [SequenceNumber]) {
        while acknowledgedCount < entries.count, entries[acknowledgedCount].streamID <= streamID {
            sequences.append(entries[acknowledgedCount].message.sequence)
            acknowledgedCount += 1
        }
        compact()
    }

    /// Removes the messages with these IDs, as sent in their frames, in one pass, and appends their sequences.
    mutating func acknowledge(_ texts: [[UInt8]], into sequences: inout [SequenceNumber]) {
        guard !texts.isEmpty, count > 0 else { return }
        let ids = Set(texts.compactMap { PersistentID(text: $0.raw) })
        entries.removeFirst(acknowledgedCount)
        acknowledgedCount = 0
        entries.removeAll { entry in
            guard entry.alias.map({ texts.contains($0) }) ?? ids.contains(entry.message) else { return false }
            sequences.append(entry.message.sequence)
            return true
        }
        compact()
    }

    private mutating func compact() {
        if acknowledgedCount == entries.count {
            // An idle connection needs no memory for entries.
            entries = []
            acknowledgedCount = 0
        } else if acknowledgedCount > 64, acknowledgedCount * 2 > entries.count {
            entries.removeFirst(acknowledgedCount)
            acknowledgedCount = 0
        }
    }
}
