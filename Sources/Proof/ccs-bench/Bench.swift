import Basics
import Catalogue
import Glibc
import Transport

/// Shared state of all measurements: the generator's reactor, the scratch directory, and the output.
final class Bench {
    let invocation: Invocation
    let reactor: Reactor
    let tls: TLSClientSettings
    /// Directory of all files of a run; removed at its end, unless it is needed to investigate a failure.
    let scratch: String
    /// Whether the directory is kept: log and store explain a failure.
    var keepsScratch = false
    let progress: Progress
    /// Give messages to lanes while the reactor turns.
    var feeders: [Feeder] = []
    private let signals: Signals
    /// Started programs, which are also ended if the bench is interrupted.
    private var children: [Child] = []

    init(_ invocation: Invocation) throws(BenchError) {
        self.invocation = invocation
        do throws(TransportError) {
            signals = try Signals()
            reactor = try Reactor(index: 0)
            // Loopback with a certificate made just now: verifying it adds nothing.
            tls = try TLSClientSettings(trust: .anyone)
        } catch { throw BenchError(error.description) }
        let place = invocation.text("--directory") ?? "/var/tmp"
        var template = (place + "/ccs-bench-XXXXXX").utf8CString.map { $0 }
        guard let made = unsafe mkdtemp(&template) else {
            throw BenchError("cannot create a directory in \(place)", code: .inputOutput)
        }
        scratch = unsafe String(cString: made)
        progress = Progress(isWanted: isatty(2) == 1 && !invocation.has("--json"))
        DescriptorLimit.raise()
        do throws(TransportError) {
            try reactor.watch(signals.descriptor) { [unowned self] _ in interrupted() }
        } catch { throw BenchError(error.description) }
    }

    /// Whether any program was started; if not, the scratch directory is empty.
    var hasStarted: Bool { !children.isEmpty }

    /// Starts a program that ends with the bench.
    func start(_ program: String, _ arguments: [String], log: String) throws(BenchError) -> Child {
        let child = try Child(self.program(program), arguments, errorFile: "\(scratch)/\(log)")
        children.append(child)
        return child
    }

    /// Ends all programs and removes the scratch directory, after Ctrl-C or a time limit.
    private func interrupted() {
        progress.clear()
        for child in children { child.end() }
        Self.remove(scratch)
        exit(ExitCode.failure.rawValue)
    }

    deinit {
        for child in children { child.end() }
        reactor.end()
        if !keepsScratch { Self.remove(scratch) }
    }

    /// Duration of a measurement in seconds.
    var seconds: Int { invocation.integer("--seconds") ?? 10 }
    /// Number of app server connections.
    var connections: Int { invocation.integer("--connections") ?? 1 }
    /// Unacknowledged messages on each connection.
    var window: Int { invocation.integer("--window") ?? 100 }
    /// Number of devices.
    var deviceCount: Int { invocation.integer("--devices") ?? 100 }
    /// Size of a stanza in bytes.
    var size: Int { invocation.integer("--size") ?? 374 }
    /// Number of ccsd's reactors.
    var reactors: Int { invocation.integer("--reactors") ?? 1 }

    /// Returns the number of devices to connect at once. Throws if the server cannot have that many.
    func crowd(_ usual: Int) throws(BenchError) -> Int {
        let count = invocation.integer("--devices") ?? usual
        let limit = DescriptorLimit.raise()
        let room = limit - Limits.Connection.reservedDescriptors
        guard count <= room else {
            throw BenchError(
                "invalid --devices \(count): expected at most \(room), since a process may have \(limit) descriptors; raise the hard limit (ulimit -Hn)"
            )
        }
        return count
    }

    /// Whether messages sent together share a TLS record; otherwise each has its own.
    var writesBatches = false

    /// Returns a loopback port that was free a moment ago, for a server that cannot choose one itself.
    static func freePort() throws(BenchError) -> UInt16 {
        do throws(TransportError) {
            return try ListeningSocket(tcp: .loopback(port: 0)).address.port
        } catch { throw BenchError(error.description) }
    }

    /// Pins a single-threaded server to the first processor and the generator to the last, if the machine allows it.
    func separate(_ target: any Server) {
        guard Processor.count > 1, reactors == 1 else { return }
        for thread in target.processes.flatMap({ ProcessProbe(process: $0).threads }) {
            if let number = Int32(thread) { Processor.pin(process: number, to: 0) }
        }
        Processor.pin(process: 0, to: Processor.count - 1)
    }

    /// Returns the path of a program: a name is looked up in the directory of this one, but for the ccsd given by `--ccsd`.
    func program(_ name: String) -> String {
        if name.contains("/") { return name }
        if name == "ccsd", let given = invocation.text("--ccsd") { return given }
        var room = [CChar](repeating: 0, count: 4_096)
        let length = unsafe readlink("/proc/self/exe", &room, room.count - 1)
        let own = String(decoding: room.prefix(max(0, length)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let folder = own.lastIndex(of: "/").map { String(own[...$0]) } ?? "./"
        return folder + name
    }

    /// Turns the reactor until a condition holds. Returns false if it does not within `seconds`.
    func turn(seconds: Int, until isDone: () -> Bool) -> Bool {
        let end = Now.read().monotonic.advanced(seconds: seconds)
        while !isDone() {
            guard Now.read().monotonic < end else { return false }
            turn(waitMilliseconds: 20)
        }
        return true
    }

    /// Runs one turn, which ends in time for the next message that is due.
    func turn(waitMilliseconds: Int) {
        var wait = waitMilliseconds
        if !feeders.isEmpty {
            let now = Now.read()
            for feeder in feeders { feeder.feed(now) }
            let next = feeders.compactMap(\.upcoming).min() ?? .max
            let nanoseconds = max(0, next - now.monotonic.nanoseconds)
            if nanoseconds < Int64(wait) * 1_000_000 {
                wait = Int(nanoseconds / 1_000_000)
                // The reactor waits for whole milliseconds only.
                if wait == 0, nanoseconds > Self.napNanoseconds {
                    _ = usleep(UInt32(Self.napNanoseconds / 1_000))
                }
            }
        }
        reactor.turn(waitMilliseconds: wait)
    }

    /// Tolerated lateness of the generator in nanoseconds, small enough not to show in the measurement.
    private static let napNanoseconds: Int64 = 50_000

    /// Turns the reactor for a time, and shows the progress.
    func run(milliseconds: Int64, _ what: String) {
        let begin = Now.read().monotonic
        var now = begin
        while now.milliseconds(since: begin) < milliseconds {
            for _ in 0..<64 where Now.read().monotonic.milliseconds(since: begin) < milliseconds {
                turn(waitMilliseconds: 5)
            }
            now = Now.read().monotonic
            progress.show(what, Int(now.milliseconds(since: begin)), of: Int(milliseconds))
        }
    }

    /// Removes a directory with its content.
    private static func remove(_ path: String) {
        for name in Folder.names(in: path) {
            let inner = path + "/" + name
            if unsafe unlink(inner) != 0 { remove(inner) }
        }
        _ = unsafe rmdir(path)
    }
}
