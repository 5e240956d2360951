// Tests/TransportTests
