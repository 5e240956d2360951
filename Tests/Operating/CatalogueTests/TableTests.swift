import Basics
import Operator
import Testing

@testable import Catalogue

@Suite struct TableTests {
    @Test("every key has an entry whose default has the type and range of the key")
    func keys() throws {
        for key in ConfigKey.allCases {
            let entry = key.entry
            #expect(!entry.help.isEmpty && !entry.reason.isEmpty, "\(key)")
            #expect(entry.help.hasSuffix("."), "\(key)")
            if case .list(let items) = entry.preset {
                #expect(try key.value(of: items) == entry.preset)
            } else {
                #expect(try key.value(of: entry.preset.plain) == entry.preset, "\(key)")
            }
        }
    }

    @Test("commands have unique names, help, and unambiguous arguments")
    func commands() {
        for program in Program.all {
            #expect(Set(program.commands.map(\.name)).count == program.commands.count)
            for command in program.commands {
                let place = "\(program.name) \(command.name)"
                #expect(command.summary.hasSuffix("."), "\(place)")
                let names = (command.options + program.options + Program.common).map(\.name)
                #expect(Set(names).count == names.count, "\(place)")
                #expect(names.allSatisfy { $0.hasPrefix("--") }, "\(place)")
                let optional = command.arguments.map(\.isOptional)
                #expect(
                    optional == optional.sorted { !$0 && $1 },
                    "\(place): an optional argument before a required one")
                #expect(command.arguments.dropLast().allSatisfy { !$0.isRepeatable }, "\(place)")
                #expect(
                    !command.arguments.contains {
                        $0.name.lowercased().contains("key=") && $0.name.contains("SERVER")
                    })
            }
            for other in program.commands {
                #expect(
                    !program.commands.contains {
                        $0.words.count > other.words.count && !other.words.isEmpty
                            && $0.words.starts(with: other.words)
                    })
            }
        }
    }

    @Test("the examples of all programs are valid command lines")
    func examples() {
        for program in Program.all {
            for example in program.examples + program.commands.flatMap(\.examples) {
                let words = example.line.split { " <(".contains($0) }.map(String.init)
                guard let start = words.firstIndex(of: program.name) else {
                    Issue.record("\(example.line) does not run \(program.name)")
                    continue
                }
                let end = words.firstIndex(of: "|") ?? words.count
                let arguments = words[(start + 1)..<end].map {
                    $0.hasSuffix(")") ? String($0.dropLast()) : $0
                }
                #expect(throws: Never.self, "\(example.line)") {
                    _ = try ArgumentParser.parse(arguments, for: program)
                }
            }
        }
    }

    @Test("the glossary explains every word of the code in the same order")
    func glossary() {
        #expect(Glossary.refusals.map(\.word) == Metric.refusalWords)
        #expect((Glossary.refusals + Glossary.earlyRefusals).map(\.word) == Metric.refusalReasons)
        #expect(Glossary.milestones.map(\.word) == Metric.milestones)
        for reason in CloseReason.allCases {
            #expect(Glossary.meanings(of: reason.rawValue).contains { $0.kind == "close reason" })
        }
        for reason in ConnectionRefusal.allCases {
            #expect(Glossary.meanings(of: reason.rawValue).contains { $0.kind == "refusal of a connection" })
        }
        for alert in Alert.all {
            let found = Glossary.meanings(of: alert.name)
            #expect(found.contains { $0.kind.hasPrefix("alert") }, "\(alert.name)")
            #expect(found.allSatisfy { !$0.meaning.contains("{{") }, "\(alert.name)")
        }
        for cause in CheckHealth.Cause.allCases {
            #expect(Glossary.meanings(of: cause.rawValue).contains { $0.kind == "cause of health" })
        }
        #expect(Glossary.meanings(of: "reload_failed").contains { $0.kind == "log event" })
        #expect(Set(LogEventMeaning.all.map(\.word)).count == LogEventMeaning.all.count)
        #expect(Glossary.entries.allSatisfy { !$0.meaning.isEmpty })
        #expect(Glossary.nearest("slow_consumr") == "slow_consumer")
        #expect(Glossary.meanings(of: "nonsense").isEmpty)
    }

    @Test("canary: an example with a wrong option is refused")
    func canary() {
        #expect(throws: UsageError.self) {
            _ = try ArgumentParser.parse(["status", "--jason"], for: .ccsctl)
        }
    }
}
