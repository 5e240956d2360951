public import Basics

/// Why files are not usable as a credential for APNs: what they are, and what to do.
public enum APNsFileProblem: Error, Sendable, Equatable {
    case empty
    case tooLarge
    /// Neither a format nor a text that belongs to a credential.
    case unrecognized
    /// The archive or key is encrypted, and no password was given.
    case passwordMissing
    case passwordWrong
    /// The archive is damaged; the text is that of OpenSSL.
    case damaged(String)
    /// The archive is encrypted in a way that OpenSSL does not support.
    case unsupportedEncryption
    /// The password is protected by more iterations than are accepted.
    case tooManyIterations
    /// A key was given in addition to an archive, which contains its own.
    case archiveAndKey
    /// A certificate without a private key, such as the `.cer` file that Apple offers.
    case certificateAlone
    /// The private key was given as the certificate, and the reverse.
    case filesSwapped
    /// The file given as the private key contains none.
    case noPrivateKey
    /// No certificate belongs to the private key.
    case keyMismatch
    case certificateRequest
    case provisioningProfile
    /// Only the public half of a key.
    case publicKey
    /// A private key that is not an EC key on P-256; the text is its kind.
    case otherKey(String)
    /// An EC key, but not in the format of Apple's files (PKCS #8).
    case keyNotPKCS8
    /// The certificate is for another service; the text is its name.
    case otherCertificate(String)
    /// The certificate expired at this time.
    case expired(UnixMilliseconds)
    /// The certificate is valid only from this time on.
    case notYetValid(UnixMilliseconds)

    /// What is wrong, without a full stop.
    public var text: String {
        switch self {
        case .empty: "the file is empty"
        case .tooLarge: "the file is larger than \(Limits.APNsCredentials.fileBytes) bytes"
        case .unrecognized:
            "the credential is not recognized: expected a .p12 (or .pfx) archive, a certificate and key in PEM, or a .p8 key"
        case .passwordMissing: "the private key is encrypted, and no password was given"
        case .passwordWrong: "the password is wrong"
        case .damaged(let words): "the .p12 archive is damaged: \(words)"
        case .unsupportedEncryption: "the .p12 archive is encrypted in a way that OpenSSL does not support"
        case .tooManyIterations:
            "the password of the file needs more than \(Limits.APNsCredentials.passwordIterations) iterations"
        case .archiveAndKey: "the file is a .p12 archive, which contains its own private key"
        case .certificateAlone: "the file is a certificate without its private key"
        case .filesSwapped: "the file is a private key, and the one given as the private key is a certificate"
        case .noPrivateKey: "the file given as the private key contains none"
        case .keyMismatch: "the private key does not belong to the certificate"
        case .certificateRequest: "the file is a certificate signing request"
        case .provisioningProfile: "the file is a provisioning profile, which contains no credential"
        case .publicKey: "the file is a public key"
        case .otherKey(let kind):
            "the file is a private key (\(kind)) without a certificate; a .p8 key of Apple is an EC key on P-256"
        case .keyNotPKCS8: "the file is an EC key, but not in the format of a .p8 file (PKCS #8)"
        case .otherCertificate(let name):
            "the certificate \"\(Printable.text(name))\" is not for push notifications"
        case .expired(let time): "the certificate expired at \(Timestamp.text(time))"
        case .notYetValid(let time): "the certificate is not valid before \(Timestamp.text(time))"
        }
    }

    /// What to do.
    public var hint: String {
        switch self {
        case .empty, .unrecognized, .damaged:
            "export the certificate with its private key from Keychain Access as .p12, or download the .p8 key from Apple; .pfx is another name for .p12, so nothing needs to be converted"
        case .tooLarge: "give only the certificate, its chain and its key"
        case .passwordMissing: "give the password of the export with --password-file or --password-stdin"
        case .passwordWrong:
            "give the password that was chosen at the export, or export the certificate again with another one"
        case .unsupportedEncryption:
            "export it again, or install the legacy provider of OpenSSL (legacy.so in the package of libssl3)"
        case .tooManyIterations: "export it again with the usual number, such as 2048"
        case .archiveAndKey: "leave out --private-key"
        case .certificateAlone:
            "select the certificate together with its private key in Keychain Access and export both as .p12, or give the key with --private-key"
        case .filesSwapped: "give the certificate as the file, and the key with --private-key"
        case .noPrivateKey: "give a private key in PEM with --private-key"
        case .keyMismatch:
            "give the key of the request that this certificate was made from; a renewed certificate may have another key"
        case .certificateRequest:
            "upload it at Apple, and export the resulting certificate with its key as .p12"
        case .provisioningProfile:
            "provisioning profiles belong to the app; the server needs a .p8 key or a push certificate"
        case .publicKey: "give the private half: a .p8 key or a .p12 archive"
        case .otherKey:
            "give Apple's .p8 file as it is, or for a certificate its file, and this key with --private-key"
        case .keyNotPKCS8:
            "give the .p8 file as Apple offers it, or convert it with openssl pkcs8 -topk8 -nocrypt"
        case .otherCertificate:
            "create an \"Apple Push Notification service SSL\" certificate for the app, or use a .p8 key"
        case .notYetValid: "check the clock of this machine, or wait until then"
        case .expired: "renew it at Apple: the apps need no change"
        }
    }
}
