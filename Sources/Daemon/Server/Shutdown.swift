import Basics
import Catalogue
import Glibc
import Store
import TestBench
import Transport

/// Shuts the daemon down: drains app servers, closes devices, and commits the remaining writes.
///
/// Devices, HTTPS and the operator are served until the app servers have left. Listeners are closed before their
/// connections, so that no connection is accepted and then dropped. A socket that systemd opened stays open in systemd, and
/// new connections wait in its backlog for the next process.
struct Shutdown {
    let daemon: Daemon
    let notify: SystemdNotify

    /// Runs all steps in order. Returns the exit code.
    func run() -> ExitCode {
        let configuration = daemon.configuration
        daemon.log.notice("stopping", ["deadline_seconds": LogValue(configuration.shutdownSeconds)])
        notify.stopping(status: "stopping: draining app servers; devices are still served")
        daemon.drainer.enter(.stopping)
        daemon.storage.backups.stop()
        stopListening([.appServer, .appServerPreproduction])
        daemon.drainer.drainForShutdown(seconds: configuration.shutdownSeconds)
        notify.status("stopping: closing the connections of devices")
        daemon.bench?.devices.stop()
        stopListening(Link.Kind.allCases)
        _ = unsafe unlink(configuration.controlSocket)
        daemon.drainer.lastCall(seconds: configuration.shutdownSeconds)
        // Before the reactors end: Apple's answers remove messages.
        daemon.gateways.apns.drain(seconds: configuration.shutdownSeconds)
        daemon.gateways.webhooks.drain(seconds: configuration.shutdownSeconds)
        daemon.core.cluster?.drain(seconds: configuration.shutdownSeconds)
        stopReactors()
        daemon.core.cluster?.stop()
        daemon.history?.stop()
        return closeStore()
    }

    /// Closes listeners. Returns when no reactor accepts connections on them.
    private func stopListening(_ kinds: [Link.Kind]) {
        let latches = daemon.core.mailboxes.ask { host in
            for kind in kinds { host.reactor.stopListening(ListenerName(rawValue: kind.rawValue)) }
        }
        for latch in latches { _ = latch.wait() }
    }

    /// Waits until each reactor has ended: its last turn passes the remaining writes to the store, and the TLS library must not
    /// be unloaded while a connection is being closed.
    private func stopReactors() {
        let latches = daemon.core.mailboxes.map { _ in Latch<Bool>() }
        for (mailbox, latch) in zip(daemon.core.mailboxes, latches) {
            mailbox.post { host in host.stop { latch.fulfil(true) } }
        }
        for latch in latches { _ = latch.wait() }
        daemon.gateways.apns.stop()
        daemon.gateways.webhooks.stop()
    }

    private func closeStore() -> ExitCode {
        if let error = daemon.storage.threads.stop() {
            daemon.log.error("store_close_failed", ["problem": .text(error.description)])
            return .inputOutput
        }
        daemon.log.flushRepeated()
        daemon.commandRecords.reportLeftOut(isEnd: true)
        daemon.log.notice("stopped")
        return .success
    }
}
