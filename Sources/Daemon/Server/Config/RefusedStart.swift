import Basics
import Catalogue
import Glibc
import Transport

/// The end of a start that a wrong configuration has refused, while systemd holds the sockets.
///
/// systemd starts ccsd again at once for every waiting connection, so the exit is delayed. An operator who corrects the configuration
/// meanwhile and runs `systemctl start` gets the result of the start in progress, which is this one: so if a file of the
/// configuration changes, the program is started again in this process.
struct RefusedStart {
    /// The keys whose files may be what is wrong.
    private static let keys: [ConfigKey] = [.certificateFile, .keyFile, .apnsCAFile, .webhookCAFile]

    private let files: [String]
    private let stamps: [SmallFile.Stamp?]

    /// Remembers the files of a configuration before it is loaded. Returns `nil` if no sockets were passed.
    init?(_ source: ConfigurationSource) {
        guard InheritedSockets.areGiven else { return nil }
        let configuration = source.inspect().configuration
        files =
            [source.file].compactMap { $0 } + Self.keys.map { configuration[$0].plain }.filter { !$0.isEmpty }
        stamps = files.map { SmallFile.stamp($0) }
    }

    /// Whether a file has changed since.
    var hasChanged: Bool { files.map { SmallFile.stamp($0) } != stamps }

    /// Delays the exit, which a signal ends. Does not return if a file changes and the sockets are still there.
    func wait(vector: [String]) {
        // The refused start has blocked signals, if it came that far.
        var none = sigset_t()
        unsafe sigemptyset(&none)
        _ = unsafe pthread_sigmask(SIG_SETMASK, &none, nil)
        SystemdNotify().status("not started: see the log, and correct the configuration")
        let end = Now.read().monotonic.advanced(seconds: Limits.Shutdown.refusedStartSeconds)
        while Now.read().monotonic < end {
            if hasChanged, InheritedSockets.areGiven { Self.startAgain(vector) }
            Threads.sleep(milliseconds: Limits.Shutdown.refusedStartPollMilliseconds)
        }
    }

    /// Replaces the program by itself, with the same process ID, arguments, environment and sockets. Returns only if that fails.
    private static func startAgain(_ vector: [String]) {
        var arguments = unsafe vector.map { unsafe strdup($0) }
        unsafe arguments.append(nil)
        _ = unsafe execv("/proc/self/exe", arguments)
        unsafe arguments.forEach { unsafe free($0) }
    }
}
