import Basics
import Glibc
import Synchronization

/// Ends the process so that it is started again, with the exit code `ExitCode.restart`: a store is replaced only while none is open.
final class RestartRequest: Sendable {
    private let made = Atomic<Bool>(false)

    /// Whether the process is to be started again.
    var isMade: Bool { made.load(ordering: .acquiring) }

    /// Stops this process as `systemctl stop` does: its partitions are handed over, and the connections of clients end in an orderly way.
    func make() {
        made.store(true, ordering: .releasing)
        kill(getpid(), SIGTERM)
    }
}
