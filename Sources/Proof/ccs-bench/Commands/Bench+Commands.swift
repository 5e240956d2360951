import Catalogue

/// The entry point of all commands.
extension Bench {
    /// Runs the command of the command line.
    func run() throws(BenchError) { try run { () throws(BenchError) in try measure() } }

    /// Runs a measurement, and keeps the scratch folder if it fails.
    func run(_ measure: () throws(BenchError) -> Void) throws(BenchError) {
        do throws(BenchError) {
            try measure()
        } catch {
            guard hasStarted else { throw error }
            keepsScratch = true
            throw BenchError(
                "\(error); the log and the store are kept in \(scratch)", code: error.code)
        }
    }

    private func measure() throws(BenchError) {
        switch invocation.command.name {
        case "down": try down()
        case "up": try up()
        case "both": try both()
        case "durable": try durable()
        case "http": try http()
        case "login": try login()
        case "offline": try offline()
        case "fanout": try fanout()
        case "relay": try relay()
        case "apns": try apns()
        case "cluster": try cluster()
        case "consoles": try consoles()
        case "flat": try flat()
        case "idle": try idle()
        case "history": try history()
        case "restart": try restart()
        case "backup": try backup()
        case "attack": try attack()
        case "soak": try soak()
        case "simulate": try simulate()
        default: throw BenchError("unknown command", code: .software)
        }
    }
}
