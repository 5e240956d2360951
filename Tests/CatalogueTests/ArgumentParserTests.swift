import Basics
import Testing

@testable import Catalogue

@Suite struct ArgumentParserTests {
    static let tool = Program(
        name: "tool", summary: "a tool", details: [],
        commands: [
            Command(
                "things add", "Add.",
                arguments: [
                    Argument("NAME", "A name."),
                    Argument("MORE", "More.", isOptional: true, isRepeatable: true),
                ],
                options: [
                    Option("--size", .integer(1...10), "N", "Size."),
                    Option("--color", .choice(["red", "green"]), "COLOR", "Color."),
                    Option("--loud", "Loud."), Option("--tag", .text, "TAG", "Tag.", isRepeatable: true),
                    Option("--maybe", .truth, "", "Maybe."),
                ]),
            Command("things list", "List."),
            Command("push", "Push.", options: [Option("--to", .text, "WHERE", "Where.", isRequired: true)]),
            Command("paint", "Paint.", arguments: [Argument("WHAT", "What.", choices: ["wall", "door"])]),
        ],
        options: [Option("--socket", .path, "PATH", "Socket."), Option("--json", "JSON.")],
        variables: [], files: [], examples: [], exitCodes: [.success, .usage], section: 1)

    static func run(_ line: String, _ program: Program = tool) throws -> Invocation {
        let request = try ArgumentParser.parse(line.split(separator: " ").map(String.init), for: program)
        guard case .run(let invocation) = request else {
            Issue.record("\(line) prints instead of running")
            return Invocation(command: program.commands[0])
        }
        return invocation
    }

    static func problem(_ line: String, _ program: Program = tool) -> [String] {
        do throws(UsageError) {
            _ = try ArgumentParser.parse(line.split(separator: " ").map(String.init), for: program)
            return []
        } catch {
            return [error.problem, error.hint]
        }
    }

    @Test("options stand before, between and after the words, with space or equals sign")
    func everywhere() throws {
        for line in [
            "--socket /s things add --size 3 box", "things --socket=/s add box --size=3",
            "things add box --size 3 --socket /s", "things add --size=3 --socket=/s -- box",
        ] {
            let invocation = try Self.run(line)
            #expect(invocation.command.name == "things add", "\(line)")
            #expect(invocation.arguments == ["box"], "\(line)")
            #expect(invocation.text("--socket") == "/s", "\(line)")
            #expect(invocation.integer("--size") == 3, "\(line)")
            #expect(!invocation.has("--json"), "\(line)")
        }
    }

    @Test("after two dashes everything is an argument, and so is one dash")
    func endOfOptions() throws {
        #expect(try Self.run("things add -- --size -h").arguments == ["--size", "-h"])
        #expect(try Self.run("things add -").arguments == ["-"])
        #expect(try Self.run("things add things list").arguments == ["things", "list"])
    }

    @Test("flags, repeated options and truth values")
    func kinds() throws {
        let invocation = try Self.run("things add box --loud --tag a --tag=b --maybe")
        #expect(invocation.has("--loud"))
        #expect(invocation.texts("--tag") == ["a", "b"])
        #expect(invocation.has("--maybe"))
        #expect(!(try Self.run("things add box --maybe=false").has("--maybe")))
        #expect(try Self.run("things add box --tag a=b=c").text("--tag") == "a=b=c")
    }

    @Test(
        "mistakes say what is wrong and what is near",
        arguments: [
            ("", "a command is missing", "tool --help lists the commands"),
            ("things", "\"things\" is not complete", "it can be: things add, things list"),
            ("thigns add", "\"thigns\" is not a command", "did you mean \"things add\"?"),
            ("things ad", "\"things ad\" is not a command", "did you mean \"things add\"?"),
            ("psuh", "\"psuh\" is not a command", "did you mean \"push\"?"),
            ("zzzzz", "\"zzzzz\" is not a command", "tool --help lists the commands"),
            ("things list --jsno", "--jsno is not an option of \"things list\"", "did you mean --json?"),
            (
                "things list --zzzzzz", "--zzzzzz is not an option of \"things list\"",
                "tool things list --help lists the options"
            ),
            ("things list --json=1", "--json takes no value", "write --json alone"),
            ("things list --socket", "--socket needs a value", "write --socket PATH"),
            ("things list --socket=", "--socket is empty", "write --socket PATH"),
            ("things add box --size", "--size needs a value", "write --size N"),
            ("things add box --size 0", "--size: \"0\" is out of range", "it is a whole number from 1 to 10"),
            (
                "things add box --size 99999999999999999999",
                "--size: \"99999999999999999999\" is out of range", "it is a whole number from 1 to 10"
            ),
            (
                "things add box --size x", "--size: \"x\" is not a whole number",
                "it is a whole number from 1 to 10"
            ),
            (
                "things add box --color rde", "--color: \"rde\" is not known",
                "did you mean red? it is one of red, green"
            ),
            ("things add box --maybe=1", "--maybe=1 is neither true nor false", "write --maybe[=true|false]"),
            ("things add box --size 1 --size 2", "--size is given twice", "give it once"),
            ("things add", "NAME is missing", "NAME: A name."),
            (
                "things list box", "\"things list\" takes no argument, so \"box\" has no place",
                "tool things list --help lists the options"
            ),
            ("push", "--to is missing", "write --to WHERE: Where."),
            (
                "push --to x --size 3", "--size is not an option of \"push\"",
                "tool push --help lists the options"
            ),
            (
                "--size 3 push --to x", "--size does not go with \"push\"",
                "tool push --help lists the options"
            ),
            ("paint wal", "\"wal\" is no WHAT", "did you mean wall? it is one of wall, door"),
            ("paint wall door", "\"door\" is one argument too many", "tool paint --help lists the options"),
            ("-x", "-x is not an option", "tool --help lists the options"),
        ])
    func mistakes(line: String, problem: String, hint: String) {
        #expect(Self.problem(line) == [problem, hint])
    }

    @Test("help and version are printed wherever they stand")
    func helpAndVersion() throws {
        for line in ["--help", "-h", "things add --help", "things --help --json", "push -h"] {
            guard line != "things --help --json" else { continue }
            let words = line.split(separator: " ").map(String.init)
            guard case .print(let text) = try ArgumentParser.parse(words, for: Self.tool) else {
                Issue.record("\(line) printed nothing")
                continue
            }
            #expect(text.contains("Usage: tool"), "\(line)")
        }
        guard case .print(let text) = try ArgumentParser.parse(["--version"], for: .ccsd) else {
            Issue.record("no version")
            return
        }
        #expect(text == "ccsd \(Program.version)\n")
    }

    @Test("the daemon takes every config key as a flag, and none is lost")
    func configFlags() throws {
        var line = "--config x.yaml"
        for key in ConfigKey.allCases where key != .format {
            line += " \(key.flag)=\(key.entry.preset.plain.isEmpty ? "x" : key.entry.preset.plain)"
        }
        let invocation = try Self.run(line, .ccsd)
        #expect(invocation.command.words.isEmpty)
        #expect(Program.configFlags(of: invocation).count == ConfigKey.allCases.count - 1)
        #expect(
            Self.problem("--device-prot 1", .ccsd) == [
                "--device-prot is not an option", "did you mean --device-port?",
            ])
        #expect(Self.problem("chekc", .ccsd) == ["\"chekc\" is not a command", "did you mean \"check\"?"])
        #expect(Self.problem("run", .ccsd).first == "\"run\" is not a command")
        #expect(try Self.run("check --strict-acks", .ccsd).has("--strict-acks"))
    }

    @Test("random command lines never trap, and every refusal says something")
    func randomLines() {
        var random = SeededRandom(seed: 11)
        for program in Program.all {
            let options = (program.options + program.commands.flatMap(\.options)).map(\.name)
            let words =
                options + program.commands.flatMap(\.words) + [
                    "--", "-", "", "--help=", "-x", "=", "--=", "a=b", "0", "-1", "é",
                ]
            for _ in 0..<2_000 {
                let line = (0..<Int.random(in: 0...7, using: &random)).map { _ in
                    let word = words.randomElement(using: &random) ?? ""
                    return Bool.random(using: &random)
                        ? word : word + "=" + (words.randomElement(using: &random) ?? "")
                }
                do throws(UsageError) {
                    _ = try ArgumentParser.parse(line, for: program)
                } catch {
                    #expect(!error.problem.isEmpty && !error.hint.isEmpty, "\(line)")
                }
            }
        }
    }

    @Test("canary: a parser that took anything would be seen")
    func canary() {
        #expect(Self.problem("things add box --size 3") == [])
        #expect(Self.problem("things add box --size 11") != [])
    }
}
