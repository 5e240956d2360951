/// An event in the log, with its meaning and advice where there is any. A test compares the words with the calls of the log.
public struct LogEventMeaning: Sendable {
    /// The event, as the log writes it.
    public let word: String
    public let meaning: String

    private init(_ entry: (word: String, meaning: String)) { (word, meaning) = entry }

    /// All events, by subject.
    public static let all =
        (daemon + clients + storage + operators + apns + webhooks + testBench + cluster).map { Self($0) }

    private static let daemon = [
        ("started", "ccsd serves; the line has its version, its data directory and its listeners."),
        ("stopping", "ccsd was asked to stop: it drains app servers and closes connections."),
        ("stopped", "ccsd has stopped; all that was acknowledged is on disk."),
        ("drain_cut_short", "A second signal to stop ended the drain at once."),
        (
            "shutdown_timed_out",
            "The stop took longer than shutdown_seconds. Nothing is lost; raise it together with TimeoutStopSec."
        ),
        (
            "clients_drained",
            "An operator has closed the ports of clients (ccsctl drain --hold), and all clients are gone."
        ),
        ("clients_released", "An operator has opened the ports of clients again (ccsctl drain --release)."),
        (
            "reloaded",
            "The configuration and the certificates were reloaded; the line names the changed keys."
        ),
        (
            "reload_failed",
            "The new configuration or certificate is invalid, and the old one stays in use: run ccsctl check, correct it, and reload."
        ),
        ("restart_required", "A changed key has no effect until ccsd is restarted."),
        (
            "certificate",
            "A warning about the certificate: it has expired or soon will, is not valid yet, or its chain is incomplete."
        ),
        ("certificate_replaced", "A changed or renewed certificate is in use."),
        (
            "certificate_reload_failed",
            "A changed certificate or key cannot be loaded, and the old one stays in use: correct the files, and reload."
        ),
        ("tls_deprecated", "tls_minimum accepts versions of TLS that RFC 8996 deprecates."),
        (
            "clock_in_doubt",
            "The clock is implausible against the last run, and nothing expires: see ccsctl clock show."
        ),
        ("clock_trusted", "The clock is plausible again, or an operator has accepted it."),
        (
            "clock_confirmed_by_device",
            "A device has reported a time that agrees with the clock, which is trusted."
        ),
        ("descriptor_limit", "The number of file descriptors that ccsd may open."),
        (
            "inherited_socket_ignored",
            "A socket unit passes a socket that ccsd cannot use, or whose port is none of the configuration."
        ),
        (
            "log_lines_lost",
            "The reader of the log, such as a pipe, stood still. That many lines are lost; ccsd has not waited for it."
        ),
        ("log_level_changed", "An operator has changed the level of the log, or the change has ended."),
        (
            "invariant_broken",
            "A bug: one session was closed or one batch refused. Keep the log, and report it."
        ),
    ]

    private static let clients = [
        ("login", "A peer has logged in."),
        (
            "login_refused",
            "A device or app server has a wrong key; counted per address. After a rotation, an app server may still use the old key."
        ),
        ("inconsistent_login", "A device logged in with fields that contradict each other; it is served."),
        ("connection_closed", "A connection has ended, for the reason in the line."),
        (
            "connection_refused",
            "A limit refuses connections; the reason in the line has a meaning of its own (ccsctl explain REASON)."
        ),
        (
            "handshake_failed",
            "A client speaks without TLS, or does not trust the certificate: problem has what to change there. Other failed handshakes are only counted."
        ),
        (
            "accept_failed",
            "The system has no descriptor or memory for a connection: raise LimitNOFILE, or find the clients (ccsctl sessions list)."
        ),
        ("accept_resumed", "A listener accepts connections again."),
        ("refused", "A message or request was refused; the reason in the line has a meaning of its own."),
        ("devices_expired", "Devices were removed that had no contact for device_expiry_seconds."),
        ("devices_unused", "Devices were removed that checked in and never registered an app."),
    ]

    private static let storage = [
        (
            "store_failed",
            "A write failed: messages are refused, and nothing that was acknowledged is lost. Free the disk, or check it (dmesg, smartctl)."
        ),
        ("store_recovered", "The store accepts writes again."),
        (
            "store_read_failed",
            "A row cannot be read: the disk fails, or a file was changed. See Operations, a damaged store."
        ),
        (
            "store_damaged",
            "A table of the store has a wrong checksum: its rows cannot be read, everything else goes on. See Operations, a damaged store."
        ),
        ("store_close_failed", "The store could not be closed properly: the next start replays its journal."),
        (
            "store_manifest_torn",
            "A manifest of the store has an incomplete end, from a power failure; it was repaired."
        ),
        (
            "sync_mark_unreadable",
            "The mark of the last sync cannot be read, so that the start cannot distinguish a torn end of the journal from damage."
        ),
        (
            "registry_full",
            "The registry is at registry_bytes, and nothing can register: raise the key and reload, or remove devices."
        ),
        (
            "history_failed",
            "The message history cannot be written or opened, for the problem in the line: messages go on, and their steps are missing there. Free the disk, or check it."
        ),
        (
            "history_gap",
            "The last process was killed: the message history may lack its last second."
        ),
        ("registry_below_limit", "The registry is below its limit again."),
        ("backup_made", "A backup is complete."),
        ("backup_failed", "A backup failed, for the problem in the line; nothing of it is left."),
    ]

    private static let operators = [
        ("operator_command", "An operator ran a command: user, process, command and result."),
        ("operator_session_opened", "An operator has logged in to the console."),
        ("operator_session_closed", "An operator has logged out of the console."),
        (
            "audit_log_failed",
            "The audit log cannot be written, for the problem in the line: free the disk, or check it."
        ),
    ]

    private static let apns = [
        (
            "apns_answer_foreign",
            "Something answers in place of Apple, without the apns-id of the request or a reason: a proxy or a relay. The messages wait, and are tried again."
        ),
        ("apns_connected", "A connection to Apple is open."),
        ("apns_disconnected", "A connection to Apple has ended."),
        (
            "apns_connect_failed",
            "Apple cannot be reached, and messages wait: check firewall and DNS, and the keys apns_production_address and apns_sandbox_address."
        ),
        ("apns_leaving", "A connection to Apple is not used for new messages, and ends after the open ones."),
        (
            "apns_clock_wrong",
            "Apple refuses the time of the provider token: set the clock of the machine."
        ),
        ("apns_token_not_signed", "A provider token could not be signed with the key of a credential."),
        ("apns_credential_added", "A credential for APNs was added."),
        (
            "apns_credential_expires",
            "A certificate for APNs expires soon: create a new one at Apple, and add it."
        ),
        (
            "apns_credential_expired",
            "A certificate for APNs has expired: create a new one at Apple, and add it."
        ),
        (
            "apns_credential_off",
            "Apple refuses a credential: ccsctl apns list shows Apple's word, ccsctl apns test asks again."
        ),
        ("apns_credential_on", "Apple accepts a credential again."),
        (
            "apns_credential_unreadable",
            "The file of a credential cannot be read, for the problem in the line."
        ),
        ("apns_topic_off", "Apple refuses an app with a credential: ccsctl apns list shows Apple's word."),
        ("apns_topic_on", "Apple accepts an app with a credential again."),
        (
            "apns_environment_corrected",
            "A device token belongs to the other environment of Apple, which is used from now on."
        ),
        ("apns_request_invalid", "Apple refuses a request made by ccsd: report it with the log."),
        (
            "apns_mass_death",
            "A fifth of an app's device tokens are bad at once, and no registration is ended: look for a wrong credential or environment."
        ),
        ("apns_mass_death_over", "The device tokens of an app are accepted again."),
    ]

    private static let webhooks = [
        (
            "webhook_paused",
            "An endpoint of a webhook fails, and is tried again later: ccsctl senders webhook list has the failure."
        ),
        ("webhook_resumed", "An endpoint of a webhook takes messages again."),
        (
            "webhook_gone",
            "An endpoint of a webhook has answered 410, and gets nothing until an operator resumes it."
        ),
        ("webhooks_not_started", "Webhooks cannot be called, for the problem in the line."),
    ]

    private static let testBench = [
        ("test_bench", "The test bench is on: never on a server for users."),
        ("test_clock", "The clock for tests is on: never on a server for users."),
        ("fault_injected", "A fault that an operator has added to the test bench met a message."),
        ("recorder_refused", "The login of a recorder was refused."),
        ("recorder_unconnected", "A recorder cannot connect to this server."),
        ("virtual_device_refused", "The login of a virtual device was refused."),
        ("virtual_device_unconnected", "A virtual device cannot connect to this server."),
        ("virtual_devices_unreadable", "The file of the virtual devices cannot be read."),
        ("virtual_devices_unsaved", "The file of the virtual devices cannot be written."),
    ]
}
