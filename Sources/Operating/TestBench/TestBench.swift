public import Basics
public import Transport

/// The test bench as other threads see it: it runs on a thread of its own and takes jobs of all others.
public final class TestBench: Sendable {
    /// A job for the thread.
    public typealias Job = @Sendable (BenchHost) -> Void

    private let mailbox: ThreadMailbox<ThreadJobs<BenchHost>>

    /// Creates a test bench that runs on the thread of this reactor.
    public init(handle: ReactorHandle) { mailbox = ThreadMailbox(waking: handle) }

    /// Runs a job on the thread of the test bench; can be called on any thread.
    public func post(_ job: @escaping Job) { mailbox.post(job) }

    /// Runs the reactor on the calling thread until it is stopped.
    public func run(_ reactor: Reactor, _ settings: BenchHost.Settings, _ log: Log) {
        let host = BenchHost(reactor: reactor, settings: settings, log: log)
        let worker = Worker(bench: self, host: host)
        reactor.delegate = worker
        host.start()
        withExtendedLifetime(worker) { reactor.run() }
    }

    /// Ends `run`.
    public func stop() { post { $0.reactor.stop() } }

    /// Runs the jobs in turns of the reactor.
    private final class Worker: ReactorDelegate {
        let bench: TestBench
        let host: BenchHost

        init(bench: TestBench, host: BenchHost) {
            self.bench = bench
            self.host = host
        }

        func reactorWoke(_ reactor: Reactor, now: Now) {
            for job in bench.mailbox.takeAll().jobs { job(host) }
        }

        func reactorTurnEnded(_ reactor: Reactor, now: Now) {}
    }
}
