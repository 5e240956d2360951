import Catalogue
import Client
import Wire

/// What `ccsctl` does with its command line.
enum Tool {
    /// Does it; the exit code.
    static func main(_ arguments: [String]) -> ExitCode {
        // Also a line that cannot be read says in which form its answer is wanted.
        let isJSON = arguments.prefix { $0 != "--" }.contains("--json")
        do throws(UsageError) {
            switch try ArgumentParser.parse(arguments, for: .ccsctl) {
            case .print(let text):
                if isJSON { Output.write(["text": .string(text)]) } else { Output.write(text) }
                return .success
            case .run(let invocation): return run(invocation)
            }
        } catch {
            return Output.fail(.usage, error.problem, hint: error.hint, isJSON: isJSON)
        }
    }

    private static func run(_ invocation: Invocation) -> ExitCode {
        if let code = Offline.run(invocation) { return code }
        if invocation.command.name == "check", let file = invocation.arguments.first {
            return CheckFile.run(file, isJSON: invocation.has("--json"))
        }
        do throws(Failure) {
            return try ask(invocation)
        } catch {
            return Output.fail(
                ExitCode(rawValue: error.code.rawValue) ?? .failure, error.problem, hint: error.hint,
                isJSON: invocation.has("--json"))
        }
    }

    /// Asks the daemon and shows its answer.
    private static func ask(_ invocation: Invocation) throws(Failure) -> ExitCode {
        let arguments = try CommandArguments.object(for: invocation)
        let path = try SocketPath.find(invocation.text("--socket"))
        let result =
            invocation.command.name == "service-accounts add"
            ? try ServiceAccountFile.make(invocation, arguments) { full throws(Failure) in
                try answer(to: invocation, full, path)
            } : try answer(to: invocation, arguments, path)
        Output.write(
            invocation.has("--json")
                ? result.compact + "\n" : Report.text(of: result, for: invocation.command.name))
        return verdict(on: result, of: invocation.command.name)
    }

    /// What the daemon answers; its refusal is thrown.
    private static func answer(
        to invocation: Invocation, _ arguments: JSONValue, _ path: String
    ) throws(Failure) -> JSONValue {
        let bar = ProgressBar()
        let answer: ControlAnswer
        do throws(ControlError) {
            var client = try ControlClient(path: path)
            answer = try client.run(
                invocation.command.name, arguments, onProgress: { bar.show($0) },
                onLine: { name, line in
                    bar.finish()
                    let isJSON = invocation.has("--json")
                    Output.write(
                        isJSON
                            ? JSONValue.object([.init(name, line)]).compact + "\n"
                            : TraceReport.text(name, line))
                })
        } catch {
            bar.finish()
            throw Failure(error, path: path)
        }
        bar.finish()
        switch answer {
        case .done(let result): return result
        case .refused(let error, let hint):
            throw Failure(.failure, error, hint: hint)
        }
    }

    /// Some answers say no although the command succeeded.
    static func verdict(on result: JSONValue, of command: String) -> ExitCode {
        switch command {
        case "audit": result["holds"]?.boolean == false ? .failure : .success
        case "check": result["ok"]?.boolean == false ? .configuration : .success
        case "send": result["outcome"]?.text == "nack" ? .failure : .success
        default: .success
        }
    }
}
