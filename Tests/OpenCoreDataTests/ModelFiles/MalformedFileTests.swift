import Foundation
import OpenCoreData
import Testing

@Suite("Malformed model files")
struct MalformedFileTests {
  /// One thing wrong: the lines of an entity `A`, the line of it at fault, and words of the reason.
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
    Mistake("optional is YES or NO, not \"MAYBE\"", #"<attribute name="a" optional="MAYBE"/>"#),
    Mistake(
      "has a property \"a\" already", line: 2, #"<attribute name="a"/>"#,
      #"<relationship name="a" maxCount="1" destinationEntity="A"/>"#),
    Mistake("<atribute> is not known in <entity>", #"<atribute name="a"/>"#),
    Mistake(
      "cannot be \"70000\"", #"<attribute name="a" attributeType="Integer 16" defaultValueString="70000"/>"#),
    Mistake("cannot be \"ten\"", #"<attribute name="a" attributeType="Double" defaultValueString="ten"/>"#),
    Mistake("cannot be \"x\"", #"<attribute name="a" attributeType="UUID" defaultValueString="x"/>"#),
    Mistake("cannot be \"now\"", #"<attribute name="a" attributeType="Date" minDateTimeInterval="now"/>"#),
    Mistake("cannot be \"1/2\"", #"<attribute name="a" attributeType="Decimal" maxValueString="1/2"/>"#),
    Mistake(
      "is no regular expression", #"<attribute name="a" attributeType="String" regularExpressionString="("/>"#),
    Mistake("<attribute> has no derivationExpression", #"<attribute name="a" derived="YES"/>"#),
    Mistake("no composite \"C\"", #"<attribute name="a" attributeType="Composite" composite="C"/>"#),
    Mistake("no entity \"B\"", #"<relationship name="a" maxCount="1" destinationEntity="B"/>"#),
    Mistake("<relationship> has no destinationEntity", #"<relationship name="a" maxCount="1"/>"#),
    Mistake(
      "no relationship \"b\"",
      #"<relationship name="a" maxCount="1" destinationEntity="A" inverseName="b" inverseEntity="A"/>"#),
    Mistake(
      "has another inverse or none", line: 2,
      #"<relationship name="a" maxCount="1" destinationEntity="A"/>"#,
      #"<relationship name="b" maxCount="1" destinationEntity="A" inverseName="a" inverseEntity="A"/>"#),
    Mistake(
      "deletionRule is one of", #"<relationship name="a" destinationEntity="A" deletionRule="Forget"/>"#),
    Mistake(
      "minCount is greater", #"<relationship name="a" toMany="YES" minCount="3" maxCount="2" destinationEntity="A"/>"#),
    Mistake("maxCount of more than 1", #"<relationship name="a" toMany="YES" maxCount="1" destinationEntity="A"/>"#),
    Mistake("minCount is a number", #"<relationship name="a" toMany="YES" minCount="-1" destinationEntity="A"/>"#),
    Mistake(
      "has no property \"b\"", line: 2, #"<fetchIndex name="i">"#,
      #"<fetchIndexElement property="b" type="Binary" order="ascending"/>"#, "</fetchIndex>"),
    Mistake(
      "order is one of", line: 2, #"<attribute name="a"/><fetchIndex name="i">"#,
      #"<fetchIndexElement property="a" type="Binary" order="up"/>"#, "</fetchIndex>"),
    Mistake(
      "has no property \"b\"", line: 2, "<uniquenessConstraints><uniquenessConstraint>",
      #"<constraint value="b"/></uniquenessConstraint></uniquenessConstraints>"#),
    Mistake(
      "\"k\" occurs twice", line: 2, #"<userInfo><entry key="k" value="1"/>"#,
      #"<entry key="k" value="2"/></userInfo>"#),
    Mistake(
      "predicateString cannot be understood at", line: 2, #"<fetchedProperty name="a">"#,
      #"<fetchRequest name="r" entity="A" predicateString="a = = 1"/>"#, "</fetchedProperty>"),
    Mistake(
      "derivationExpression cannot be understood at its end",
      #"<attribute name="a" derived="YES" derivationExpression="b +"/>"#),
    Mistake(
      "partialIndexPredicate cannot be understood", #"<fetchIndex name="i" partialIndexPredicate="a >"/>"#),
    Mistake("one <fetchRequest>", #"<fetchedProperty name="a"/>"#),
    Mistake("would inherit from itself", line: 0, "<!-- the parent is A -->"),
  ]

  @Test("are refused with the line and the reason", arguments: mistakes)
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

  @Test("what is wrong with entities, configurations and requests is told too")
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
    #expect(try reason("<thing/>") == "2: <thing> is not known in <model>")
    #expect(
      try reason(#"<configuration name="C">"#, #"<memberEntity name="A"/>"#, "</configuration>")
        == "3: there is no entity \"A\"")
    #expect(try reason(#"<fetchRequest name="R" entity="A"/>"#) == "2: there is no entity \"A\"")
    #expect(
      try reason(entity, #"<fetchRequest name="R" entity="A" fetchLimit="all"/>"#)
        == "3: fetchLimit is a number, not \"all\"")
    #expect(
      try reason(
        #"<entity name="A"><attribute name="a" attributeType="Composite" composite="C"/></entity>"#,
        #"<composite name="C">"#, #"<attribute name="c" attributeType="Composite" composite="C"/>"#, "</composite>")
        == "4: the composite \"C\" contains itself")
  }

  @Test("what is no XML, or XML of something else, is refused")
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
