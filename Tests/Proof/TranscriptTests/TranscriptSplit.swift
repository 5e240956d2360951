import Basics

/// How the bytes of a peer are split on their way to a session; no split may change the outcome.
enum TranscriptSplit: Sendable, CustomStringConvertible {
    /// As written.
    case whole
    /// Byte by byte.
    case bytes
    /// Adjacent writes joined and split at random places, the same for the same seed.
    case seeded(UInt64)

    /// The splits that every transcript is run with.
    static let usual: [TranscriptSplit] = [.whole, .bytes] + (1...8).map { .seeded($0) }

    /// Whether consecutive writes are joined before they are split.
    var joinsWrites: Bool {
        if case .seeded = self { true } else { false }
    }

    /// Splits a run of bytes.
    func pieces(of bytes: [UInt8]) -> [[UInt8]] {
        switch self {
        case .whole: return bytes.isEmpty ? [] : [bytes]
        case .bytes: return bytes.map { [$0] }
        case .seeded(let seed):
            var random = SeededRandom(seed: seed &+ UInt64(bytes.count) &* 1_000_003)
            var pieces: [[UInt8]] = []
            var rest = bytes[...]
            while !rest.isEmpty {
                let longest = [3, 40, 400].randomElement(using: &random) ?? 40
                let count = Int.random(in: 1...longest, using: &random)
                pieces.append(Array(rest.prefix(count)))
                rest = rest.dropFirst(count)
            }
            return pieces
        }
    }

    var description: String {
        switch self {
        case .whole: "whole"
        case .bytes: "byte by byte"
        case .seeded(let seed): "seed \(seed)"
        }
    }
}
