extension Limits {
    /// Limits of app server logins, up to a successful login.
    public enum Login {
        /// Stream headers before `<auth>`: QXmpp 1.4 sends its header twice, once as soon as TCP is up and once after TLS.
        public static let streamHeaders = 3
        /// Seconds from TCP accept to the end of the TLS handshake; absolute, pings do not extend it.
        public static let handshakeDeadlineSeconds = 5
        /// Seconds from the handshake to a finished login; absolute.
        public static let deadlineSeconds = 10
        /// SASL attempts on one connection: more are guesses.
        public static let attemptsPerConnection = 3
        /// Failed logins in a minute of one claimed identity from one address, for each listener, beyond which the connections of
        /// further ones end: a misconfigured client tries less often, and clients with valid secrets are not affected.
        public static let failuresPerIdentityAndMinute = 30
        /// Failed logins in a minute from one address, for each listener, over all claimed identities: no company behind one
        /// address has more, and 50 handshakes a second are little load.
        public static let failuresPerAddressAndMinute = 3_000
        /// Addresses, and identities at them, whose failed logins are remembered: a bound on tables that start empty each
        /// minute.
        public static let failuresRemembered = 65_536
        /// Seconds between two log lines about refusals of one address.
        public static let refusalLogSeconds = 60
        /// Bytes of each part of a SASL PLAIN message (RFC 4616).
        public static let credentialBytes = 255
        /// Iterations of SCRAM: the minimum of RFC 7677; server keys are random, and each login pays for them.
        public static let scramIterations = 4_096
        /// Bytes of the salt of a sender's keys: the length in the examples of RFC 7677.
        public static let scramSaltBytes = 16
        /// Bytes of the TLS exporter that bind a login to its channel (RFC 9266).
        public static let channelBindingBytes = 32
    }
}
