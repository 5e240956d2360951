import Basics

/// Which stored messages went out in which frame of this connection and are not yet acknowledged, oldest first.
///
/// Bounded by `Limits.Mailbox.unacknowledgedPerDevice`.
struct DeviceLedger {
    private struct Entry {
        var streamID: Int
        var message: PersistentID
        /// The ID that its frame carried, where that is another: a report goes out under the ID of the app's message.
        var alias: [UInt8]?
    }

    private var entries: [Entry] = []
    /// Entries at the front that are settled; removed together, so that an ack costs no shift of the rest.
    private var settled = 0

    /// Messages that are not acknowledged.
    var count: Int { entries.count - settled }

    /// Notes a message sent in a frame; frames come in ascending order.
    mutating func note(_ message: PersistentID, as alias: [UInt8]? = nil, streamID: Int) {
        entries.append(Entry(streamID: streamID, message: message, alias: alias))
    }

    /// Takes out all messages of frames up to a stream id.
    mutating func acknowledge(upTo streamID: Int, into sequences: inout [SequenceNumber]) {
        while settled < entries.count, entries[settled].streamID <= streamID {
            sequences.append(entries[settled].message.sequence)
            settled += 1
        }
        compact()
    }

    /// Takes out the messages of these IDs, as their frames carried them, in one pass.
    mutating func acknowledge(_ texts: [[UInt8]], into sequences: inout [SequenceNumber]) {
        guard !texts.isEmpty, count > 0 else { return }
        let ids = Set(texts.compactMap { PersistentID(text: $0.raw) })
        entries.removeFirst(settled)
        settled = 0
        entries.removeAll { entry in
            guard entry.alias.map({ texts.contains($0) }) ?? ids.contains(entry.message) else { return false }
            sequences.append(entry.message.sequence)
            return true
        }
        compact()
    }

    private mutating func compact() {
        if settled == entries.count {
            // An idle connection holds no memory for it.
            entries = []
            settled = 0
        } else if settled > 64, settled * 2 > entries.count {
            entries.removeFirst(settled)
            settled = 0
        }
    }
}
