public import Catalogue
public import Transport

/// The configuration of the daemon: a value for each config key, by default that of the key.
public struct Configuration: Sendable, Equatable {
    private var values: [ConfigKey: ConfigValue] = [:]

    /// Creates a configuration with the defaults.
    public init() {}

    /// The value of a key.
    public subscript(key: ConfigKey) -> ConfigValue {
        get { values[key] ?? key.entry.preset }
        set { values[key] = newValue }
    }

    public static func == (a: Configuration, b: Configuration) -> Bool {
        ConfigKey.allCases.allSatisfy { a[$0] == b[$0] }
    }

    /// Returns the keys whose values differ from those of another configuration.
    public func changes(from other: Configuration) -> [ConfigKey] {
        ConfigKey.allCases.filter { self[$0] != other[$0] }
    }

    /// Returns this configuration with those changes of a newer one that need no restart.
    public func reloaded(from newer: Configuration) -> Configuration {
        var result = self
        for key in newer.changes(from: self) where key.entry.isReloadable { result[key] = newer[key] }
        return result
    }

    private func integer(_ key: ConfigKey) -> Int {
        guard case .integer(let number) = self[key] else { preconditionFailure("\(key) is not a number") }
        return number
    }

    private func text(_ key: ConfigKey) -> String {
        guard case .text(let text) = self[key] else { preconditionFailure("\(key) is not a text") }
        return text
    }

    private func list(_ key: ConfigKey) -> [String] {
        guard case .list(let items) = self[key] else { preconditionFailure("\(key) is not a list") }
        return items
    }
}

extension Configuration {
    /// Directory of the store and of all files that ccsd creates.
    public var dataDirectory: String {
        get { text(.dataDirectory) }
        set { self[.dataDirectory] = .text(newValue) }
    }
    /// IPv4 or IPv6 address of the four public ports.
    public var listenAddress: String {
        get { text(.listenAddress) }
        set { self[.listenAddress] = .text(newValue) }
    }
    /// Port of app servers; 0 picks a free one.
    public var appServerPort: Int {
        get { integer(.appServerPort) }
        set { self[.appServerPort] = .integer(newValue) }
    }
    /// Second port of app servers; 0 picks a free one.
    public var appServerPreproductionPort: Int {
        get { integer(.appServerPreproductionPort) }
        set { self[.appServerPreproductionPort] = .integer(newValue) }
    }
    /// Port of devices; 0 picks a free one.
    public var devicePort: Int {
        get { integer(.devicePort) }
        set { self[.devicePort] = .integer(newValue) }
    }
    /// Port of check-in, registration and the HTTP interfaces; 0 picks a free one.
    public var httpsPort: Int {
        get { integer(.httpsPort) }
        set { self[.httpsPort] = .integer(newValue) }
    }
    /// Port of health and metrics; 0 picks a free one, `nil` disables it.
    public var adminPort: Int? { if case .integer(let port) = self[.adminPort] { port } else { nil } }
    /// Address of `adminPort`.
    public var adminAddress: String { text(.adminAddress) }
    /// Whether `adminPort` may serve other machines without TLS.
    public var adminPlainHTTP: Bool { self[.adminPlainHTTP] == .boolean(true) }
    /// Whether `adminPort` has TLS.
    public var adminTLS: Bool { self[.adminTLS] == .boolean(true) }
    /// Whether `adminPort` serves the operator API.
    public var operatorAPI: Bool { self[.operatorAPI] == .boolean(true) }
    /// File of the operator's certificate and chain; `nil` lets ccsd create its own.
    public var certificateFile: String? { text(.certificateFile).isEmpty ? nil : text(.certificateFile) }
    /// File of the private key of `certificateFile`.
    public var keyFile: String? { text(.keyFile).isEmpty ? nil : text(.keyFile) }
    /// Additional host names for the certificate that ccsd creates.
    public var hostNames: [String] {
        get { list(.hostNames) }
        set { self[.hostNames] = .list(newValue) }
    }
    /// The oldest accepted version of TLS.
    public var tlsMinimum: TLSVersion { TLSVersion(rawValue: text(.tlsMinimum)) ?? .tls12 }
    /// Reactor threads; 0 starts one per core.
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
