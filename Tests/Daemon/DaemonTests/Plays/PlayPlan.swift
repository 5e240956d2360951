import TranscriptNotation

/// Determines whether a play can run against a real device, sender and store, without control over the core.
struct PlayPlan {
    /// The settings of the play as flags of ccsd.
    private(set) var flags: [String] = []
    /// Why the play cannot run here, or `nil` if it can.
    private(set) var obstacle: String?
    private var unanswered: [Substring] = []
    private var receipts: Set<Substring> = []
    private var isLost = false
    private var isChecking = false

    /// The longest wait in seconds that a play may require.
    private static let patience = 5
    /// Refusals of the core that a play can cause by its messages.
    private static let reachable: Set<Substring> = ["not_registered", "sender_mismatch", "package_mismatch"]

    /// Examines every line of a play.
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
            if words[0] == "stream_management" { obstacle = "a resumable stream outlives the play" }
            if words[0] == "scram" { obstacle = "SCRAM needs the transcript's own salts" }
        case "C:":
            if !unanswered.isEmpty { obstacle = "an answer is delayed" }
            if isLost { obstacle = "the client sends after the end" }
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
            if Int(line.text) ?? .max > Self.patience { obstacle = "the play waits \(line.text) s" }
        case "!!" where line.text.hasSuffix("reading"):
            obstacle = "whether a session reads cannot be observed"
        default: break
        }
    }

    private mutating func command(_ words: [Substring]) {
        switch words[0] {
        case "accept": isChecking = false
        case "lost": isLost = true
        case "reject":
            isChecking = false
            if words[1] != "wrong_credentials" {
                obstacle = "the refusal of the login cannot be caused by a client"
            }
        case "ack", "nack":
            if words.count > 2, words[0] == "ack" { obstacle = "a token is replaced" }
            if words.count > 2, words[0] == "nack", !Self.reachable.contains(words[2]) {
                obstacle = "the refusal cannot be caused by a client"
            }
            guard unanswered.first == words[1] else { return obstacle = "answers are out of order" }
            unanswered.removeFirst()
        case "upstream":
            if words.contains("fcm") { obstacle = "TestDevice cannot send to fcm.googleapis.com" }
            if words.contains(where: { $0.hasPrefix("category=") }) { obstacle = "TestDevice has one app" }
            if !unanswered.isEmpty { obstacle = "an answer is delayed" }
        case "receipt":
            if !words.contains(where: { receipts.contains($0) }) { obstacle = "a receipt without a request" }
        default: obstacle = "the play needs \(words[0])"
        }
    }
}
