import Basics
import Catalogue
import Glibc
import Store
import Transport

/// Takes the daemon down: notice, drain, commit, then the end.
struct Shutdown {
    let daemon: Daemon
    let notify: SystemdNotify

    /// Every step in order; returns the exit code.
    func run() -> ExitCode {
        let configuration = daemon.configuration
        daemon.log.notice("stopping", ["seconds_at_most": LogValue(configuration.shutdownSeconds)])
        notify.stopping(status: "draining")
        daemon.drainer.enter(.stopping)
        stopListening()
        daemon.drainer.drainForShutdown(seconds: configuration.shutdownSeconds)
        stopReactors()
        return closeStore()
    }

    private func stopListening() {
        for mailbox in daemon.mailboxes { mailbox.post { host in host.reactor.stopListening() } }
        _ = unsafe unlink(daemon.configuration.controlSocket)
    }

    /// Waits until each reactor has ended: its last turn hands the store what it still has to write, and the process must
    /// not take the TLS library down while a connection is being closed.
    private func stopReactors() {
        let latches = daemon.mailboxes.map { _ in Latch<Bool>() }
        for (mailbox, latch) in zip(daemon.mailboxes, latches) {
            mailbox.post { host in host.stop { latch.fulfil(true) } }
        }
        for latch in latches { _ = latch.wait() }
    }

    private func closeStore() -> ExitCode {
        if let error = daemon.storeThread.stop() {
            daemon.log.error("store_close_failed", ["problem": .text(error.description)])
            return .inputOutput
        }
        daemon.log.flushRepeated()
        daemon.log.notice("stopped")
        return .success
    }
}
