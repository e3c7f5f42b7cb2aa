import Foundation
import Hashing
import Testing

@testable import OpenCoreData

@Suite("Version hashes")
struct VersionHashTests {
  @Test("Equal models have equal hashes of 32 bytes, in every process.")
  func stable() {
    let (zoo, other) = (Zoo(), Zoo())
    #expect(zoo.model.entityVersionHashesByName == other.model.entityVersionHashesByName)
    #expect(zoo.model.entityVersionHashesByName.keys.sorted() == ["Animal", "Dog", "Keeper"])
    #expect(zoo.model.entityVersionHashesByName.values.allSatisfy { $0.count == 32 })
    #expect(zoo.model.versionChecksum == "VkQEQAf/JayQJFnuAO/5+n1HnmpuqMY+LvePqnZ6GX0=")
  }

  /// The entities of the zoo whose version hashes change with a change of the model.
  private func changed(by change: (Zoo) -> Void) -> Set<String> {
    let (before, after) = (Zoo(), Zoo())
    change(after)
    let hashes = before.model.entityVersionHashesByName
    return Set(after.model.entityVersionHashesByName.filter { hashes[$0.key] != $0.value }.keys)
  }

  @Test("A modifier changes the hash of its entity and subentities, and no other.")
  func modifiers() {
    #expect(changed { $0.keeper.versionHashModifier = "2" } == ["Keeper"])
    #expect(changed { $0.keeperName.versionHashModifier = "2" } == ["Keeper"])
    #expect(changed { $0.animal.versionHashModifier = "2" } == ["Animal", "Dog"])
    #expect(changed { $0.dog.versionHashModifier = "2" } == ["Dog"])
  }

  @Test(
    "Version hashes cover names, types, flags, counts, order, destination and inverse.")
  func counts() {
    #expect(changed { $0.keeper.name = "Owner" } == ["Owner", "Animal", "Dog"])
    #expect(changed { $0.tricks.name = "skills" } == ["Dog"])
    #expect(changed { $0.tricks.type = .integer32 } == ["Dog"])
    #expect(changed { $0.tricks.isOptional = false } == ["Dog"])
    #expect(changed { $0.tricks.isTransient = true } == ["Dog"])
    #expect(changed { $0.animal.isAbstract = false } == ["Animal", "Dog"])
    #expect(changed { $0.pets.maxCount = 1 } == ["Keeper"])
    #expect(changed { $0.pets.maxCount = 5 } == ["Keeper"])
    #expect(changed { $0.pets.minCount = 1 } == ["Keeper"])
    #expect(changed { $0.owner.minCount = 1 } == ["Animal", "Dog"])
    #expect(changed { $0.pets.isOrdered = true } == ["Keeper"])
    #expect(changed { $0.pets.destinationEntity = $0.dog } == ["Keeper"])
    #expect(changed { $0.pets.inverseRelationship = nil } == ["Keeper"])
    #expect(changed { $0.dog.properties = [] } == ["Dog"])
    #expect(changed { $0.animal.subentities = [] } == ["Dog"])
  }

  @Test("Version hashes ignore defaults, user info, classes, delete rules, renaming, validation and indexes.")
  func doesNotCount() {
    #expect(changed { $0.tricks.defaultValue = 3 } == [])
    #expect(changed { $0.tricks.userInfo = ["key": "value"] } == [])
    #expect(changed { $0.dog.userInfo = ["key": "value"] } == [])
    #expect(changed { $0.dog.managedObjectClassName = "Dog" } == [])
    #expect(changed { $0.pets.deleteRule = .denyDeleteRule } == [])
    #expect(changed { $0.tricks.renamingIdentifier = "skills" } == [])
    #expect(changed { $0.dog.renamingIdentifier = "Hound" } == [])
    #expect(
      changed { $0.name.setValidationPredicates([NSPredicate(value: true)], withValidationWarnings: ["no"]) } == [])
    #expect(changed { $0.dog.uniquenessConstraints = [["name"]] } == [])
    #expect(
      changed { zoo in
        let element = NSFetchIndexElementDescription(property: zoo.tricks, collationType: .binary)
        zoo.dog.indexes = [NSFetchIndexDescription(name: "byTricks", elements: [element])]
      } == [])
    #expect(changed { $0.dog.properties = [$0.tricks, NSFetchedPropertyDescription()] } == [])
    #expect(changed { $0.model.entities.reverse() } == [])
    #expect(changed { $0.animal.properties = [$0.owner, $0.name] } == [])
  }

  @Test("Version hashes cover the elements of a composite.")
  func composites() {
    func address(_ names: String...) -> Data {
      let address = NSCompositeAttributeDescription()
      address.name = "address"
      address.elements = names.map { name in
        let element = NSAttributeDescription()
        element.name = name
        return element
      }
      return address.versionHash
    }
    #expect(address("city", "street") == address("street", "city"))
    #expect(address("city", "street") != address("city"))
  }

  @Test("SHA-256 gives the published hashes.", arguments: [0, 3, 56, 64, 1_000_000])
  func sha256(length: Int) {
    let vectors = [
      0: ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
      3: ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
      56: (
        "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
      ),
      64: (
        String(repeating: "a", count: 64), "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb"
      ),
      1_000_000: (
        String(repeating: "a", count: 1_000_000), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"
      ),
    ]
    var function = SHA256()
    function.update(vectors[length]!.0.utf8)
    let hash = function.finish().map { String(format: "%02x", $0) }.joined()
    #expect(hash == vectors[length]!.1)
  }
}
