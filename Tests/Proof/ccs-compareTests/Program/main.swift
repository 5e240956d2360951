import Catalogue
import Glibc

// Compares ccsd with other servers: further commands for the generator of ccs-bench, whose sources are compiled into it.
do {
    switch try ArgumentParser.parse(Array(CommandLine.arguments.dropFirst()), for: .ccsCompare) {
    case .print(let text): Terminal.print(text)
    case .run(let invocation):
        let bench = try Bench(invocation)
        try bench.run { () throws(BenchError) in try bench.comparison() }
    }
} catch let error as UsageError {
    Terminal.error(error.lines.joined(separator: "\n") + "\n")
    exit(ExitCode.usage.rawValue)
} catch {
    Terminal.error("ccs-compare: \(error)\n")
    exit(((error as? BenchError)?.code ?? .software).rawValue)
}
