import Testing

@testable import OpenCoreData

/// The property is deprecated, and so are its tests: the compiler would warn otherwise.
@Suite("Compound indexes")
struct CompoundIndexTests {
  @available(*, deprecated, message: "Compound indexes are deprecated.")
  @Test("Compound indexes make entities differ.")
  func equality() {
    let (zoo, other) = (Zoo(), Zoo())
    zoo.dog.compoundIndexes = [["name", zoo.tricks]]
    #expect(zoo.dog != other.dog)
    other.dog.compoundIndexes = [[other.name, "tricks"]]
    #expect(zoo.dog == other.dog)
  }

  @available(*, deprecated, message: "Compound indexes are deprecated.")
  @Test("Compound indexes of a copied entity refer to the properties of the copy.")
  func copy() throws {
    let zoo = Zoo()
    zoo.dog.compoundIndexes = [[zoo.name, "tricks", zoo.tricks]]
    let model = copied(zoo.model)
    let dog = try #require(model.entitiesByName["Dog"])
    let parts = try #require(dog.compoundIndexes.first)
    #expect(parts[0] as? NSPropertyDescription === dog.propertiesByName["name"])
    #expect(parts[1] as? String == "tricks")
    #expect(parts[2] as? NSPropertyDescription === dog.propertiesByName["tricks"])
  }
}
