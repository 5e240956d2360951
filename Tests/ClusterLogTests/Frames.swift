import Basics
import ClusterLog

extension FrameHeader {
    /// A frame with entries of a test.
    func frame(with entries: [UInt8], in log: LogKey) -> [UInt8] { frame(entries.raw, in: log) }

    /// Reads the bytes of a record.
    static func read(bytes: [UInt8], in log: LogKey) -> LogRecord { read(bytes.raw, in: log) }

    /// The hash of a record of `LogReaderTests.log` after its first eight bytes.
    static func hash(_ bytes: [UInt8]) -> UInt64 { SipHash(key: (7, 2)).hash(bytes.raw) }
}
