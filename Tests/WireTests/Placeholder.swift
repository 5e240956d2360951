// Tests/WireTests
