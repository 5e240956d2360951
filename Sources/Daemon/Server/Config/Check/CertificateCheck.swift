import Basics
import Catalogue
import Glibc
import Operator
import Transport

extension ConfigCheck {
    /// Checks the operator's certificate and key, or the existing files of our own authority.
    mutating func checkCertificate() {
        guard let certificate = configuration.certificateFile, let key = configuration.keyFile else {
            if configuration.certificateFile == nil, configuration.keyFile == nil { checkAuthority() }
            return
        }
        guard isUsable(.certificateFile), isUsable(.keyFile) else { return }
        let areFiles = [(ConfigKey.certificateFile, certificate), (.keyFile, key)].map { key, path in
            checkFile(key, path)
        }
        guard areFiles.allSatisfy({ $0 }) else { return }
        let names = (configuration.hostNames + [configuration.advertisedHost]).filter {
            !$0.isEmpty && !$0.hasPrefix("*")
        }
        for finding in IdentityCheck.findings(
            certificateFile: certificate, keyFile: key, minimum: configuration.tlsMinimum, names: names,
            now: now)
        {
            let (name, path) =
                finding.subject == .certificate ? (ConfigKey.certificateFile, certificate) : (.keyFile, key)
            add(finding.isError ? .error : .warning, name, "\(path): \(finding.problem)", finding.hint)
        }
    }

    /// Adds a finding if a file cannot be read. Returns whether it can.
    private mutating func checkFile(_ key: ConfigKey, _ path: String) -> Bool {
        var status = stat()
        let hint = "give the path of a PEM file"
        guard unsafe stat(path, &status) == 0 else {
            add(.error, key, "\(path): \(Self.reason)", hint)
            return false
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            add(.error, key, "\(path) is not a file", hint)
            return false
        }
        guard unsafe access(path, R_OK) == 0 else {
            add(.error, key, "\(path) is not readable by this user", "let the user that runs ccsd read it")
            return false
        }
        if key == .keyFile, status.st_mode & 0o077 != 0 {
            add(.warning, key, "\(path) is accessible to other users", "chmod 600 \(path)")
        }
        return true
    }

    /// Checks the authorities for the certificates of Apple and of webhooks.
    mutating func checkClientAuthorities() {
        checkAuthorities(.apnsCAFile, configuration.apnsCAFile)
        checkAuthorities(.webhookCAFile, configuration.webhookCAFile)
    }

    private mutating func checkAuthorities(_ key: ConfigKey, _ path: String?) {
        guard isUsable(key), let path, checkFile(key, path) else { return }
        do throws(TransportError) {
            _ = try TLSClientSettings(trust: .file(path))
        } catch {
            add(.error, key, error.description, "give the path of a PEM file with CA certificates")
        }
    }

    /// Checks our own authority, which is created at the first start; a damaged one is not replaced.
    private mutating func checkAuthority() {
        guard isUsable(.dataDirectory) else { return }
        do throws(TransportError) {
            try CertificateAuthority(directory: configuration.dataDirectory).verify(now: now)
        } catch {
            add(
                .error, .dataDirectory, error.description,
                "restore ca.pem and ca.key from a backup; if both are missing, ccsd creates a new authority that no client trusts yet"
            )
        }
    }
}
