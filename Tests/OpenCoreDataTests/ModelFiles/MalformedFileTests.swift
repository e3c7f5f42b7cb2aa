import Foundation
import OpenCoreData
import Testing

@Suite("Malformed model files")
struct MalformedFileTests {
  /// A mistake: the lines of an entity `A`, the number of the faulty line, and words of the expected reason.
  struct Mistake: CustomTestStringConvertible {
    let line: Int
    let words: String
    let lines: [String]

    init(_ words: String, line: Int = 1, _ lines: String...) {
      (self.line, self.words, self.lines) = (line, words, lines)
    }

    var testDescription: String { words }
  }

  static let mistakes = [
    Mistake("attributeType is one of", #"<attribute name="a" attributeType="Strong"/>"#),
    Mistake("<attribute> has no name", #"<attribute attributeType="String"/>"#),
    Mistake("<relationship> has no name", #"<relationship name="" destinationEntity="A"/>"#),
    Mistake(
      "has a property \"a\" already", line: 2, #"<attribute name="a"/>"#,
      #"<relationship name="a" maxCount="1" destinationEntity="A"/>"#),
    Mistake("<attribute> has no composite", #"<attribute name="a" attributeType="Composite"/>"#),
    Mistake("no composite \"C\"", #"<attribute name="a" attributeType="Composite" composite="C"/>"#),
    Mistake("no entity \"B\"", #"<relationship name="a" maxCount="1" destinationEntity="B"/>"#),
    Mistake("<relationship> has no destinationEntity", #"<relationship name="a" maxCount="1"/>"#),
    Mistake(
      "predicateString cannot be understood at", line: 2, #"<fetchedProperty name="a">"#,
      #"<fetchRequest name="r" entity="A" predicateString="a = = 1"/>"#, "</fetchedProperty>"),
    Mistake("one <fetchRequest>", #"<fetchedProperty name="a"/>"#),
    Mistake(
      "no entity \"B\"", line: 2, #"<fetchedProperty name="a">"#, #"<fetchRequest name="r" entity="B"/>"#,
      "</fetchedProperty>"),
    Mistake(
      "A.d is derived from a.d, but A.a has no inverse relationship", line: 2,
      #"<relationship name="a" optional="YES" maxCount="1" destinationEntity="A"/>"#,
      #"<attribute name="d" attributeType="String" derived="YES" derivationExpression="canonical:(a.d)"/>"#),
    Mistake("would inherit from itself", line: 0, "<!-- the parent is A -->"),
  ]

  @Test("Malformed model files are refused with the line and the reason.", arguments: mistakes)
  func entity(mistake: Mistake) throws {
    let parent = mistake.line == 0 ? #" parentEntity="A""# : ""
    let text =
      ["<?xml version=\"1.0\"?>", "<model>", "<entity name=\"A\"\(parent)>"] + mistake.lines + [
        "</entity>", "</model>",
      ]
    let error = try #require(throws: ModelFileError.self) { try Fixtures.read(text.joined(separator: "\n")) }
    #expect(error.line == mistake.line + 3)
    #expect(error.reason.contains(mistake.words), "\(error)")
    #expect(error.description.hasSuffix("/contents:\(mistake.line + 3): \(error.reason)"))
  }

  @Test("Composites that are too large or too deep are refused before they are expanded.")
  func hugeComposites() throws {
    func model(depth: Int, width: Int) -> String {
      let composites = (1...depth).map { level in
        let type =
          level < depth ? #"attributeType="Composite" composite="C\#(level + 1)""# : #"attributeType="String""#
        let elements = (0..<width).map { #"<attribute name="a\#($0)" \#(type)/>"# }
        return #"<composite name="C\#(level)">\#(elements.joined())</composite>"#
      }
      let entity = #"<entity name="A"><attribute name="a" attributeType="Composite" composite="C1"/></entity>"#
      return "<model>\(entity)\(composites.joined())</model>"
    }
    func reason(depth: Int, width: Int) throws -> String {
      try #require(throws: ModelFileError.self) { try Fixtures.read(model(depth: depth, width: width)) }.reason
    }
    #expect(try reason(depth: 20, width: 2) == "the composite \"C12\" has more than 1000 elements, with those inside")
    #expect(try reason(depth: 10_000, width: 1) == "the composite \"C31\" is more than 30 levels deep")
    let read = try Fixtures.read(model(depth: 8, width: 2))
    let attribute = try #require(read.entities[0].propertiesByName["a"] as? NSCompositeAttributeDescription)
    #expect(attribute.elements.count == 2)
  }

  @Test("Errors in entities and composites are reported, too.")
  func model() throws {
    func reason(_ lines: String...) throws -> String {
      let text = (["<model>"] + lines + ["</model>"]).joined(separator: "\n")
      let error = try #require(throws: ModelFileError.self) { try Fixtures.read(text) }
      return "\(error.line ?? 0): \(error.reason)"
    }
    let entity = #"<entity name="A"/>"#
    #expect(try reason(entity, entity) == "3: the entity \"A\" is in line 2 already")
    #expect(try reason("<entity/>") == "2: <entity> has no name")
    #expect(try reason(#"<entity name="A" parentEntity="B"/>"#) == "2: there is no entity \"B\"")
    #expect(try reason(#"<entity name=""/>"#) == "2: <entity> has no name")
    #expect(
      try reason(
        #"<entity name="A"><attribute name="a" attributeType="Composite" composite="C"/></entity>"#,
        #"<composite name="C">"#, #"<attribute name="c" attributeType="Composite" composite="C"/>"#, "</composite>")
        == "4: the composite \"C\" contains itself")
  }

  @Test("A file that is not XML, or XML of another kind, is refused.")
  func notAModel() throws {
    func error(_ lines: String...) throws -> ModelFileError {
      try #require(throws: ModelFileError.self) { try Fixtures.read(lines.joined(separator: "\n")) }
    }
    let mismatch = try error("<model>", "<entity name=\"A\">", "</model>")
    #expect(mismatch.line == 3 && mismatch.reason.hasPrefix("this is no well-formed XML"))
    #expect(try error("").reason.hasPrefix("this is no well-formed XML"))
    #expect(try error("<plist/>").reason == "a model file begins with <model>, not <plist>")
    #expect(try error("bplist00").reason.hasPrefix("this is a compiled model"))
  }
}
