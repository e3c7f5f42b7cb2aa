import CoreData
import RemoteHTTP
import Testing

struct ModelTests {
  @Test func theUserInfoOfAModelDescribesEntities() {
    let (bug, user, other) = (NSEntityDescription(), NSEntityDescription(), NSEntityDescription())
    (bug.name, user.name, other.name) = ("Bug", "User", "Other")
    bug.userInfo = [
      "remotePath": "/bugs", "remoteVersion": "v", "remoteExhaustive": "YES", "remoteIdentifiersParameter": "ids",
      "remoteList": "items",
    ]
    user.userInfo = ["remoteIdentifier": "login", "remoteNumericIdentifiers": "YES"]
    func attribute(_ name: String, _ type: NSAttributeType, _ info: [String: String]?) -> NSAttributeDescription {
      let attribute = NSAttributeDescription()
      (attribute.name, attribute.attributeType, attribute.userInfo) = (name, type, info)
      return attribute
    }
    let (reporter, bugs) = (NSRelationshipDescription(), NSRelationshipDescription())
    (reporter.name, reporter.destinationEntity, reporter.maxCount) = ("reporter", user, 1)
    reporter.userInfo = ["remoteKey": "user", "remoteSentKey": "user_id", "remoteFilter": "user"]
    (bugs.name, bugs.destinationEntity, bugs.maxCount) = ("bugs", bug, 0)
    bugs.userInfo = ["remotePath": "/users/{id}/bugs"]
    (reporter.inverseRelationship, bugs.inverseRelationship) = (bugs, reporter)
    bug.properties = [
      attribute("title", .stringAttributeType, ["remoteKey": "title", "remoteOrder": "title"]),
      attribute(
        "created", .dateAttributeType,
        [
          "remoteKey": "created_at", "remoteReadOnly": "YES", "remoteFilterOneOf": "days", "remoteFilterLess": "before",
          "remoteFilterLessOrEqual": "until", "remoteFilterGreater": "after", "remoteFilterGreaterOrEqual": "since",
          "remoteFilterNoValue": "created=", "remoteFilterAnyValue": "nothing",
        ]),
      attribute("price", .decimalAttributeType, ["remoteKey": "price"]),
      attribute("photo", .binaryDataAttributeType, ["remoteKey": "photo"]),
      attribute("note", .stringAttributeType, nil), reporter,
    ]
    user.properties = [bugs]
    let model = NSManagedObjectModel()
    model.entities = [bug, user, other]

    var expectedBug = HTTPEntity(
      "Bug", path: "/bugs",
      attributes: [
        "title": "title", "created": .date("created_at", isReadOnly: true),
        "price": HTTPAttribute("price", kind: .decimal), "photo": HTTPAttribute("photo", kind: .data),
      ], relationships: ["reporter": .toOne("User", key: "user", sentKey: "user_id")])
    (expectedBug.versionKey, expectedBug.listKey, expectedBug.identifiersParameter) = ("v", "items", "ids")
    expectedBug.hasExhaustiveLists = true
    (expectedBug.filters, expectedBug.orders) = (
      [
        "reporter": "user",
        "created": HTTPFilter(
          oneOf: "days", greater: "after", greaterOrEqual: "since", less: "before", lessOrEqual: "until",
          noValue: HTTPParameter("created", "")),
      ], ["title": "title"]
    )
    var expectedUser = HTTPEntity("User", relationships: ["bugs": .toMany("Bug", path: "/users/{id}/bugs")])
    (expectedUser.identifierKey, expectedUser.hasNumericIdentifiers) = ("login", true)
    #expect(Set(HTTPEntity.all(of: model)) == [expectedBug, expectedUser])
  }
}
