import OpenCoreData
import Testing

@Suite struct UnknownAttributeTests {
  @Test("An unknown attribute of a known element is a warning with its line and the name that was meant.")
  func meant() throws {
    let model = try Fixtures.read(
      "<model someday='YES'>",
      "<entity name='A' className='X' isAbstact='YES'>",
      "<attribute name='n' attributeType='String' isOptional='YES' default='x'/>",
      "<relationship name='b' maxCount='1' deleteRule='Cascade' destinationEntity='A' isOrdered='NO' colour='red'/>",
      "</entity>", "</model>")
    let reasons = model.fileWarnings.map { ($0.line ?? 0, $0.reason) }
    let expected = [
      (2, "className is not known in <entity>; representedClassName may be meant; it is passed over"),
      (2, "isAbstact is not known in <entity>; isAbstract may be meant; it is passed over"),
      (3, "default is not known in <attribute>; defaultValueString may be meant; it is passed over"),
      (3, "isOptional is not known in <attribute>; optional may be meant; it is passed over"),
      (4, "colour is not known in <relationship>; it is passed over"),
      (4, "deleteRule is not known in <relationship>; deletionRule may be meant; it is passed over"),
      (4, "isOrdered is not known in <relationship>; ordered may be meant; it is passed over"),
    ]
    #expect(reasons.map(\.0) == expected.map(\.0) && reasons.map(\.1) == expected.map(\.1))
  }

  @Test("A relationship without an inverse is a warning in a model made in code.")
  func withoutInverse() {
    let (one, other) = (entity("One", class: "NSManagedObject"), entity("Other", class: "NSManagedObject"))
    let (others, ones, alone) = (
      relationship("others", to: other), relationship("ones", to: one), relationship("alone", to: one)
    )
    connect(others, ones)
    one.properties = [others, alone]
    other.properties = [ones]
    let model = NSManagedObjectModel()
    model.entities = [one, other]
    #expect(model.warnings == ["warning: One.alone has no inverse relationship"])
    #expect(model.fileWarnings.isEmpty)
  }
}
