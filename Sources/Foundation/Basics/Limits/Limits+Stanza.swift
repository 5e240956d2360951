extension Limits {
    /// Limits of stanzas and JSON from app servers, while they are parsed.
    public enum Stanza {
        /// Bytes of one stanza before login: the value that ejabberd chose after attacks.
        public static let bytesBeforeLogin = 8_192
        /// Bytes of one stanza after login: a payload of 4 KiB, escaped twice, and its envelope.
        public static let bytes = 65_536
        /// Elements of one stanza before login.
        public static let elementsBeforeLogin = 32
        /// Elements of one stanza after login.
        public static let elements = 64
        /// Depth of elements below the stream before login.
        public static let depthBeforeLogin = 8
        /// Depth of elements below the stream after login.
        public static let depth = 16
        /// Attributes of one element: no client sends more than ten.
        public static let attributesPerElement = 32
        /// Nesting of JSON: real payloads have three levels.
        public static let jsonDepth = 32
        /// Bytes of a whole number written with a fraction or an exponent: real ones have under ten.
        public static let wholeNumberBytes = 64
    }
}
