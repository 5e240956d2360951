import Basics
import Catalogue
import Client
import Glibc
import Operator
import Reference
import RocksStore
import Transport
import Wire

/// The program `ccsd`: its command line, its signals, its exit codes.
public enum DaemonProgram {
    /// Runs the daemon with an argument vector whose first element is the program's name. Returns the exit code.
    ///
    /// A vector without a name comes from a broken or hostile caller whose arguments may be lost; without arguments a new server
    /// would start. Linux since 5.18 puts an empty name into an empty vector.
    public static func run(vector: [String]) -> Int32 {
        StandardOutput.begin()
        guard let name = vector.first, !name.isEmpty else {
            Console.error("ccsd: empty argument vector: expected the program's name first")
            Console.error("      start ccsd from a shell or a service manager")
            return ExitCode.usage.rawValue
        }
        var refused = RefusedStart(ConfigurationSource())
        let code = run(Array(vector.dropFirst()), &refused)
        if code == ExitCode.configuration.rawValue || code == ExitCode.usage.rawValue {
            refused?.wait(vector: vector)
        }
        return StandardOutput.end(code, of: "ccsd", margin: "      ")
    }

    private static func run(_ arguments: [String], _ refused: inout RefusedStart?) -> Int32 {
        let invocation: Invocation
        do {
            switch try ArgumentParser.parse(arguments, for: .ccsd) {
            case .print(let text):
                StandardOutput.write(text)
                return ExitCode.success.rawValue
            case .run(let wanted): invocation = wanted
            }
        } catch {
            for line in error.lines { Console.error(line) }
            return ExitCode.usage.rawValue
        }
        guard invocation.command.name != "openapi" else {
            Console.print(
                invocation.arguments.first == "operator"
                    ? OperatorOpenAPI.document(version: Program.version).compact
                    : String(decoding: OpenAPI.document(version: Program.version), as: UTF8.self))
            return ExitCode.success.rawValue
        }
        guard invocation.command.name != "reference" else {
            StandardOutput.write(reference(of: invocation.arguments[0]))
            return ExitCode.success.rawValue
        }
        let source = ConfigurationSource(
            file: invocation.text("--config") ?? Environment.value("CCSD_CONFIG"),
            environment: Environment.all,
            flags: Program.configFlags(of: invocation))
        refused = RefusedStart(source)
        guard invocation.command.name != "check" || invocation.has("--store") else {
            return check(source, isJSON: invocation.has("--json"))
        }
        let configuration: LocatedConfiguration
        do { configuration = try source.load() } catch {
            for line in error.lines { Console.error(line) }
            return ExitCode.configuration.rawValue
        }
        return switch invocation.command.name {
        case "check":
            StoreCheckProgram(configuration: configuration.values).run(isJSON: invocation.has("--json"))
                .rawValue
        case "accept-loss": acceptLoss(configuration.values)
        case "leave-cluster": leaveCluster(configuration.values)
        case "restore": restore(configuration.values, invocation)
        default: serve(configuration, source)
        }
    }

    /// Returns the reference of an interface in Markdown.
    private static func reference(of interface: String) -> String {
        func meaning(_ word: String) -> String {
            Glossary.meanings(of: word).first { $0.kind == "refusal" }?.meaning ?? ""
        }
        return interface == "http"
            ? HTTPReference.text(meaning: meaning) : XMPPReference.text(meaning: meaning)
    }

    private static func acceptLoss(_ configuration: Configuration) -> Int32 {
        do {
            guard let lost = try RocksStore.acceptLoss(path: configuration.storePath) else {
                Console.print("No loss was found in the store in \(configuration.storePath).")
                return ExitCode.success.rawValue
            }
            Console.print(
                "The loss of commits \(lost.first) to \(lost.last) of the store in \(configuration.storePath) is accepted."
            )
            return ExitCode.success.rawValue
        } catch {
            let failure = StartupFailure(error, opening: configuration)
            Console.error("ccsd: \(failure.text)")
            Console.error("      \(failure.hint)")
            return failure.exitCode.rawValue
        }
    }

    private static func leaveCluster(_ configuration: Configuration) -> Int32 {
        guard SmallFile.stamp(configuration.storePath) != nil else {
            Console.error("ccsd: there is no store in \(configuration.storePath)")
            Console.error("      give the options of the daemon, such as --data-directory or --config")
            return ExitCode.inputOutput.rawValue
        }
        do {
            let store = try RocksStore(
                path: configuration.storePath,
                partitions: configuration.storePartitions ?? Limits.Partition.count)
            let kept = try store.setting(Startup.clusterSetting) ?? []
            if !kept.isEmpty { try store.setSetting(Startup.clusterSetting, []) }
            try store.close()
            let name = String(decoding: kept, as: UTF8.self)
            Console.print(
                kept.isEmpty
                    ? "The store in \(configuration.storePath) belongs to no cluster."
                    : "The store in \(configuration.storePath) has left the cluster \(name)."
            )
            return ExitCode.success.rawValue
        } catch {
            let failure = StartupFailure(error, opening: configuration)
            Console.error("ccsd: \(failure.text)")
            Console.error("      \(failure.hint)")
            return failure.exitCode.rawValue
        }
    }

    private static func restore(_ configuration: Configuration, _ invocation: Invocation) -> Int32 {
        let restore = Restore(
            folder: invocation.arguments[0], dataDirectory: configuration.dataDirectory,
            replaces: invocation.has("--replace"), verifies: invocation.has("--verify"),
            now: Now.read().wall)
        return RestoreProgram(restore: restore).run().rawValue
    }

    private static func check(_ source: ConfigurationSource, isJSON: Bool) -> Int32 {
        let report = source.check()
        if isJSON {
            Console.print(report.answer.json.compact)
        } else {
            for line in report.lines { Console.error(line) }
            if report.isSound { Console.print("\(source.file ?? "the configuration") is valid.") }
        }
        return (report.isSound ? ExitCode.success : ExitCode.configuration).rawValue
    }

    private static func serve(_ located: LocatedConfiguration, _ source: ConfigurationSource) -> Int32 {
        let configuration = located.values
        let log = Log.standardError(level: configuration.logLevel, format: configuration.logFormat)
        let notify = SystemdNotify()
        do {
            try secrecy()
            // Before any thread starts: threads inherit the mask, and signals are read from one descriptor.
            let signals = try signals()
            var startup = Startup(configuration: located, source: source, log: log)
            let (daemon, greeting) = try startup.run()
            if source.file == nil, !notify.isWanted { greeting.show(daemon) }
            log.notice(
                "started",
                [
                    "version": .text(Program.version), "reactors": LogValue(configuration.reactorCount),
                    "data_directory": .text(configuration.dataDirectory),
                    "listeners": .text(daemon.listenersText),
                ])
            notify.ready(status: "serving \(daemon.listenersText)")
            return watch(daemon, signals, notify)
        } catch {
            Console.error("ccsd: \(error.text)")
            if !error.hint.isEmpty { Console.error("      \(error.hint)") }
            return error.exitCode.rawValue
        }
    }

    private static func secrecy() throws(StartupFailure) {
        do { try ProcessSecrecy.begin() } catch {
            throw StartupFailure(text: error.description, hint: "", exitCode: .software)
        }
    }

    private static func signals() throws(StartupFailure) -> Signals {
        do { return try Signals() } catch {
            throw StartupFailure(text: error.description, hint: "", exitCode: .software)
        }
    }

    /// Runs the main thread's loop, which handles signals and the watchdog.
    private static func watch(_ daemon: Daemon, _ signals: borrowing Signals, _ notify: SystemdNotify)
        -> Int32
    {
        let turn = min(
            notify.watchdogMilliseconds.map { $0 / 3 } ?? .max, Limits.Shutdown.mainTurnMilliseconds)
        var nextCheck = Now.read().monotonic
        var memory = FreeMemory()
        var shown = ServiceWord.serving
        while true {
            switch signals.wait(milliseconds: turn) {
            case .reload: _ = try? daemon.reload()
            case .terminate, .interrupt: return end(daemon, signals, notify)
            case nil: break
            }
            let reading = Now.read()
            let now = reading.monotonic
            let word = daemon.drainer.state.word
            if word != shown {
                notify.status("\(word.rawValue) \(daemon.listenersText)")
                shown = word
            }
            daemon.log.flushRepeated()
            daemon.commandRecords.reportLeftOut(now: reading)
            daemon.logLevel.endIfDue(configured: daemon.configuration.logLevel, now: now)
            if now >= nextCheck {
                daemon.checkCertificates()
                // With a wrong clock every certificate seems to have expired, or none ever.
                if daemon.clock.current == nil {
                    daemon.gateways.credentials.warnOfExpiry(now: reading.wall)
                }
                memory.returnToSystem()
                nextCheck = now.advanced(seconds: Limits.Certificate.checkSeconds)
            }
            // If a reactor does not answer, systemd must restart the daemon.
            if notify.watchdogMilliseconds != nil, daemon.isAlive { notify.alive() }
        }
    }

    /// Stops the daemon. Returns the exit code: another one than after an ordinary end if it is to be started again.
    private static func end(_ daemon: Daemon, _ signals: borrowing Signals, _ notify: SystemdNotify) -> Int32
    {
        let code = stop(daemon, signals, notify)
        let isWanted = daemon.core.cluster?.restart.isMade ?? false
        return isWanted && code == ExitCode.success.rawValue ? ExitCode.restart.rawValue : code
    }

    private static func stop(_ daemon: Daemon, _ signals: borrowing Signals, _ notify: SystemdNotify) -> Int32
    {
        let end = Latch<ExitCode>()
        do {
            try Threads.start(name: "shutdown") { end.fulfil(Shutdown(daemon: daemon, notify: notify).run()) }
        } catch { return Shutdown(daemon: daemon, notify: notify).run().rawValue }
        let last = Now.read().monotonic.advanced(
            seconds: daemon.configuration.shutdownSeconds + Limits.Shutdown.slackSeconds)
        while Now.read().monotonic < last {
            if let code = end.wait(milliseconds: 0) { return code.rawValue }
            if let signal = signals.wait(milliseconds: Limits.Shutdown.drainPollMilliseconds),
                signal != .reload
            {
                daemon.log.notice("drain_cut_short")
                daemon.drainer.cutShort()
            }
            if notify.watchdogMilliseconds != nil { notify.alive() }
        }
        daemon.log.error("shutdown_timed_out")
        return ExitCode.software.rawValue
    }
}
