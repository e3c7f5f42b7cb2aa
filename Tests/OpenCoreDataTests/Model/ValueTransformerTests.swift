import Foundation
import OpenCoreData
import Testing

@Suite("Value transformers")
struct ValueTransformerTests {
  private final class Reversed: ValueTransformer {
    override func transformedValue(_ value: Any?) -> Any? { (value as? String).map { String($0.reversed()) } }
  }

  @Test("A registered transformer is found by its name until it is removed.")
  func registry() throws {
    let name = NSValueTransformerName("Reversed")
    #expect(ValueTransformer(forName: name) == nil)
    let reversed = Reversed()
    ValueTransformer.setValueTransformer(reversed, forName: name)
    let found = try #require(ValueTransformer(forName: name))
    #expect(found === reversed)
    #expect(ValueTransformer.valueTransformerNames().contains(name))
    #expect(found.transformedValue("abc") as? String == "cba")
    #expect(found.reverseTransformedValue("cba") as? String == "abc")
    ValueTransformer.setValueTransformer(nil, forName: name)
    #expect(ValueTransformer(forName: name) == nil)
  }

  @Test("Foundation's transformers of booleans are registered.")
  func booleans() throws {
    func transformed(_ name: NSValueTransformerName, _ value: Any?) throws -> Bool? {
      try #require(ValueTransformer(forName: name)).transformedValue(value) as? Bool
    }
    #expect(try transformed(.negateBooleanTransformerName, true) == false)
    #expect(try transformed(.negateBooleanTransformerName, false) == true)
    #expect(try transformed(.negateBooleanTransformerName, nil) == true)
    #expect(try transformed(.isNilTransformerName, nil) == true)
    #expect(try transformed(.isNilTransformerName, 1) == false)
    #expect(try transformed(.isNotNilTransformerName, nil) == false)
    #expect(try transformed(.isNotNilTransformerName, 1) == true)
    let negating = try #require(ValueTransformer(forName: .negateBooleanTransformerName))
    #expect(negating.reverseTransformedValue(false) as? Bool == true)
  }

  @Test("Secure archiving transforms collections into data and back.")
  func secure() throws {
    let transformer = try #require(ValueTransformer(forName: .secureUnarchiveFromDataTransformerName))
    let value = NSArray(array: ["a", 1, NSDictionary(dictionary: ["key": NSNull()])])
    let data = try #require(transformer.reverseTransformedValue(value) as? Data)
    #expect(transformer.transformedValue(data) as? NSArray == value)
    #expect(transformer.transformedValue(nil) == nil)
    #expect(transformer.transformedValue(Data([1, 2, 3])) == nil)
  }

  @Test("Secure archiving returns nil for an archive with a damaged class description.", arguments: 0..<5)
  func damaged(_ part: Int) throws {
    let data = try NSKeyedArchiver.archivedData(withRootObject: NSSet(object: "a"), requiringSecureCoding: true)
    let format = PropertyListSerialization.PropertyListFormat.binary
    var archive = try #require(
      unsafe PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any])
    var objects = try #require(archive["$objects"] as? [Any])
    let place = try #require(objects.firstIndex { ($0 as? [String: Any])?["$classname"] as? String == "NSSet" })
    objects[place] =
      switch part {
      case 0: ["$classname": "NSPersonNameComponents", "$classes": ["NSSet", "NSObject"]]
      case 1: ["$classname": "NSPersonNameComponents", "$classes": "NSSet"]
      case 2: ["$classname": 1, "$classes": ["NSSet", "NSObject"]]
      case 3: ["$classes": ["NSSet", "NSObject"]]
      default: ["$classname": "none"]
      } as [String: Any]
    archive["$objects"] = objects
    let damaged = try PropertyListSerialization.data(fromPropertyList: archive, format: format, options: 0)
    #expect(NSSecureUnarchiveFromDataTransformer().transformedValue(damaged) == nil)
  }

  @Test("Secure archiving returns nil for a class that is not allowed.")
  func disallowed() throws {
    let data = try NSKeyedArchiver.archivedData(
      withRootObject: NSPersonNameComponents(), requiringSecureCoding: false)
    #expect(NSSecureUnarchiveFromDataTransformer().transformedValue(data) == nil)
  }
}
