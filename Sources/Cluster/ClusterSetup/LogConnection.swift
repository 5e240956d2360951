import Basics
public import NATSClient
import Transport

/// How to connect to the log, with the secrets that `cluster.json` names by their files.
extension ClusterFile.LogServers {
    /// Returns the settings of the client of a node with an address, which prefers servers on the same host. Throws if the address of a
    /// server is invalid or a file cannot be used.
    public func settings(name: String, of node: String? = nil) throws(ClusterFileProblem) -> NATSSettings {
        let addresses = try Self.addresses(servers, "servers")
        var settings = NATSSettings(servers: addresses, name: name, login: try natsLogin())
        if let node, let own = try? NATSServerAddress(parsing: node).host.lowercased() {
            settings.preferred = Set(addresses.filter { $0.host.lowercased() == own })
        }
        guard let authorities else { return settings }
        settings.tlsUse = .always
        do throws(TransportError) {
            settings.tls = try TLSClientSettings(
                trust: authorities.isEmpty ? .system : .file(authorities), identity: nil,
                applicationProtocols: [], resumes: true)
        } catch { throw ClusterFileProblem(field: "log.ca_file", problem: error.description) }
        return settings
    }

    /// Returns the addresses of the monitoring ports. Throws if one is invalid.
    public func monitorAddresses() throws(ClusterFileProblem) -> [NATSServerAddress] {
        try Self.addresses(monitors, "monitors")
    }

    private static func addresses(
        _ texts: [String], _ field: String
    ) throws(ClusterFileProblem) -> [NATSServerAddress] {
        var addresses: [NATSServerAddress] = []
        for (index, text) in texts.enumerated() {
            do throws(NATSAddressError) {
                addresses.append(try NATSServerAddress(parsing: text))
            } catch { throw ClusterFileProblem(field: "log.\(field)[\(index)]", problem: "\(error)") }
        }
        return addresses
    }

    /// The names of streams and subjects.
    public func names() throws(ClusterFileProblem) -> LogNames {
        guard let names = LogNames(prefix: prefix) else {
            throw ClusterFileProblem(
                field: "log.prefix", problem: "expected 1 to 32 lower-case letters, digits and hyphens")
        }
        return names
    }

    private func natsLogin() throws(ClusterFileProblem) -> NATSLogin {
        switch login {
        case nil: return .none
        case .password(let user, let file):
            return .password(user: user, password: Redacted(try Self.line(file, "password_file")))
        case .token(let file): return .token(Redacted(try Self.line(file, "token_file")))
        case .key(let file):
            let seed = Array(try Self.line(file, "nkey_file").utf8)
            do throws(NKeyError) { return .key(try NKeySeed(seed)) } catch {
                throw ClusterFileProblem(field: "log.nkey_file", problem: "\(file): \(error)")
            }
        case .credentials(let file):
            let content = try Self.read(file, "credentials_file")
            do throws(NATSCredentialsError) {
                return .credentials(try NATSCredentials(parsing: content))
            } catch {
                throw ClusterFileProblem(field: "log.credentials_file", problem: "\(file): \(error)")
            }
        }
    }

    private static func read(_ path: String, _ field: String) throws(ClusterFileProblem) -> [UInt8] {
        do throws(TransportError) { return try SmallFile.read(path) } catch {
            throw ClusterFileProblem(field: "log.\(field)", problem: error.description)
        }
    }

    /// Returns the first line of a file.
    private static func line(_ path: String, _ field: String) throws(ClusterFileProblem) -> String {
        String(decoding: try read(path, field).prefix { $0 != 0x0A && $0 != 0x0D }, as: UTF8.self)
    }
}
