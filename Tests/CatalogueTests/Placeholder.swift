// Tests/CatalogueTests
