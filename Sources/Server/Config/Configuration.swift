public import Catalogue
public import Transport

/// What the daemon is told to do: a value for each config key, the defaults where nothing was said.
public struct Configuration: Sendable, Equatable {
    private var values: [ConfigKey: ConfigValue] = [:]

    /// The defaults.
    public init() {}

    /// The value of any key.
    public subscript(key: ConfigKey) -> ConfigValue {
        get { values[key] ?? key.entry.preset }
        set { values[key] = newValue }
    }

    public static func == (a: Configuration, b: Configuration) -> Bool {
        ConfigKey.allCases.allSatisfy { a[$0] == b[$0] }
    }

    /// Keys whose values differ from those of another configuration.
    public func changes(from other: Configuration) -> [ConfigKey] {
        ConfigKey.allCases.filter { self[$0] != other[$0] }
    }

    /// This configuration with only those changes of a newer one that a running daemon can take.
    public func reloaded(from newer: Configuration) -> Configuration {
        var result = self
        for key in newer.changes(from: self) where key.entry.isReloadable { result[key] = newer[key] }
        return result
    }

    private func integer(_ key: ConfigKey) -> Int {
        guard case .integer(let number) = self[key] else { preconditionFailure("\(key) is no number") }
        return number
    }

    private func text(_ key: ConfigKey) -> String {
        guard case .text(let text) = self[key] else { preconditionFailure("\(key) is no text") }
        return text
    }

    private func list(_ key: ConfigKey) -> [String] {
        guard case .list(let items) = self[key] else { preconditionFailure("\(key) is no list") }
        return items
    }
}

extension Configuration {
    /// Directory of the store and of the files ccsd makes.
    public var dataDirectory: String {
        get { text(.dataDirectory) }
        set { self[.dataDirectory] = .text(newValue) }
    }
    /// IPv4 or IPv6 address of the four public ports.
    public var listenAddress: String {
        get { text(.listenAddress) }
        set { self[.listenAddress] = .text(newValue) }
    }
    /// Port of app servers; 0: any.
    public var appServerPort: Int {
        get { integer(.appServerPort) }
        set { self[.appServerPort] = .integer(newValue) }
    }
    /// Second port of app servers; 0: any.
    public var appServerPreproductionPort: Int {
        get { integer(.appServerPreproductionPort) }
        set { self[.appServerPreproductionPort] = .integer(newValue) }
    }
    /// Port of devices; 0: any.
    public var devicePort: Int {
        get { integer(.devicePort) }
        set { self[.devicePort] = .integer(newValue) }
    }
    /// Port of check-in and registration; 0: any.
    public var httpsPort: Int {
        get { integer(.httpsPort) }
        set { self[.httpsPort] = .integer(newValue) }
    }
    /// Port of health and metrics on loopback; nil: off.
    public var adminPort: Int? { integer(.adminPort) == 0 ? nil : integer(.adminPort) }
    /// The operator's certificate and chain; nil: ccsd makes its own.
    public var certificateFile: String? { text(.certificateFile).isEmpty ? nil : text(.certificateFile) }
    /// The key of `certificateFile`.
    public var keyFile: String? { text(.keyFile).isEmpty ? nil : text(.keyFile) }
    /// More names for the certificate that ccsd makes.
    public var hostNames: [String] {
        get { list(.hostNames) }
        set { self[.hostNames] = .list(newValue) }
    }
    /// The oldest version of TLS that is accepted.
    public var tlsMinimum: TLSVersion { TLSVersion(rawValue: text(.tlsMinimum)) ?? .tls12 }
    /// Reactor threads; 0: one for each core.
    public var reactors: Int {
        get { integer(.reactors) }
        set { self[.reactors] = .integer(newValue) }
    }
    /// Path of the control socket.
    public var controlSocket: String {
        get { text(.controlSocket).isEmpty ? "\(dataDirectory)/control.sock" : text(.controlSocket) }
        set { self[.controlSocket] = .text(newValue) }
    }
}
