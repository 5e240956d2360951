extension Limits {
    /// Limits of the message history.
    public enum History {
        /// Hours that steps are kept by default: until the questions of the day before are answered.
        public static let hours = 24
        /// Hours at most: a year; the bytes end it earlier.
        public static let mostHours = 8_760
        /// Bytes on disk by default: a day with 25 million messages.
        public static let bytes = 1_073_741_824
        /// Part of the disk at most, as a divisor: the store needs the rest.
        public static let shareOfDevice = 10
        /// Bytes of a message's ID, and of details, that are recorded: what a length of one byte holds.
        public static let textBytes = 255
        /// Steps that a reactor gathers before it passes them on: 450 KiB, so that a message usually has all of its steps in one parcel, which
        /// the writer need not copy.
        public static let stepsPerParcel = 8_192
        /// Refusals of one sender that a reactor records in a second, of those that never reach a device's partition: with the longest IDs a GiB
        /// takes nine hours, while as many bytes of real messages take minutes.
        public static let senderRefusalsPerSecond = 100
        /// The same of all senders.
        public static let refusalsPerSecond = 1_000
        /// Milliseconds after which gathered steps are passed on and written: with those of the writer a crash costs less than a second.
        public static let gatherMilliseconds: Int64 = 250
        /// Steps that may wait for the writer: half a second of 300,000 messages a second, 16 MB; more are left out and counted.
        public static let waitingSteps = 262_144
        /// Steps that are encoded together: those of one message are merged if they are among them.
        public static let mergedSteps = 16_384
        /// Bytes after which a block ends: the unit that a search reads and checks, in a tenth of a millisecond.
        public static let blockBytes = 32_768
        /// Bytes of a block at most: one record more than `blockBytes`, and what a search accepts from a disk.
        public static let mostBlockBytes = 65_536
        /// Blocks of a file: what 12 bits of an index entry can name.
        public static let blocksPerFile = 4_096
        /// Bytes of the blocks of a file: small beside the limit of all, since whole files are dropped.
        public static let fileBytes = 8_388_608
        /// Bytes of a file at most: its blocks, those of one more batch, and the index.
        public static let mostFileBytes = 2 * fileBytes + 64 * waitingSteps
        /// A file ends after this part of the hours, as a divisor: steps stay an eighth longer than configured at most.
        public static let filesPerAge: Int64 = 8
        /// The least size at which a file is completed, also if `history_bytes` is smaller: smaller ones are mostly head and index.
        public static let leastFileBytes = 65_536
        /// Index entries of one bucket, which a search reads as a whole.
        public static let entriesPerBucket = 64
        /// Steps of one message that an answer has: a message that is deferred time and again has more.
        public static let stepsShown = 200
        /// Steps in one record, as four bits count them; the rest starts another record.
        public static let stepsPerRecord = 15
        /// Blocks that one answer reads: some 0.2 ms each.
        public static let examinedBlocks = 2_000
        /// Blocks that a search keeps for its next question: most messages of a page are in the same ones.
        public static let keptBlocks = 16
        /// Messages of one answer at most: each is gathered from several blocks.
        public static let rows = 200
        /// Messages of which a list gathers all steps: up to 0.5 ms each in many files, so that a page with a rare outcome takes a second at most.
        public static let gatheredMessages = 2_000
        /// Seconds between two questions of `--follow`: steps are written after a quarter of a second.
        public static let followPauseSeconds = 1
        /// Seconds after which `--follow` ends, in a terminal that was forgotten.
        public static let followSeconds = 3_600
        /// Pages of `rows` messages that `--follow` asks for at once, until it has caught up: as many messages as it remembers.
        public static let followedPages = followedMessages / rows
        /// Messages whose printed steps `--follow` remembers.
        public static let followedMessages = 10_000
        /// Blocks that are counted at once, while other questions wait: 0.1 s.
        public static let blocksPerCount = 500
        /// Seconds that totals are counted for one question: a GiB takes some seven, and what was counted is kept.
        public static let countingSeconds = 8
        /// Counts of a sender, a day and a file that are kept: 25 MB.
        public static let countedEntries = 262_144
        /// Topics of one answer: those that have reached most.
        public static let countedTopics = 100
        /// Searches per file for the sender of a message that ended while its device was away, of which the end has the position alone.
        public static let searchesPerFile = 1_000
        /// Days of totals at most: what `mostHours` and the last file may have.
        public static let days = 410
        /// Hours with messages of which the counts are kept: four weeks, 48 KB.
        public static let countedHours = 672
        /// Days that they have.
        public static let countedDays = 28
        /// Gaps that an answer names.
        public static let gapsShown = 20
        /// Seconds after which the files are looked through for old ones.
        public static let sweepSeconds = 60
        /// Nodes of a cursor at most: more than a cluster has.
        public static let cursorNodes = 256
        /// Messages of which all nodes are asked for the steps that they have: those of a page, or the first ones of the pages of all nodes.
        public static let partsAsked = 1_000
        /// Milliseconds in which the nodes answer: a second more than they count. An answer without some names them.
        public static let nodesMilliseconds: Int64 = 1_000 + 1_000 * Int64(countingSeconds)
        /// Questions to all nodes that may be open: some for operators beside those of app servers.
        public static let openInquiries = 64
        /// Questions that may wait for the reader.
        public static let waitingQuestions = 16
        /// Questions that may wait when one of an app server comes: the rest is for operators.
        public static let waitingSenderQuestions = 8
        /// Questions of the app servers of one sender at once: a page of messages; their rate keeps the reader free for others.
        public static let senderQuestions = 300
        /// Seconds in which these questions are allowed again: five each second.
        public static let senderQuestionSeconds = 60
        /// Blocks that the answer to an app server reads: 40 ms.
        public static let senderBlocks = 200
        /// Messages of one answer to an app server: copies of a message to a topic or group have its ID.
        public static let senderRows = 50
        /// Milliseconds after a failed write before the next one is tried; until then steps are left out and counted.
        public static let retryMilliseconds: Int64 = 5_000
    }
}
