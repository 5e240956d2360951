import Testing

@testable import Catalogue

@Suite struct PrintTests {
    @Test("help names every command and option of every program, in lines of at most 100 columns")
    func help() {
        for program in Program.all {
            let text = Help.text(program)
            for option in program.options { #expect(text.contains(option.name), "\(program.name)") }
            for command in program.commands where !command.words.isEmpty {
                #expect(text.contains(command.name))
                let own = Help.text(program, command)
                for option in command.options { #expect(own.contains(option.name)) }
                for argument in command.arguments { #expect(own.contains(argument.name)) }
            }
            for line in text.split(separator: "\n") { #expect(line.count <= 100, "\(line)") }
        }
    }

    @Test("manual pages have all sections and only the expected roff requests")
    func manualPages() {
        for program in Program.all {
            let page = ManPage.text(program)
            for section in [
                "NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXIT STATUS", "EXAMPLES", "SEE ALSO",
            ] {
                #expect(page.contains("\n.SH \(section)\n"), "\(program.name) \(section)")
            }
            for line in page.split(separator: "\n") where line.hasPrefix(".") {
                let request = line.dropFirst().prefix { $0 != " " }
                #expect(
                    ["TH", "SH", "SS", "TP", "PP", "BR", "nf", "fi", "RS", "RE"].contains(String(request)),
                    "\(line)")
            }
            #expect(!page.contains("\n'"))
            #expect(page.utf8.allSatisfy { $0 < 0x80 }, "\(program.name): not ASCII")
        }
    }

    @Test("the completion script has every option and registers every program")
    func completion() {
        let script = Completion.bash()
        for program in Program.all {
            #expect(
                script.contains(
                    "complete -F _\(program.name.map { $0 == "-" ? "_" : "\($0)" }.joined()) \(program.name)\n"
                ))
            for option in program.options + program.commands.flatMap(\.options) {
                #expect(script.contains(option.name))
            }
        }
    }

    @Test("a script of every shell completes every program and option, and an unknown shell has none")
    func shells() throws {
        for shell in Completion.shells {
            let script = try #require(Completion.script(shell: shell))
            for program in Program.all {
                #expect(script.contains(program.name), "\(shell)")
                for option in program.options + program.commands.flatMap(\.options) {
                    #expect(script.contains(option.name.dropFirst(2)), "\(shell) \(option.name)")
                }
            }
        }
        #expect(Completion.script(shell: "tcsh") == nil)
    }

    @Test("the version has the commit, or the fact that it is unknown")
    func version() {
        #expect(Program.describe("1.2.3", "11992ea7a4e0") == "1.2.3 (commit 11992ea7a4e0)")
        #expect(Program.describe("1.2.3", nil) == "1.2.3 (unknown commit)")
    }

    @Test("the sample and the reference have every key, the sample with its default")
    func configuration() {
        let sample = ConfigPrinter.sample()
        let reference = ConfigPrinter.reference()
        for key in ConfigKey.allCases {
            #expect(
                sample.contains("\(key == .format ? "" : "#")\(key.rawValue): \(key.entry.preset.yaml)\n"))
            #expect(reference.contains("## `\(key.rawValue)`\n"))
        }
        #expect(sample.hasSuffix("\n") && !sample.hasSuffix("\n\n"))
    }

    @Test("text is wrapped at the width, and a longer word gets its own line")
    func wrap() {
        #expect(Wrap.lines("aa bb cc", width: 5) == ["aa bb", "cc"])
        #expect(Wrap.lines("aa bb", width: 5, indent: 2) == ["  aa", "  bb"])
        #expect(Wrap.lines("aaaaaaaa b", width: 3) == ["aaaaaaaa", "b"])
        #expect(Wrap.lines("") == [])
    }

    @Test("canary: text that looks like a roff request is escaped")
    func canary() {
        var program = Program.ccsd
        program.details = [".evil request", "'another"]
        #expect(!ManPage.text(program).contains("\n.evil"))
        #expect(ManPage.text(program).contains("\n\\&.evil"))
        #expect(ManPage.text(program).contains("\n\\&'another"))
    }
}
