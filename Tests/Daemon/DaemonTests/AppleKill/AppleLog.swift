import Foundation

/// Reads the log of the mock of Apple while it is being written.
final class AppleLog {
    private let file: FileHandle
    private var rest = Data()

    init(_ url: URL) throws { file = try FileHandle(forReadingFrom: url) }

    /// Returns the events that have been added since the last call.
    func next() throws -> [[String: Any]] {
        rest += try file.readToEnd() ?? Data()
        guard let end = rest.lastIndex(of: 10) else { return [] }
        let lines = rest[..<end].split(separator: 10)
        rest = Data(rest[rest.index(after: end)...])
        return try lines.map { line in
            guard let event = try JSONSerialization.jsonObject(with: Data(line)) as? [String: Any] else {
                throw HarnessFailure("invalid line in Apple's log: \(String(decoding: line, as: UTF8.self))")
            }
            return event
        }
    }
}
