import Basics
import ClusterLog
import ClusterLogSupport

extension FrameHeader {
    /// A header of a test: nothing but the mark was confirmed before it.
    init(
        version: UInt8 = newestVersion, term: Term, number: UInt64, time: UnixMilliseconds,
        previous: UInt64 = 0
    ) {
        self.init(
            version: version, term: term, number: number, time: time,
            confirmed: number > 1 ? 1 : 0, previous: previous)
    }

    /// A frame with entries of a test.
    func frame(with entries: [UInt8], in log: LogKey) -> [UInt8] { frame(entries.raw, in: log) }

    /// Reads the bytes of a record.
    static func read(bytes: [UInt8], in log: LogKey) -> LogRecord { read(bytes.raw, in: log) }

    /// The tag of a record of `LogReaderTests.log` after its first eight bytes.
    static func tag(_ bytes: [UInt8]) -> UInt64 {
        LogSecret.example.tags(of: .frames(partition: 2), in: 7).hash(bytes.raw)
    }
}
