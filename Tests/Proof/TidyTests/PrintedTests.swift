import Catalogue
import Glibc
import Testing

/// Printed man pages and completions work with groff, bash, zsh and fish.
@Suite struct PrintedTests {
    static let hasGroff = access("/usr/bin/groff", X_OK) == 0
    static let hasBash = access("/bin/bash", X_OK) == 0
    static let hasZsh = access("/usr/bin/zsh", X_OK) == 0
    static let hasFish = access("/usr/bin/fish", X_OK) == 0

    /// Returns the output of a command that reads a text from standard input.
    private static func output(of command: String, reading text: String) -> String {
        var template = Array("/tmp/ccsd-printed-XXXXXX".utf8CString)
        let descriptor = mkstemp(&template)
        guard descriptor >= 0 else { return "cannot make a file" }
        let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        defer { unlink(path) }
        let bytes = Array(text.utf8)
        _ = write(descriptor, bytes, bytes.count)
        close(descriptor)
        return SourceTree.output(of: "\(command) < \(path)").text
    }

    private static func script(_ shell: String) -> String { Completion.script(shell: shell) ?? "" }

    /// Returns the completions by bash of the last word of a line.
    private static func offered(_ line: String) -> [String] {
        let words = line.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        let function = "_" + words[0].map { $0 == "-" ? "_" : "\($0)" }.joined()
        let quoted = words.map { "'\($0)'" }.joined(separator: " ")
        let script =
            script("bash")
            + "COMP_WORDS=(\(quoted)); COMP_CWORD=\(words.count - 1); \(function); echo \"${COMPREPLY[*]}\"\n"
        return output(of: "/bin/bash -u", reading: script).split { $0 == " " || $0 == "\n" }.map(String.init)
    }

    /// Returns the completions by zsh of the last word of a line; the functions of its completion system print in place of it.
    private static func offeredByZsh(_ line: String) -> [String] {
        let words = line.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        let function = "_complete_" + words[0].map { $0 == "-" ? "_" : "\($0)" }.joined()
        let stubs = """
            compdef() { : }
            _files() { print -- FILES }
            _message() { print -r -- "<$1>" }
            _describe() {
                local item
                for item in "${(@P)argv[-1]}"; do
                    [[ ${item%%:*} == ${words[CURRENT]}* ]] && print -r -- ${item%%:*}
                done
                return 0
            }

            """
        let quoted = words.map { "'\($0)'" }.joined(separator: " ")
        let call = "words=(\(quoted)); CURRENT=\(words.count); \(function)\n"
        return output(of: "/usr/bin/zsh -f", reading: stubs + script("zsh") + call)
            .split(separator: "\n").map(String.init)
    }

    /// Returns the completions by fish of the last word of a line, without their descriptions.
    private static func offeredByFish(_ line: String) -> [String] {
        output(of: "/usr/bin/fish --no-config", reading: script("fish") + "complete -C '\(line)'\n")
            .split(separator: "\n").map { String($0.prefix { $0 != "\t" }) }
    }

    @Test("groff formats the manual pages without warnings", .enabled(if: hasGroff, "groff is not installed"))
    func manualPages() {
        for program in Program.all {
            #expect(
                Self.output(of: "groff -man -Tascii -ww -z", reading: ManPage.text(program)) == "",
                "\(program.name)")
        }
    }

    @Test(
        "bash completes commands, options and values", .enabled(if: hasBash, "bash is not installed"))
    func completion() {
        #expect(Self.offered("ccsctl se") == ["sessions", "send", "senders", "service-accounts"])
        #expect(
            Self.offered("ccsctl senders ") == [
                "add", "list", "suspend", "resume", "stats", "rotate-key", "remove", "webhook",
            ])
        #expect(Self.offered("ccsctl --socket x devices ") == ["list", "show", "trace", "forget"])
        #expect(Self.offered("ccsctl senders add --key") == ["--key-file", "--key-stdin"])
        #expect(Self.offered("ccsctl man ccs-") == ["ccs-device", "ccs-bench"])
        #expect(Self.offered("ccsctl send --priority ") == ["normal", "high"])
        #expect(Self.offered("ccsd --log-level w") == ["warning"])
        #expect(Self.offered("ccsd c") == ["check"])
        #expect(Self.offered("ccsd --nothing") == [])
    }

    @Test(
        "zsh completes commands, options and values", .enabled(if: hasZsh, "zsh is not installed"))
    func zshCompletion() {
        #expect(Self.offeredByZsh("ccsctl se") == ["sessions", "send", "senders", "service-accounts"])
        #expect(Self.offeredByZsh("ccsctl --socket x senders r") == ["resume", "rotate-key", "remove"])
        #expect(Self.offeredByZsh("ccsctl senders add --key") == ["--key-file", "--key-stdin"])
        #expect(Self.offeredByZsh("ccsctl man ccs-") == ["ccs-device", "ccs-bench"])
        #expect(Self.offeredByZsh("ccsctl send --priority n") == ["normal"])
        #expect(Self.offeredByZsh("ccsctl --socket ") == ["FILES"])
        #expect(Self.offeredByZsh("ccs-device listen --sender ") == ["<ID>"])
        #expect(Self.offeredByZsh("ccsd --log-level w") == ["warning"])
        #expect(Self.offeredByZsh("ccsd --nothing") == [])
    }

    @Test(
        "fish completes commands, options and values", .enabled(if: hasFish, "fish is not installed"))
    func fishCompletion() {
        #expect(
            Set(Self.offeredByFish("ccsctl se")) == ["sessions", "send", "senders", "service-accounts"])
        #expect(Set(Self.offeredByFish("ccsctl --socket x senders r")) == ["resume", "rotate-key", "remove"])
        #expect(Set(Self.offeredByFish("ccsctl senders add --key")) == ["--key-file", "--key-stdin"])
        #expect(Set(Self.offeredByFish("ccsctl man ccs-")) == ["ccs-device", "ccs-bench"])
        #expect(Self.offeredByFish("ccsctl send --priority n") == ["normal"])
        #expect(Self.offeredByFish("ccsd --log-level w") == ["warning"])
        #expect(Self.offeredByFish("ccsd c") == ["check"])
        #expect(Self.offeredByFish("ccsctl senders add --device") == [])
    }

    @Test(
        "canary: zsh and fish report a wrong script",
        .enabled(if: hasZsh && hasFish, "zsh or fish is not installed"))
    func shellCanary() {
        #expect(Self.output(of: "/usr/bin/zsh -n", reading: "case x in\n") != "")
        #expect(Self.output(of: "/usr/bin/fish --no-execute", reading: "function x\n") != "")
        #expect(Self.output(of: "/usr/bin/zsh -n", reading: Self.script("zsh")) == "")
        #expect(Self.output(of: "/usr/bin/fish --no-execute", reading: Self.script("fish")) == "")
    }

    @Test(
        "canary: groff and bash report a wrong page and a wrong script",
        .enabled(if: hasGroff && hasBash, "groff or bash is not installed"))
    func canary() {
        #expect(Self.output(of: "groff -man -Tascii -ww -z", reading: ".TH A 1\n.nonsense\n") != "")
        #expect(Self.output(of: "/bin/bash -n", reading: "case x in\n") != "")
    }
}
