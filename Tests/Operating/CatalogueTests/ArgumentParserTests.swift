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
                    Option("--maybe", .boolean, "", "Maybe."),
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

    @Test("options are accepted before, between and after the words, with a space or an equals sign")
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

    @Test("words after two dashes, and a single dash, are arguments")
    func endOfOptions() throws {
        #expect(try Self.run("things add -- --size -h").arguments == ["--size", "-h"])
        #expect(try Self.run("things add -").arguments == ["-"])
        #expect(try Self.run("things add things list").arguments == ["things", "list"])
    }

    @Test("flags, repeated options and boolean values are parsed")
    func kinds() throws {
        let invocation = try Self.run("things add box --loud --tag a --tag=b --maybe")
        #expect(invocation.has("--loud"))
        #expect(invocation.texts("--tag") == ["a", "b"])
        #expect(invocation.has("--maybe"))
        #expect(!(try Self.run("things add box --maybe=false").has("--maybe")))
        #expect(try Self.run("things add box --tag a=b=c").text("--tag") == "a=b=c")
    }

    @Test(
        "a usage error names the mistake and suggests a fix",
        arguments: [
            ("", "a command is missing", "tool --help lists the commands"),
            ("things", "incomplete command \"things\"", "expected one of: things add, things list"),
            ("thigns add", "unknown command \"thigns\"", "did you mean \"things add\"?"),
            ("things ad", "unknown command \"things ad\"", "did you mean \"things add\"?"),
            ("psuh", "unknown command \"psuh\"", "did you mean \"push\"?"),
            ("zzzzz", "unknown command \"zzzzz\"", "tool --help lists the commands"),
            ("things list --jsno", "--jsno is not an option of \"things list\"", "did you mean --json?"),
            (
                "things list --zzzzzz", "--zzzzzz is not an option of \"things list\"",
                "tool things list --help lists the options"
            ),
            ("things list --json=1", "--json takes no value", "write --json alone"),
            ("things list --socket", "--socket needs a value", "write --socket PATH"),
            ("things list --socket=", "--socket is empty", "write --socket PATH"),
            ("things add box --size", "--size needs a value", "write --size N"),
            (
                "things add box --size 0", "invalid --size \"0\": out of range",
                "expected a whole number from 1 to 10"
            ),
            (
                "things add box --size 99999999999999999999",
                "invalid --size \"99999999999999999999\": out of range",
                "expected a whole number from 1 to 10"
            ),
            (
                "things add box --size x", "invalid --size \"x\": not a whole number",
                "expected a whole number from 1 to 10"
            ),
            (
                "things add box --color rde", "invalid --color \"rde\"",
                "did you mean red? expected one of red, green"
            ),
            ("things add box --maybe=1", "invalid --maybe \"1\"", "expected true or false"),
            ("things add box --size 1 --size 2", "--size is given twice", "give it once"),
            ("things add", "NAME is missing", "NAME: A name."),
            (
                "things list box", "unexpected argument \"box\": \"things list\" takes none",
                "tool things list --help lists the options"
            ),
            ("push", "--to is missing", "write --to WHERE: Where."),
            (
                "push --to x --size 3", "--size is not an option of \"push\"",
                "tool push --help lists the options"
            ),
            (
                "--size 3 push --to x", "--size is not an option of \"push\"",
                "tool push --help lists the options"
            ),
            ("paint wal", "invalid WHAT \"wal\"", "did you mean wall? expected one of wall, door"),
            ("paint wall door", "unexpected argument \"door\"", "tool paint --help lists the options"),
            ("-x", "-x is not an option", "tool --help lists the options"),
        ])
    func mistakes(line: String, problem: String, hint: String) {
        #expect(Self.problem(line) == [problem, hint])
    }

    @Test("help and version are printed wherever they are given")
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
        #expect(text == "ccsd \(Program.versionAndCommit)\n")
    }

    @Test("the daemon accepts every config key as a flag")
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
        #expect(Self.problem("chekc", .ccsd) == ["unknown command \"chekc\"", "did you mean \"check\"?"])
        #expect(Self.problem("run", .ccsd).first == "unknown command \"run\"")
        #expect(try Self.run("check --strict-acks", .ccsd).has("--strict-acks"))
    }

    @Test("random command lines never trap, and every usage error has a problem and a hint")
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

    @Test("canary: a parser that accepted anything would fail")
    func canary() {
        #expect(Self.problem("things add box --size 3") == [])
        #expect(Self.problem("things add box --size 11") != [])
    }
}
