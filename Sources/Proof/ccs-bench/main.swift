import Catalogue
import Glibc

do {
    switch try ArgumentParser.parse(Array(CommandLine.arguments.dropFirst()), for: .ccsBench) {
    case .print(let text): Terminal.print(text)
    case .run(let invocation): try Bench(invocation).run()
    }
} catch let error as UsageError {
    Terminal.error(error.lines.joined(separator: "\n") + "\n")
    exit(ExitCode.usage.rawValue)
} catch {
    Terminal.error("ccs-bench: \(error)\n")
    exit(((error as? BenchError)?.code ?? .software).rawValue)
}
