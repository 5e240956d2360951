import Basics
import Catalogue
import Glibc
import Transport

/// What all measurements share: the generator's reactor, the scratch folder, and how things are told.
final class Bench {
    let invocation: Invocation
    let reactor: Reactor
    let tls: TLSClientSettings
    /// Folder of everything that a run leaves behind; removed at its end, unless it is evidence.
    let scratch: String
    /// Whether that stays: the log and the store of what failed say why.
    var keepsScratch = false
    let progress: Progress
    /// What gives lanes their messages while the reactor turns.
    var feeders: [Feeder] = []
    private let signals: Signals
    /// Programs that were started, to be ended also when the bench is interrupted.
    private var children: [Child] = []

    init(_ invocation: Invocation) throws(BenchError) {
        self.invocation = invocation
        do throws(TransportError) {
            signals = try Signals()
            reactor = try Reactor(index: 0)
            // Loopback, and a certificate made a moment ago: nothing is won by verifying it.
            tls = try TLSClientSettings(trust: .anyone)
        } catch { throw BenchError(error.description) }
        let place = invocation.text("--directory") ?? "/var/tmp"
        var template = (place + "/ccs-bench-XXXXXX").utf8CString.map { $0 }
        guard let made = unsafe mkdtemp(&template) else {
            throw BenchError("cannot make a folder in \(place)", code: .inputOutput)
        }
        scratch = unsafe String(cString: made)
        progress = Progress(isWanted: isatty(2) == 1 && !invocation.has("--json"))
        DescriptorLimit.raise()
        do throws(TransportError) {
            try reactor.watch(signals.descriptor) { [unowned self] _ in interrupted() }
        } catch { throw BenchError(error.description) }
    }

    /// Whether any program was started: else the folder is empty.
    var hasStarted: Bool { !children.isEmpty }

    /// Starts a program that ends with the bench.
    func start(_ program: String, _ arguments: [String], log: String) throws(BenchError) -> Child {
        let child = try Child(self.program(program), arguments, errorFile: "\(scratch)/\(log)")
        children.append(child)
        return child
    }

    /// Ctrl-C or a time limit: nothing is left behind.
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

    /// Seconds to measure.
    var seconds: Int { invocation.integer("--seconds") ?? 10 }
    /// App server connections.
    var connections: Int { invocation.integer("--connections") ?? 1 }
    /// Messages on their way on each connection.
    var window: Int { invocation.integer("--window") ?? 100 }
    /// Devices.
    var deviceCount: Int { invocation.integer("--devices") ?? 100 }
    /// Bytes of a stanza.
    var size: Int { invocation.integer("--size") ?? 374 }
    /// Threads of ccsd that serve connections.
    var reactors: Int { invocation.integer("--reactors") ?? 1 }

    /// Devices that are connected all at once: as many as were wanted, where the server may have so many.
    func crowd(_ usual: Int) throws(BenchError) -> Int {
        let count = invocation.integer("--devices") ?? usual
        let limit = DescriptorLimit.raise()
        let room = limit - Limits.Connection.descriptorsKept
        guard count <= room else {
            throw BenchError(
                "--devices \(count): a program may have \(limit) descriptors here, so at most \(room) devices are connected at once; raise the hard limit (ulimit -Hn)"
            )
        }
        return count
    }

    /// Whether messages that are sent at once share a TLS record; else each has one of its own.
    var writesBatches: Bool { invocation.has("--batches") }

    /// Gives a server of one thread the first processor, and the generator the last, as far as the machine allows.
    func separate(_ target: any Server) {
        guard Processor.count > 1, reactors == 1 else { return }
        for thread in ProcessProbe(process: target.process).threads {
            if let number = Int32(thread) { Processor.pin(process: number, to: 0) }
        }
        Processor.pin(process: 0, to: Processor.count - 1)
    }

    /// A program that lies beside this one, or the ccsd that was asked for.
    func program(_ name: String) -> String {
        if name.hasPrefix("/") { return name }
        if name == "ccsd", let given = invocation.text("--ccsd") { return given }
        var room = [CChar](repeating: 0, count: 4_096)
        let length = unsafe readlink("/proc/self/exe", &room, room.count - 1)
        let own = String(decoding: room.prefix(max(0, length)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let folder = own.lastIndex(of: "/").map { String(own[...$0]) } ?? "./"
        return folder + name
    }

    /// Turns the reactor until something holds; false if it does not within so many seconds.
    func turn(seconds: Int, until isDone: () -> Bool) -> Bool {
        let end = Now.read().monotonic.advanced(seconds: seconds)
        while !isDone() {
            guard Now.read().monotonic < end else { return false }
            turn(waitMilliseconds: 20)
        }
        return true
    }

    /// One turn, which ends in time for the next message that is due.
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

    /// As long as the generator may be late at most without being a part of what it measures.
    private static let napNanoseconds: Int64 = 50_000

    /// Turns the reactor for so long, and says how far it is.
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

    /// Removes a folder and what is in it.
    private static func remove(_ path: String) {
        for name in Folder.names(in: path) {
            let inner = path + "/" + name
            if unsafe unlink(inner) != 0 { remove(inner) }
        }
        _ = unsafe rmdir(path)
    }
}
