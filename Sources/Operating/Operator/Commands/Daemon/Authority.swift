public import Basics

/// Shows the certificate of the authority that clients must trust.
public struct ShowAuthority: OperatorCommand {
    public static let summary = OperationSummary.reading(
        "ca", "Show the certificate of ccsd's own authority, which clients must trust (PEM).",
        details: [
            "Refused if certificate_file is set: then clients must trust the authority that issued that certificate."
        ])
    public static let fields = Fields(ShowAuthority.init)

    /// The certificate.
    public struct Answer: Record {
        public var certificate: String
        public var fingerprint: String
        public var notAfter: UnixMilliseconds

        /// Creates an answer.
        public init(certificate: String, fingerprint: String, notAfter: UnixMilliseconds) {
            self.certificate = certificate
            self.fingerprint = fingerprint
            self.notAfter = notAfter
        }

        public static let fields = Fields(
            Answer.init(certificate:fingerprint:notAfter:),
            .required("certificate", .text, \.certificate, "The certificate (PEM)."),
            .required(
                "fingerprint", .text, \.fingerprint,
                "SHA-256 of the certificate: pairs of hexadecimal digits with colons, as openssl prints it."),
            .required("not_after", .time, \.notAfter, "When the certificate expires."))
    }
}
