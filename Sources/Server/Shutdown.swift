import Basics
import Catalogue
import Glibc
import Store
import Transport

/// Takes the daemon down: app servers are drained, then devices get their Close, what is left is committed.
///
/// Devices, HTTPS and the operator are served until the app servers are gone. Listeners are closed before the connections
/// that they have accepted, so that nothing is accepted only to be dropped. A socket that systemd opened stays open there:
/// those who connect from then on wait in its backlog for the next process.
struct Shutdown {
    let daemon: Daemon
    let notify: SystemdNotify

    /// Every step in order; returns the exit code.
    func run() -> ExitCode {
        let configuration = daemon.configuration
        daemon.log.notice("stopping", ["seconds_at_most": LogValue(configuration.shutdownSeconds)])
        notify.stopping(status: "stopping: waits for app servers to leave; devices are served")
        daemon.drainer.enter(.stopping)
        stopListening([.appServer, .appServerPreproduction])
        daemon.drainer.drainForShutdown(seconds: configuration.shutdownSeconds)
        notify.status("stopping: closes the connections of devices")
        stopListening(Link.Kind.allCases)
        _ = unsafe unlink(configuration.controlSocket)
        daemon.drainer.lastCall(seconds: configuration.shutdownSeconds)
        stopReactors()
        return closeStore()
    }

    /// Returns when no reactor accepts on these any more.
    private func stopListening(_ kinds: [Link.Kind]) {
        let latches = daemon.mailboxes.ask { host in
            for kind in kinds { host.reactor.stopListening(ListenerName(rawValue: kind.rawValue)) }
        }
        for latch in latches { _ = latch.wait() }
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
