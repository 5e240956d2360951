// Tests/ClientTests
