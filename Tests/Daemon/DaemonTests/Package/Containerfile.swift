import Foundation

/// The instructions of a Containerfile, and rules like those of hadolint.
struct Containerfile {
    /// An instruction with its arguments in one line.
    typealias Instruction = (name: String, text: String)

    /// The instructions of each stage, from its FROM on.
    var stages: [[Instruction]] = []

    init(_ text: String) {
        var whole = ""
        for line in text.split(separator: "\n") where !line.drop(while: { $0 == " " }).hasPrefix("#") {
            whole += line.hasSuffix("\\") ? line.dropLast() + " " : line + "\n"
        }
        for line in whole.split(separator: "\n") {
            let words = line.split(separator: " ", maxSplits: 1).map(String.init)
            let instruction = (words[0], words.count > 1 ? words[1] : "")
            if words[0] == "FROM" {
                stages.append([instruction])
            } else {
                stages[stages.count - 1].append(instruction)
            }
        }
    }

    /// Returns the arguments of the instructions with a name in the final stage.
    func final(_ name: String) -> [String] { (stages.last ?? []).filter { $0.name == name }.map(\.text) }

    /// Returns the words of the exec form that a text ends with: `CMD ["a", "b"]`.
    static func execForm(_ text: String) -> [String]? {
        guard let start = text.firstIndex(of: "[") else { return nil }
        return try? JSONDecoder().decode([String].self, from: Data(text[start...].utf8))
    }

    /// Returns what is wrong with it.
    func violations() -> [String] {
        var found: [String] = []
        for (index, stage) in stages.enumerated() {
            for (name, text) in stage {
                found += Self.violations(name, text, isFinal: index == stages.count - 1)
            }
        }
        let user = final("USER").last ?? ""
        if Int(user.prefix { $0 != ":" }) ?? 0 == 0 { found.append("USER \(user): not a number above 0") }
        for name in ["HEALTHCHECK", "ENTRYPOINT"] where final(name).count != 1 {
            found.append("\(final(name).count) \(name), expected 1")
        }
        for text in final("ENTRYPOINT") + final("CMD") + final("HEALTHCHECK") where Self.execForm(text) == nil
        {
            found.append("\(text): not in exec form")
        }
        return found
    }

    private static func violations(_ name: String, _ text: String, isFinal: Bool) -> [String] {
        var found: [String] = []
        let commands = text.components(separatedBy: "&&").map { $0.trimmingCharacters(in: .whitespaces) }
        switch name {
        case "FROM":
            let image = text.prefix { $0 != " " }
            if !image.contains(":") || image.hasSuffix(":latest") { found.append("\(image): no fixed tag") }
        case "ADD": found.append("ADD: use COPY")
        case "WORKDIR" where !text.hasPrefix("/"): found.append("WORKDIR \(text): not absolute")
        case "RUN":
            if text.contains("|") { found.append("RUN: a pipe hides failures") }
            for command in commands {
                if command.hasPrefix("cd ") { found.append("\(command): use WORKDIR") }
                if command.hasPrefix("sudo ") { found.append("\(command): sudo") }
                guard command.hasPrefix("apt-get install") else { continue }
                for option in ["--yes", "--no-install-recommends"] where !command.contains(option) {
                    found.append("\(command): no \(option)")
                }
                if !commands.contains("apt-get update") {
                    found.append("\(command): no apt-get update before")
                }
                if isFinal, !text.contains("rm -rf /var/lib/apt/lists/*") {
                    found.append("\(command): the package lists stay in the image")
                }
            }
        default: break
        }
        return found
    }
}
