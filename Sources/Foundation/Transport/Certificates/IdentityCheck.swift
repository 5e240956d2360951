public import Basics
import COpenSSL

/// A problem with a certificate file or its key file.
public struct IdentityFinding: Sendable, Equatable {
    /// The file with the problem.
    public enum Subject: Sendable {
        case certificate
        case key
    }

    /// The file with the problem.
    public var subject: Subject
    /// Whether a start of the server would fail; otherwise it is a warning, also if clients refuse the certificate.
    public var isError: Bool
    public var problem: String
    /// What the operator can do about it.
    public var hint: String
}

/// Checks a certificate and its key, and reports all problems, not only the first.
public struct IdentityCheck {
    /// Bits of security that a key or a signature must have: RSA of 2048 bits, P-224, SHA-224 (RFC 9325, 4.1).
    private static var leastSecurityBits: Int32 { 112 }

    private let now: UnixMilliseconds
    private let minimum: TLSVersion
    private var findings: [IdentityFinding] = []

    /// Reads both files and returns their problems; `names` are those that clients connect to.
    public static func findings(
        certificateFile: String, keyFile: String, minimum: TLSVersion, names: [String],
        now: UnixMilliseconds
    ) -> [IdentityFinding] {
        var check = IdentityCheck(now: now, minimum: minimum)
        check.run(certificateFile, keyFile, names)
        return check.findings
    }

    private init(now: UnixMilliseconds, minimum: TLSVersion) {
        self.now = now
        self.minimum = minimum
    }

    private mutating func run(_ certificateFile: String, _ keyFile: String, _ names: [String]) {
        let chainText = read(certificateFile, .certificate)
        let keyText = read(keyFile, .key)
        let chain = chainText.flatMap { certificates($0) }
        let key = keyText.flatMap { privateKey($0) }
        if let chain { look(at: chain, names) }
        guard let chain, let key, let chainText, let keyText, belong(chain, key) else { return }
        guard !findings.contains(where: \.isError) else { return }
        // OpenSSL may refuse what the checks above have not found.
        var settings = TLSServerSettings()
        settings.minimum = minimum
        do throws(TransportError) {
            _ = try TLSServerContext(chain: chainText, key: keyText, settings: settings)
        } catch {
            add(.certificate, error.description, "OpenSSL refuses it for a server: use another certificate")
        }
    }

    private mutating func add(
        _ subject: IdentityFinding.Subject, _ problem: String, _ hint: String, isError: Bool = true
    ) {
        findings.append(
            IdentityFinding(subject: subject, isError: isError, problem: problem, hint: hint))
    }

    // MARK: The files

    private mutating func read(_ path: String, _ subject: IdentityFinding.Subject) -> [UInt8]? {
        do throws(TransportError) { return try SmallFile.read(path) } catch {
            add(subject, error.description, "give the path of a PEM file that this user can read")
            return nil
        }
    }

    private static func contains(_ text: [UInt8], _ words: StaticString) -> Bool {
        String(decoding: text, as: UTF8.self).contains("\(words)")
    }

    private mutating func certificates(_ text: [UInt8]) -> [Certificate]? {
        do throws(TransportError) {
            let found = try PEM.certificates(text)
            guard found.isEmpty else { return found }
        } catch {
            add(.certificate, error.description, "the file is damaged: fetch the certificate again")
            return nil
        }
        if Self.contains(text, "PRIVATE KEY-----") {
            add(
                .certificate, "the file contains a private key instead of a certificate",
                "are certificate_file and key_file swapped?")
        } else {
            add(
                .certificate, "the file contains no certificate",
                "it must be PEM, which starts with -----BEGIN CERTIFICATE-----")
        }
        return nil
    }

    private mutating func privateKey(_ text: [UInt8]) -> PrivateKey? {
        guard Self.contains(text, "PRIVATE KEY-----") else {
            if Self.contains(text, "CERTIFICATE-----") {
                add(
                    .key, "the file contains a certificate instead of a private key",
                    "are certificate_file and key_file swapped?")
            } else {
                add(
                    .key, "the file contains no private key",
                    "it must be PEM, which starts with -----BEGIN PRIVATE KEY-----")
            }
            return nil
        }
        guard !Self.contains(text, "BEGIN ENCRYPTED PRIVATE KEY"),
            !Self.contains(text, "Proc-Type: 4,ENCRYPTED")
        else {
            add(
                .key, "the key is encrypted, and ccsd cannot prompt for its password",
                "openssl pkey -in KEY -out FILE decrypts it; chmod 600 FILE")
            return nil
        }
        do throws(TransportError) { return try PEM.privateKey(text) } catch {
            add(.key, error.description, "the file is damaged: restore it, or create a new pair")
            return nil
        }
    }

    /// Whether the key belongs to the first certificate.
    private mutating func belong(_ chain: [Certificate], _ key: PrivateKey) -> Bool {
        let at = chain.firstIndex { unsafe X509_check_private_key($0.raw, key.raw) == 1 }
        _ = OpenSSLErrors.drain()
        switch at {
        case 0?: return true
        case let at?:
            add(
                .certificate,
                "the chain is in the wrong order: the certificate of the key is number \(at + 1) of \(chain.count)",
                "put the server's own certificate first, then its issuer, and so on")
        case nil:
            add(
                .key, "the key does not belong to the certificate",
                "give the key from which the certificate was requested")
        }
        return false
    }

    // MARK: The certificates

    private mutating func look(at chain: [Certificate], _ names: [String]) {
        for (at, certificate) in chain.enumerated() {
            let name = at == 0 ? "the certificate" : "certificate \(at + 1) of the chain"
            lookAtTimes(of: certificate, name)
            lookAtStrength(of: certificate, name)
        }
        for (at, (issued, issuer)) in zip(chain, chain.dropFirst()).enumerated()
        where unsafe X509_check_issued(issuer.raw, issued.raw) != X509_V_OK {
            add(
                .certificate, "certificate \(at + 2) of the chain did not issue certificate \(at + 1)",
                "put each certificate before the one of its issuer", isError: false)
        }
        if unsafe X509_check_purpose(chain[0].raw, X509_PURPOSE_SSL_SERVER, 0) != 1 {
            add(
                .certificate, "the certificate is not a server certificate",
                "request one whose extended key usage has serverAuth", isError: false)
        }
        let missing = names.filter { name in
            unsafe X509_check_host(chain[0].raw, name, name.utf8.count, 0, nil) != 1
                && X509_check_ip_asc(chain[0].raw, name, 0) != 1
        }
        _ = OpenSSLErrors.drain()
        guard !missing.isEmpty else { return }
        add(
            .certificate, "the certificate is not valid for \(missing.joined(separator: ", "))",
            "clients that connect to these names will refuse it", isError: false)
    }

    private mutating func lookAtTimes(of certificate: Certificate, _ name: String) {
        let day: Int64 = 86_400_000
        let (first, last) = (certificate.notBefore, certificate.notAfter)
        if last <= now {
            add(
                .certificate, "\(name) expired at \(Timestamp.text(last))",
                "renew it: clients that verify refuse it", isError: false)
        } else if last - now < Int64(Limits.Certificate.renewalDays) * day {
            add(
                .certificate, "\(name) expires in \((last - now) / day) days, at \(Timestamp.text(last))",
                "renew it", isError: false)
        }
        if first > now {
            add(
                .certificate, "\(name) is not valid before \(Timestamp.text(first))",
                "check the clock of this machine, or wait: clients that verify refuse it", isError: false)
        }
    }

    private mutating func lookAtStrength(of certificate: Certificate, _ name: String) {
        // Listeners that accept TLS 1.0 accept weak certificates too, by OpenSSL's security level (TLSVersion.ciphers).
        let isError = !minimum.isDeprecated
        if let key = unsafe X509_get0_pubkey(certificate.raw),
            unsafe EVP_PKEY_get_security_bits(key) < Self.leastSecurityBits
        {
            let bits = unsafe EVP_PKEY_get_bits(key)
            add(
                .certificate, "the key of \(name) is weak: it has \(bits) bits",
                "use a new pair: RSA with 2048 bits or more, or an EC key on P-256", isError: isError)
        }
        // The signature of a root does not matter: clients trust the root itself.
        let isRoot = unsafe X509_check_issued(certificate.raw, certificate.raw) == X509_V_OK
        var (digest, key, bits, flags): (Int32, Int32, Int32, UInt32) = (0, 0, 0, 0)
        guard !isRoot,
            unsafe X509_get_signature_info(certificate.raw, &digest, &key, &bits, &flags) == 1,
            bits < Self.leastSecurityBits
        else { return }
        let word = unsafe OBJ_nid2sn(digest).map { unsafe String(cString: $0) } ?? "an old digest"
        add(
            .certificate, "\(name) is signed with \(word), which can be forged",
            "have it issued again with SHA-256", isError: isError)
    }
}
