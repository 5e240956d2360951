import TranscriptNotation

/// Whether a play needs nothing from the core but what a real device, sender and store bring about.
struct PlayPlan {
    /// Settings as flags of ccsd.
    private(set) var flags: [String] = []
    /// Why it cannot be played here; nil where it can.
    private(set) var obstacle: String?
    private var unanswered: [Substring] = []
    private var receipts: Set<Substring> = []
    private var isLost = false
    private var isChecking = false

    /// Longest time in seconds that is worth waiting for.
    private static let patience = 5
    /// Refusals of the core that a play can bring about by what it sends.
    private static let reachable: Set<Substring> = ["not_registered", "sender_mismatch", "package_mismatch"]

    /// Looks at every line of a play.
    init(_ play: Transcript) {
        for line in play.lines where obstacle == nil { look(at: line) }
        if obstacle == nil, !unanswered.isEmpty { obstacle = "a message is never answered" }
    }

    private mutating func look(at line: Transcript.Line) {
        let words = line.text.split(separator: " ")
        switch line.mark {
        case "%":
            flags.append("--" + words[0].replacing("_", with: "-"))
            if words.count > 1 { flags.append(String(words[1])) }
            if words[0] == "stream_management" { obstacle = "what is left of a stream stays in the core" }
            if words[0] == "scram" { obstacle = "keys are proved with salts of the transcript's own" }
        case "C:":
            if !unanswered.isEmpty { obstacle = "an answer is held back" }
            if isLost { obstacle = "it goes on after the end" }
        case "S:":
            if isChecking { obstacle = "a login is answered late" }
        case ">>" where words[0] == "login": isChecking = true
        case ">>" where words[0] == "submitted":
            unanswered.append(words[1])
            if words.contains("receipt"), !words.contains("dry") {
                receipts.insert(words[2])
            }
        case "<<": command(words)
        case "@":
            if Int(line.text) ?? .max > Self.patience { obstacle = "it takes \(line.text) s" }
        case "!!" where line.text.hasSuffix("reading"): obstacle = "whether a session reads cannot be seen"
        default: break
        }
    }

    private mutating func command(_ words: [Substring]) {
        switch words[0] {
        case "accept": isChecking = false
        case "lost": isLost = true
        case "reject":
            isChecking = false
            if words[1] != "wrong_credentials" { obstacle = "a login is refused for what no client does" }
        case "ack", "nack":
            if words.count > 2, words[0] == "ack" { obstacle = "a token is replaced" }
            if words.count > 2, words[0] == "nack", !Self.reachable.contains(words[2]) {
                obstacle = "the core refuses for what no client does"
            }
            guard unanswered.first == words[1] else { return obstacle = "answers are out of turn" }
            unanswered.removeFirst()
        case "upstream":
            if words.contains("fcm") { obstacle = "no device addresses fcm.googleapis.com here" }
            if words.contains(where: { $0.hasPrefix("category=") }) { obstacle = "another app" }
            if !unanswered.isEmpty { obstacle = "an answer is held back" }
        case "receipt":
            if !words.contains(where: { receipts.contains($0) }) { obstacle = "a receipt for nothing" }
        default: obstacle = "it needs \(words[0])"
        }
    }
}
