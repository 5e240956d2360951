import Basics
import ClusterLog

extension FrameHeader {
    /// A frame with entries of a test.
    func frame(with entries: [UInt8], in log: LogKey) -> [UInt8] { frame(entries.raw, in: log) }

    /// Reads the bytes of a record.
    static func read(bytes: [UInt8], in log: LogKey) -> LogRecord { read(bytes.raw, in: log) }
}
