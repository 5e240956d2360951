import Foundation

/// One step of a trace that faulty_disk.c wrote.
enum Step {
    case open(descriptor: Int32, path: String, isNew: Bool, isEmptied: Bool)
    case write(descriptor: Int32, offset: Int, bytes: ArraySlice<UInt8>)
    case sync(descriptor: Int32)
    case syncFailed(descriptor: Int32)
    case close(descriptor: Int32)
    case truncate(descriptor: Int32, size: Int)
    case rename(String, String)
    case unlink(String)
    case link(String, String)
    case makeFolder(String)
    case note(String)
}

/// A recorded trace.
struct Trace {
    let steps: [Step]

    init(path: String) throws {
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        var steps: [Step] = []
        var at = 0
        func number(_ offset: Int, _ count: Int) -> UInt64 {
            (0..<count).reduce(0) { $0 | UInt64(bytes[at + offset + $1]) << UInt64(8 * $1) }
        }
        // A head of 20 bytes, as the library writes it on a little-endian machine.
        while at + 20 <= bytes.count {
            let descriptor = Int32(truncatingIfNeeded: number(4, 4))
            let value = number(8, 8)
            let length = Int(number(16, 4))
            guard at + 20 + length <= bytes.count else { break }
            let content = bytes[at + 20..<at + 20 + length]
            let words = content.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
            guard
                let step = Self.step(
                    number(0, 4), descriptor, value, content, words.first ?? "",
                    words.count > 1 ? words[1] : "")
            else { throw WorldFailure("the trace \(path) cannot be read at \(at)") }
            steps.append(step)
            at += 20 + length
        }
        self.steps = steps
    }

    private static func step(
        _ operation: UInt64, _ descriptor: Int32, _ value: UInt64, _ bytes: ArraySlice<UInt8>,
        _ first: String, _ second: String
    ) -> Step? {
        switch operation {
        case 1: .open(descriptor: descriptor, path: first, isNew: value & 1 != 0, isEmptied: value & 2 != 0)
        case 2: .write(descriptor: descriptor, offset: Int(value), bytes: bytes)
        case 3: .sync(descriptor: descriptor)
        case 4: .close(descriptor: descriptor)
        case 5: .truncate(descriptor: descriptor, size: Int(value))
        case 6: .rename(first, second)
        case 7: .unlink(first)
        case 8: .link(first, second)
        case 9: .note(first)
        case 10: .syncFailed(descriptor: descriptor)
        case 11: .makeFolder(first)
        default: nil
        }
    }
}
