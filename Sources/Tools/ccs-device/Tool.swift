import Basics
import Catalogue
import Client
import Glibc

/// The entry point of `ccs-device`.
enum Tool {
    /// Runs a command line and returns the exit code.
    static func main(_ arguments: [String]) -> ExitCode {
        do throws(UsageError) {
            switch try ArgumentParser.parse(arguments, for: .ccsDevice) {
            case .print(let text):
                StandardOutput.write(text)
                return .success
            case .run(let invocation): return run(invocation)
            }
        } catch {
            return Output.fail(.usage, error.problem, hint: error.hint, isJSON: wantsJSON(arguments))
        }
    }

    private static func run(_ invocation: Invocation) -> ExitCode {
        do throws(Failure) {
            let scene = try Scene(invocation)
            switch invocation.command.name {
            case "register" where invocation.has("--web"): try RegisterWeb.register(scene)
            case "register": try Register.register(scene)
            case "unregister": try Register.unregister(scene)
            case "listen": return try Listen(scene).run()
            case "send": try Send(scene).run()
            case "many": try Many(scene).run()
            case "converse": try Converse(scene).run()
            case "flap": return try Flap(scene).run()
            // The parser accepts only commands of the Catalogue, and all of them are above.
            default: throw Failure(.software, "the command \"\(invocation.command.name)\" has no code")
            }
            return .success
        } catch {
            return Output.fail(
                ExitCode(rawValue: error.code.rawValue) ?? .failure, error.problem, hint: error.hint,
                isJSON: Output.isJSON(invocation)
                    && !(invocation.has("--print-token") && invocation.text("--json") == nil))
        }
    }

    /// Whether to report an invalid command line as JSON.
    private static func wantsJSON(_ arguments: [String]) -> Bool {
        let options = arguments.prefix { $0 != "--" }
        guard let asked = options.last(where: { $0 == "--json" || $0.hasPrefix("--json=") }) else {
            return !Output.isTerminal
        }
        return asked != "--json=false"
    }
}
